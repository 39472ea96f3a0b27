package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the registry is told is what this program is: its name that of the module, its version that of the changelog's
// last release, 0.0.0 before the first. It names no package and no remote server, for there are none yet.
func TestServerJSON(t *testing.T) {
	data, err := os.ReadFile("../../server.json")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Schema      string `json:"$schema"`
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Repository  struct {
			URL    string `json:"url"`
			Source string `json:"source"`
		} `json:"repository"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	owner := modulePath(t)
	if s.Name != "io.github."+owner+"/lastword" || s.Repository.URL != "https://github.com/"+owner+"/lastword" ||
		s.Repository.Source != "github" || !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(s.Name) {
		t.Errorf("the server is %s of %+v, the module that of %s", s.Name, s.Repository, owner)
	}
	if n := len(s.Description); n == 0 || n > 100 || s.Title == "" {
		t.Errorf("%q has %d characters, of 100", s.Description, n)
	}
	const schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
	if want := released(t); s.Version != want || s.Schema != schema {
		t.Errorf("version %s of %s, want %s of %s", s.Version, s.Schema, want, schema)
	}
}

// modulePath is whose module this is.
func modulePath(t *testing.T) (owner string) {
	t.Helper()
	data, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(first, "module github.com/"), "/lastword")
}

func released(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^## \[v?(\d+\.\d+\.\d+[^]]*)\]`).FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return "0.0.0"
}
