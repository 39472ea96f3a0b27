package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cloned makes a folder that is a clone of the remote, and returns its path.
func cloned(t *testing.T, remote string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	for name, text := range map[string]string{
		"README.md": "# Garden\n\nGrows things.\n",
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/heads/x": "",
		".git/config": "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = " + remote + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// What a clone on this machine came to is found by its folder, also by a server that never ran for it.
func TestMCPFindsFilesByTheFolderOfAClone(t *testing.T) {
	dir, out := cloned(t, "https://example.com/plants/garden.git"), t.TempDir()
	s := speak(t, dir, "--out", out, "--tools", "lmstxt")
	if a := s.call("lmstxt_generate_llms_txt_stream", `{"url":"."}`); a.IsError {
		t.Fatalf("%+v", a)
	}
	s.ends()
	if _, err := os.Stat(filepath.Join(out, "plants", "garden", "garden-llms.txt")); err != nil {
		t.Fatal(err)
	}
	s = speak(t, dir, "--out", out, "--tools", "lmstxt")
	for _, name := range []string{".", dir, dir + "/", "https://example.com/plants/garden", "git@example.com:plants/garden.git",
		"https://example.com/plants/garden@v1", "https://example.com/plants/garden/-/blob/main/README.md"} {
		a := s.call("lmstxt_read_artifact", `{"artifact_name":"llms.txt","repo_url":"`+name+`"}`)
		if a.IsError || !strings.Contains(a.Content[0].Text, "# Garden") {
			t.Errorf("%s: %+v", name, a.Content)
		}
	}
	s.ends()
}

// A run is found by the very words that it was started with, whatever its input makes of them.
func TestMCPFindsRunsByTheNamesTheyWereGiven(t *testing.T) {
	dir := cloned(t, "https://example.com/plants/garden.git")
	s := speak(t, filepath.Dir(dir), "--tools", "lmstxt")
	for _, name := range []string{"mine", "./mine/../mine", "https://git.invalid/plants/garden/-/blob/main/README.md",
		"git.invalid/plants/garden", "https://git.invalid/plants/garden/-/tree/main/docs?plain=1", "https://GIT.invalid:443/plants/garden.git"} {
		a := s.call("lmstxt_generate_llms_txt_stream", `{"url":"`+name+`"}`)
		id := string(a.Structured.RunID)
		if id == "" {
			t.Fatalf("%s: %+v", name, a)
		}
		a = s.call("lmstxt_read_artifact", `{"artifact_name":"run.events.jsonl","repo_url":"`+name+`"}`)
		if a.IsError || !strings.Contains(a.Content[0].Text, id) {
			t.Errorf("%s: %+v", name, a.Content)
		}
		if a = s.call("lmstxt_generate_llms_full_stream", `{"repo_url":"`+name+`","run_id":"`+id+`"}`); a.Structured.RunID == "" {
			t.Errorf("%s: %+v", name, a.Content)
		}
	}
	s.ends()
}
