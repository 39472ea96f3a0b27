package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What the registry and the bundles' hosts are told is what this program is: the module's name, and the version
// of the changelog's last release, 0.0.0 before the first. So are the docs that say how to install it. The digests fit no file until a release writes them.
func TestPackages(t *testing.T) {
	const schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
	var s struct {
		Schema                            string `json:"$schema"`
		Name, Title, Description, Version string
		Repository                        struct{ URL, Source string }
		Packages                          []struct{ Identifier, FileSha256 string }
	}
	whole := readJSON(t, "package/server.json", &s)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource(schema, readJSON(t, "testdata/server.schema.json", &struct{}{})))
	if err := c.MustCompile(schema).Validate(whole); err != nil || s.Schema != schema {
		t.Errorf("server.json names the schema %s: %v", s.Schema, err)
	}
	owner, version := modulePath(t), released(t)
	at := "https://github.com/" + owner + "/lastword"
	if s.Name != "io.github."+owner+"/lastword" || s.Repository.URL != at || s.Repository.Source != "github" || s.Title == "" || s.Version != version {
		t.Errorf("the server is %s %s of %+v, the module's owner %s, the release %s", s.Name, s.Version, s.Repository, owner, version)
	}
	bundle := regexp.MustCompile(fmt.Sprintf(`^%s/releases/download/v%s/lastword-(linux|darwin|windows)-(amd64|arm64)\.mcpb$`,
		regexp.QuoteMeta(at), regexp.QuoteMeta(version)))
	for _, p := range s.Packages {
		if !bundle.MatchString(p.Identifier) || strings.Trim(p.FileSha256, "0") != "" {
			t.Errorf("a package is %+v", p)
		}
	}
	var m struct{ Name, Version, Description string }
	readJSON(t, "package/manifest.json", &m)
	if m.Name != "lastword" || m.Version != version || m.Description != s.Description {
		t.Errorf("the bundle's manifest is of %+v", m)
	}
	for _, name := range []string{"install.md", "operations.md", "operations/compose.yaml", "operations/kubernetes.yaml"} {
		data, err := os.ReadFile("../../docs/" + name)
		other := regexp.MustCompile(`lastword[:_-]\d+\.\d+\.\d+`).FindString(strings.ReplaceAll(string(data), version, ""))
		if err != nil || other != "" {
			t.Errorf("docs/%s names %s, and not the release %s: %v", name, other, version, err)
		}
	}
}

// readJSON decodes the file, and returns it whole.
func readJSON(t *testing.T, name string, into any) any {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	must(t, err)
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	must(t, err)
	return whole
}

// modulePath is whose module this is.
func modulePath(t *testing.T) (owner string) {
	t.Helper()
	data, err := os.ReadFile("../../go.mod")
	must(t, err)
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(first, "module github.com/"), "/lastword")
}

func released(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../CHANGELOG.md")
	must(t, err)
	if m := regexp.MustCompile(`(?m)^## \[v?(\d+\.\d+\.\d+[^]]*)\]`).FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return "0.0.0"
}
