package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

func runInto(who, out string) messages.State {
	input, _ := json.Marshal(map[string]string{"out": out})
	return messages.State{RunID: "r_x", Queued: &messages.RunQueued{Job: "generate", Input: input, Principal: who}}
}

func TestArtifactsAreWhatTheRunWrote(t *testing.T) {
	dir := t.TempDir()
	h := &Options{program: new(Program), Out: filepath.Join(dir, "root")}
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
		f, err := h.artifact(t.Context(), runInto(c.who, c.out), c.a)
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
	away := messages.Errorf(messages.Code(messages.CauseJournalUnavailable), "the store is away")
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
		h := &Options{program: new(Program), Out: t.TempDir()}
		h.kept = &store.Store{Load: func(_ context.Context, name string, w io.Writer) error {
			_, err := io.WriteString(w, c.saved)
			if name != "r_x/llms.txt" {
				t.Errorf("asked for %s", name)
			}
			return errors.Join(c.err, err)
		}}
		f, err := h.artifact(t.Context(), runInto("mia", ""), a)
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
	h := &Options{program: new(Program), Out: t.TempDir()}
	write(t, filepath.Join(h.Out, "llms.txt"), "hello")
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the caller left")
	cancel(left)
	a := messages.Artifact{Path: "llms.txt", Bytes: 5, SHA256: messages.Digest("hello")}
	if _, err := h.artifact(ctx, runInto("", ""), a); !errors.Is(err, left) {
		t.Errorf("%v, want the caller's own reason", err)
	}
}

// Principals that differ have folders that differ, also where a file system takes capitals for small letters.
func TestFoldersOfPrincipals(t *testing.T) {
	seen := map[string]string{}
	for _, who := range []string{"mia", "Mia", "MIA", "mia.", "..", ".", "mia@example.com", "mia_example.com", "a+b",
		"-x"} {
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
	h := &Options{program: new(Program), Out: t.TempDir()}
	if _, err := h.callersFiles(auth.With(t.Context(), auth.Principal{Name: "mia"})); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before anything is written: %v", err)
	}
	write(t, filepath.Join(h.Out, "mia", "a"), "")
	for who, want := range map[string]string{"": "mia/a", "mia": "a"} {
		files, err := h.callersFiles(auth.With(t.Context(), auth.Principal{Name: who}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Stat(files, want); err != nil {
			t.Errorf("%q has no file %q: %v", who, want, err)
		}
		files.Close()
	}
}

// prepared is the input that a call's arguments become.
func prepared(t *testing.T, h *Options, who, arguments string) (generateInput, error) {
	t.Helper()
	ctx := auth.With(t.Context(), auth.Principal{Name: who})
	data, err := h.prepareGenerate(ctx, json.RawMessage(arguments))
	if err != nil {
		return generateInput{}, err
	}
	var in generateInput
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	return in, nil
}

func TestArgumentsBecomeInput(t *testing.T) {
	h := &Options{program: new(Program), Out: t.TempDir(), model: "scripted"}
	h.Read.Limits.MaxFiles = 7
	h.Read.SetLimits(&h.limits)
	in, err := prepared(t, h, "mia", `{"repository":"https://example.com/a.zip?sig=x","out":"b","full":"all","ctx":true,`+
		`"format":1,"link_style":"raw","link_base":"https://x.example","size_budget":4096,"no_cache":true,"model":"auto",`+
		`"ref":"commit","token_budget":9000,"budget_fail":true,"count_tokens":true,"secrets":"fail","fresh":true}`)
	want := generateInput{NoCache: true, Home: "mia", Input: h.limits}
	want.Repository, want.Out, want.Full = "https://example.com/a.zip?sig=x", "b", "all"
	want.Ctx, want.Format = true, 1
	want.LinkStyle, want.BaseURL, want.SizeBudget, want.Model = "raw", "https://x.example", 4096, "scripted"
	want.Ref, want.TokenBudget, want.BudgetFail, want.CountTokens = "commit", 9000, true, true
	want.Secrets, want.Fresh = "fail", true
	if err != nil || in != want || in.MaxFiles != 7 {
		t.Errorf("%+v, %v\nwant %+v", in, err, want)
	}
	if in, err = prepared(t, h, "", `{"repository":"https://example.com/a.git","model":"mine"}`); err != nil ||
		in.Model != "mine" || in.Home != "" {
		t.Errorf("%+v, %v", in, err)
	}
	if in, err = prepared(t, h, "", `{"repository":"https://example.com/a.git"}`); err != nil || in.Model != "" {
		t.Errorf("a server's model writes unasked: %+v, %v", in, err)
	}
}

// Where nothing of this machine may be read nothing of it can be named, and a path is no oracle of what is there.
func TestRemoteRepositoriesOnly(t *testing.T) {
	dir := testkit.Repository(t, []byte("-- garden/README.md --\n# Garden\n\nGrows things.\n"))
	t.Chdir(dir)
	h := &Options{program: new(Program), Out: t.TempDir()}
	h.Read.RemoteOnly = true
	for text, want := range map[string]string{
		"garden/README.md":          "https://github.com/garden/README.md",
		"spf13/cobra@v1.9.0":        "https://github.com/spf13/cobra/tree/v1.9.0",
		"https://example.com/a.git": "https://example.com/a.git",
		"gitlab:group/project":      "https://gitlab.com/group/project",
	} {
		in, err := prepared(t, h, "", `{"repository":"`+text+`"}`)
		if err != nil || in.Repository != want {
			t.Errorf("%s is %q, %v, want %q", text, in.Repository, err, want)
		}
	}
	for _, text := range []string{"garden", "./garden", "/etc", "~/x", "missing", ".", "garden.zip", "/missing"} {
		if _, err := prepared(t, h, "", `{"repository":"`+text+`"}`); err == nil || err.Error() != repository.ErrLocal().Error() {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The folder that a run writes to is in its events as its caller called it.
func TestEventsNameTheCallersFolder(t *testing.T) {
	dir := testkit.Repository(t, []byte("-- garden/README.md --\n# Garden\n\nGrows things.\n"))
	h := &Options{program: new(Program), Out: filepath.Join(dir, "root")}
	for _, home := range []string{"", "mia"} {
		for _, out := range []string{"", "docs"} {
			input, err := json.Marshal(generateInput{Home: home, Input: generate.Input{Repository: filepath.Join(dir, "garden"), Out: out}})
			if err != nil {
				t.Fatal(err)
			}
			job, err := h.generate(input)
			if err != nil {
				t.Fatal(err)
			}
			if told := job.Input.(generateInput); told.Out != out || told.Home != home {
				t.Errorf("%q of %q is told as %q of %q", out, home, told.Out, told.Home)
			}
			again, err := json.Marshal(job.Input)
			if err != nil {
				t.Fatal(err)
			}
			if elsewhere, err := h.generate(again); err != nil || !reflect.DeepEqual(elsewhere.Input, job.Input) {
				t.Errorf("another node makes a run of %+v (%v), this one of %+v", elsewhere.Input, err, job.Input)
			}
		}
	}
	for _, out := range []string{"..", "../bob", "/tmp"} {
		if _, err := h.place("mia", out); messages.CodeOf(err) != messages.Code(messages.CauseInvalidInput) {
			t.Errorf("%s: %v", out, err)
		}
	}
}

func TestPartsOfRepositories(t *testing.T) {
	dir := testkit.Repository(t, []byte("-- garden/README.md --\n# Garden\n\nGrows things.\n"))
	t.Chdir(dir)
	write(t, filepath.Join("garden", "docs", "a", "README.md"), "# A\n")
	h := &Options{program: new(Program), Out: t.TempDir()}
	for text, want := range map[string]string{
		"garden":                    filepath.Join("garden", "docs", "a"),
		"https://example.com/x.git": "https://example.com/x.git/-/tree/HEAD/docs/a",
		"spf13/cobra@v1.9.0":        "https://github.com/spf13/cobra/tree/v1.9.0/docs/a",
		"https://github.com/o/r/tree/main/folder": "https://github.com/o/r/tree/main/folder/docs/a",
	} {
		got, err := h.repository(text, "docs/a")
		if err != nil || got != want {
			t.Errorf("docs/a of %s is %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := h.repository("garden", "missing"); err == nil || !strings.Contains(err.Error(), `no folder "missing"`) {
		t.Errorf("a part that is not there: %v", err)
	}
	if _, err := h.repository("https://example.com/x.zip", "docs"); messages.CodeOf(err) == "" {
		t.Errorf("a part of an archive: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}
