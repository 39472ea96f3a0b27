package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

func runInto(who, out string) messages.State {
	input, _ := json.Marshal(map[string]string{"out": out})
	return messages.State{RunID: "r_x", Queued: &messages.RunQueued{Job: "generate", Input: input, Principal: who}}
}

func TestArtifactsAreWhatTheRunWrote(t *testing.T) {
	dir := t.TempDir()
	files := &outputs{quota: quota{out: filepath.Join(dir, "root")}}
	write(t, filepath.Join(dir, "root", "mia", "docs", "a", "llms.txt"), "hello")
	write(t, filepath.Join(dir, "secret"), "hello")
	good := messages.Artifact{Name: "llms.txt", Path: "a/llms.txt", Bytes: 5, SHA256: messages.Digest("hello")}
	wrong := good
	wrong.SHA256 = messages.Digest("hullo")
	longer := good
	longer.Bytes = 6
	folder := good
	folder.Path = "a"
	outside := good
	outside.Path = "../../../secret"
	for name, c := range map[string]struct {
		who, out string
		a        messages.Artifact
		text     string
	}{
		"as written":                 {"mia", "docs", good, "hello"},
		"by nobody":                  {"", "mia/docs", good, "hello"},
		"other content":              {"mia", "docs", wrong, ""},
		"other size":                 {"mia", "docs", longer, ""},
		"a folder":                   {"mia", "docs", folder, ""},
		"gone":                       {"mia", "", good, ""},
		"outside":                    {"mia", "docs", outside, ""},
		"another's":                  {"bob", "docs", good, ""},
		"another's, by a way around": {"bob", "../mia/docs", good, ""},
	} {
		f, err := files.artifact(t.Context(), runInto(c.who, c.out), c.a)
		if c.text == "" {
			if messages.CodeOf(err) != messages.CodeNotFound || !strings.Contains(err.Error(), "start the run again") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || string(text) != c.text {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// A file that only another node has is read from what that node saved, if it is what the run wrote. No copy stays.
func TestArtifactsOfAnotherNode(t *testing.T) {
	copies := t.TempDir()
	t.Setenv("TMPDIR", copies)
	a := messages.Artifact{Name: "llms.txt", Path: "llms.txt", Bytes: 5, SHA256: messages.Digest("hello")}
	away := messages.Errorf(messages.CauseJournalUnavailable, "the store is away")
	for name, c := range map[string]struct {
		saved string
		err   error
		want  messages.Code
	}{
		"as written":    {"hello", nil, ""},
		"other content": {"hullo", nil, messages.CodeNotFound},
		"not saved":     {"", messages.Errorf(messages.CodeNotFound, "none"), messages.CodeNotFound},
		"no store":      {"hel", away, away.Code},
	} {
		files := &outputs{quota: quota{out: t.TempDir()}}
		files.store = &store.Store{Load: func(_ context.Context, name string, w io.Writer) error {
			_, err := io.WriteString(w, c.saved)
			if name != "r_x/llms.txt" {
				t.Errorf("asked for %s", name)
			}
			return errors.Join(c.err, err)
		}}
		f, err := files.artifact(t.Context(), runInto("mia", ""), a)
		if messages.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			text, err := io.ReadAll(f)
			if err = errors.Join(err, f.Close()); err != nil || string(text) != c.saved {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if left, err := os.ReadDir(copies); err != nil || len(left) > 0 {
			t.Errorf("%s: the copies %v stay (%v)", name, left, err)
		}
	}
}

func TestArtifactsOfACallerWhoLeft(t *testing.T) {
	files := &outputs{quota: quota{out: t.TempDir()}}
	write(t, filepath.Join(files.out, "llms.txt"), "hello")
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the caller left")
	cancel(left)
	a := messages.Artifact{Path: "llms.txt", Bytes: 5, SHA256: messages.Digest("hello")}
	if _, err := files.artifact(ctx, runInto("", ""), a); !errors.Is(err, left) {
		t.Errorf("%v, want the caller's own reason", err)
	}
}

// Principals that differ have folders that differ, also where a file system takes capitals for small letters.
func TestFoldersOfPrincipals(t *testing.T) {
	seen := map[string]string{}
	for _, who := range []string{"mia", "Mia", "MIA", "mia.", "..", ".", "mia@example.com", "mia_example.com", "a+b", "-x"} {
		folder := homeOf(who)
		if !filepath.IsLocal(folder) || filepath.Base(folder) != folder || strings.HasPrefix(folder, ".") ||
			strings.HasSuffix(folder, ".") || folder != strings.ToLower(folder) {
			t.Errorf("%q has the folder %q", who, folder)
		}
		if other := seen[folder]; other != "" {
			t.Errorf("%q and %q share the folder %q", who, other, folder)
		}
		seen[folder] = who
	}
	if homeOf("mia") != "mia" {
		t.Errorf("mia has the folder %q", homeOf("mia"))
	}
	files := &outputs{quota: quota{out: t.TempDir()}}
	if _, err := files.callersFiles(auth.With(t.Context(), auth.Principal{Name: "mia"})); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before anything is written: %v", err)
	}
	write(t, filepath.Join(files.out, "mia", "a"), "")
	for who, want := range map[string]string{"": "mia/a", "mia": "a"} {
		own, err := files.callersFiles(auth.With(t.Context(), auth.Principal{Name: who}))
		must(t, err)
		if _, err := fs.Stat(own, want); err != nil {
			t.Errorf("%q has no file %q: %v", who, want, err)
		}
		own.Close()
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	must(t, err)
}

// Each caller has conversations of its own, in memory and in a folder.
func TestConversationsOfCallers(t *testing.T) {
	dir := t.TempDir()
	for form, state := range map[string]string{"memory": "", "folder": dir} {
		var talks conversations
		for _, who := range []string{"", "mia", "Mia"} {
			store, err := talks.of(state, homeOf(who))
			must(t, err)
			_, err = store.Begin("c_1", conversation.Beginning{Owner: "r_1", Message: who})
			must(t, err)
			if list, err := store.List(); err != nil || len(list) != 1 || list[0].Turns != 1 {
				t.Errorf("%s: %q has %+v: %v", form, who, list, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ConversationFolder, "mia", "c_1.jsonl")); err != nil {
		t.Error(err)
	}
}
