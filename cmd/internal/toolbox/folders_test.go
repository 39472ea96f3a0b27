package toolbox_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/messages/redact"
)

func ofFolders(t *testing.T, args ...string) (*tool.Set, error) {
	t.Helper()
	var f toolbox.Flags
	cmd := &cobra.Command{}
	f.AddFlags(cmd, cmd.Flags())
	must(t, cmd.Flags().Parse(args))
	box, err := f.Open(environment.Variables{}, new(redact.Secrets), "1")
	if err != nil {
		return nil, err
	}
	t.Cleanup(box.Close)
	set, _, err := box.Set(t.Context())
	return set, err
}

// What a repository holds leads no tool to .git or out of it, and what it holds is not the model's own to write.
func TestHostileRepository(t *testing.T) {
	repository, outside := t.TempDir(), t.TempDir()
	t.Chdir(repository)
	err := errors.Join(os.Mkdir(".git", 0o755), os.WriteFile(".git/config", []byte("hidden"), 0o644),
		os.Symlink(".git", "meta"), os.Symlink(outside, "guide"), os.WriteFile(".env", []byte("hidden"), 0o644),
		os.WriteFile("a.md", []byte("text"), 0o644))
	if err != nil {
		t.Skip(err)
	}
	if set, err := ofFolders(t, "--out", "guide"); err == nil {
		t.Errorf("a link is opened: %v", names(set))
	}
	set, err := ofFolders(t, "--repository", ".", "--out", ".")
	must(t, err)
	for _, c := range [][2]string{{"read_file", `{"path":"meta/config"}`}, {"read_artifact", `{"path":"meta/config"}`},
		{"list_files", `{"path":"meta"}`}, {"read_artifact", `{"path":".env"}`}, {"search_files", `{"pattern":"hidden","path":"meta"}`},
		{"write_artifact", `{"name":"meta/config","text":"x"}`}, {"append_artifact", `{"name":"meta/config","text":"x"}`},
		{"write_artifact", `{"name":"guide/x","text":"x"}`}, {"append_artifact", `{"name":"guide/x","text":"x"}`}} {
		if got := set.Call(t.Context(), c[0], tool.Call{Arguments: json.RawMessage(c[1])}); got.Error == nil {
			t.Errorf("%v: %s", c, got.Text)
		}
	}
	if got, err := os.ReadFile(".git/config"); string(got) != "hidden" {
		t.Errorf(".git/config holds %q, %v", got, err)
	}
	for name, want := range map[string]tool.Access{"write_artifact": tool.Write, "append_artifact": tool.Write,
		"read_artifact": tool.Read} {
		if got := set.Tool(name); got.Access != want || got.Outside != (want == tool.Read) {
			t.Errorf("%s has the access %v, outside %v", name, got.Access, got.Outside)
		}
	}
	for _, out := range []string{"new", filepath.Join(outside, "new")} {
		set, err := ofFolders(t, "--repository", ".", "--out", out)
		must(t, err)
		if got := set.Tool("write_artifact").Access; got != tool.Read {
			t.Errorf("into an empty folder write_artifact has the access %v", got)
		}
		if got := set.Tool("read_artifact").Outside; got != (out == "new") {
			t.Errorf("read_artifact below %s: outside %v", out, got)
		}
	}
}
