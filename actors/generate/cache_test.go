package generate_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// remote is a repository whose commit is known before it is read, and counts how often it is.
type remote struct {
	commit string
	files  fstest.MapFS
	reads  atomic.Int64
}

func newRemote() *remote {
	return &remote{commit: strings.Repeat("a1", 20), files: fstest.MapFS{
		"README.md": {Data: []byte("# Garden\n\nGrows things in rows and beds.\n")},
		"guide.md":  {Data: []byte("# Guide\n\nHow to grow things in a small garden.\n")},
	}}
}

func (r *remote) config(cache, version string) generate.Config {
	return generate.Config{Cache: cache, Version: version, Open: func(_ context.Context, at source.Address) (*source.Repository, error) {
		return &source.Repository{
			Name: "garden", Remote: at.URL, Commit: r.commit, Key: at.URL + " " + r.commit,
			Read: func(context.Context, func(done, total int64)) (fs.FS, error) {
				r.reads.Add(1)
				return r.files, nil
			},
		}, nil
	}}
}

// generate runs the job on the repository and gives what it came to, and the files.
func (r *remote) generate(t *testing.T, in generate.Input, config generate.Config) (generate.Result, map[string]string) {
	t.Helper()
	in.Repository, in.Out = "https://example.com/plants/garden", t.TempDir()
	job, err := generate.Job(in, config)
	must(t, err)
	state := completed(t, job)
	var result generate.Result
	must(t, json.Unmarshal(state.End.Result, &result))
	return result, tree(t, in.Out)
}

// Issue: "Results cached by commit, options and tool version."
func TestResultsAreCached(t *testing.T) {
	r, cache := newRemote(), filepath.Join(t.TempDir(), "made", "on", "demand")
	first, files := r.generate(t, generate.Input{Options: llmstxt.Options{Ctx: true}}, r.config(cache, "1"))
	again, same := r.generate(t, generate.Input{Options: llmstxt.Options{Ctx: true}}, r.config(cache, "1"))
	if r.reads.Load() != 1 || first.Cached || !again.Cached {
		t.Errorf("read %d times; cached %v and %v", r.reads.Load(), first.Cached, again.Cached)
	}
	again.Cached = false
	if again != first {
		t.Errorf("the cached result is %+v, not %+v", again, first)
	}
	for name, text := range files {
		if same[name] != text {
			t.Errorf("%s is other than it was", name)
		}
	}
	for what, change := range map[string]func() (generate.Input, generate.Config){
		"options": func() (generate.Input, generate.Config) {
			return generate.Input{Options: llmstxt.Options{Ctx: true, LinkStyle: "raw"}}, r.config(cache, "1")
		},
		"version": func() (generate.Input, generate.Config) {
			return generate.Input{Options: llmstxt.Options{Ctx: true}}, r.config(cache, "2")
		},
		"commit": func() (generate.Input, generate.Config) {
			r.commit = strings.Repeat("b2", 20)
			return generate.Input{Options: llmstxt.Options{Ctx: true}}, r.config(cache, "1")
		},
		"no cache": func() (generate.Input, generate.Config) {
			return generate.Input{Options: llmstxt.Options{Ctx: true}}, r.config("", "1")
		},
	} {
		before := r.reads.Load()
		in, config := change()
		if result, _ := r.generate(t, in, config); result.Cached || r.reads.Load() != before+1 {
			t.Errorf("with another %s the cached result is taken", what)
		}
	}
}

// A cache is never believed: what was tampered with, cut or removed is made anew.
func TestSpoiltCacheIsAMiss(t *testing.T) {
	for what, spoil := range map[string]func(entry string) error{
		"a file changed": func(e string) error { return os.WriteFile(filepath.Join(e, "llms.txt"), []byte("# Evil\n"), 0o600) },
		"a file gone":    func(e string) error { return os.Remove(filepath.Join(e, "llms.json")) },
		"no index":       func(e string) error { return os.Remove(filepath.Join(e, "result.json")) },
		"index cut":      func(e string) error { return os.Truncate(filepath.Join(e, "result.json"), 10) },
		"index empty":    func(e string) error { return os.WriteFile(filepath.Join(e, "result.json"), []byte("{}"), 0o600) },
		"no format":      func(e string) error { return forge(e, "llms.txt", "llms.txt", "# Evil\x1b[31m\n") },
		"a name":         func(e string) error { return forge(e, "llms.txt", "../evil", "# Evil\n") },
		"a link out":     func(e string) error { return errors.Join(os.RemoveAll(e), os.Symlink(t.TempDir(), e)) },
	} {
		r, cache := newRemote(), t.TempDir()
		_, want := r.generate(t, generate.Input{}, r.config(cache, "1"))
		entries, err := os.ReadDir(cache)
		if err != nil || len(entries) != 1 {
			t.Fatalf("the cache holds %v, %v", entries, err)
		}
		must(t, spoil(filepath.Join(cache, entries[0].Name())))
		result, files := r.generate(t, generate.Input{}, r.config(cache, "1"))
		if result.Cached || r.reads.Load() != 2 {
			t.Errorf("%s: taken from the cache all the same", what)
		}
		for name, text := range want {
			if files[name] != text {
				t.Errorf("%s: %s differs", what, name)
			}
		}
	}
}

// forge replaces an artifact of the entry by one whose digest is right.
func forge(entry, artifact, name, text string) error {
	index := filepath.Join(entry, "result.json")
	data, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	var of struct {
		Result json.RawMessage     `json:"result"`
		Files  []map[string]string `json:"files"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	for _, f := range of.Files {
		if f["name"] == artifact {
			f["name"], f["sha256"] = name, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		}
	}
	if data, err = json.Marshal(of); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(entry, artifact), []byte(text), 0o600), os.WriteFile(index, data, 0o600))
}

func TestCacheKeepsTheLatest(t *testing.T) {
	r, cache := newRemote(), t.TempDir()
	for i := range 70 {
		r.commit = strings.Repeat("0", 38) + string(rune('a'+i/16%6)) + string("0123456789abcdef"[i%16])
		r.generate(t, generate.Input{Options: llmstxt.Options{Full: llmstxt.FullNone}}, r.config(cache, "1"))
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 64 {
		t.Errorf("the cache holds %d results (%v), want 64", len(entries), err)
	}
}

// Issue: "Token counts ... cached by content": whatever the cache says, the counts are right.
func TestTokenCountsAreCached(t *testing.T) {
	r, cache := newRemote(), t.TempDir()
	in := generate.Input{Options: llmstxt.Options{CountTokens: true, Ctx: true}}
	first, want := r.generate(t, in, r.config(cache, "1"))
	name := filepath.Join(cache, "tokens-o200k-1")
	kept, err := os.ReadFile(name)
	if err != nil || len(kept) == 0 || len(kept)%16 != 0 || first.Tokens == 0 {
		t.Fatalf("%d tokens, %d bytes kept, %v", first.Tokens, len(kept), err)
	}
	for version, spoilt := range map[string][]byte{"2": kept, "3": nil, "4": kept[:len(kept)-1], "5": []byte("not counts")} {
		must(t, os.WriteFile(name, spoilt, 0o600))
		again, files := r.generate(t, in, r.config(cache, version))
		if again.Cached || again.Tokens != first.Tokens {
			t.Errorf("with %d bytes kept: cached %v, %d tokens, not %d", len(spoilt), again.Cached, again.Tokens, first.Tokens)
		}
		for name, text := range want {
			if !strings.HasSuffix(name, "llms.json") && files[name] != text {
				t.Errorf("%s differs", name)
			}
		}
	}
}

func TestFullAllPacksEveryTextFile(t *testing.T) {
	r := newRemote()
	r.files["src/deep/x.c"] = &fstest.MapFile{Data: []byte("int x;\n")}
	r.files["testdata/in.txt"] = &fstest.MapFile{Data: []byte("input\n")}
	r.files["logo.png"] = &fstest.MapFile{Data: []byte("\x89PNG\x00")}
	r.files["big.txt"] = &fstest.MapFile{Data: []byte(strings.Repeat("0123456789abcde\n", 200_000))}
	config := r.config("", "")
	config.Limits.FileBytes = 4 << 20
	result, files := r.generate(t, generate.Input{Options: llmstxt.Options{Full: llmstxt.FullAll}}, config)
	full := files["example.com/plants/garden/llms-full.txt"]
	for _, name := range []string{"README.md", "guide.md", "src/deep/x.c", "testdata/in.txt", "big.txt"} {
		if strings.Count(full, "\n## "+name+"\n") != 1 {
			t.Errorf("%s is not in it once", name)
		}
	}
	if strings.Contains(full, "logo.png") || !strings.Contains(full, string(r.files["big.txt"].Data)) || result.Files != 5 || result.Dropped != 0 {
		t.Errorf("%d files, %d dropped, %d bytes", result.Files, result.Dropped, len(full))
	}
}

// Issue: "Secrets found in sources are redacted", and nothing steers a terminal: in what the run came to as well.
func TestResultIsFitToBeShown(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("a", 36)
	r := newRemote()
	r.files["README.md"] = &fstest.MapFile{
		Data: []byte("# Gar\u202eden\x1b[31m\n\nA garden grows things in \u200brows with " + token + " and beds.\n")}
	result, _ := r.generate(t, generate.Input{}, r.config("", ""))
	text := result.Title + result.Summary
	if strings.ContainsAny(text, "\u202e\u200b\x1b") || strings.Contains(text, token) || !strings.Contains(text, "[redacted]") {
		t.Errorf("the result is %q: %q", result.Title, result.Summary)
	}
}

// Issue: "--size-budget drops the least important first and says what it dropped."
func TestSizeBudget(t *testing.T) {
	r := newRemote()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		r.files["docs/"+name+".md"] = &fstest.MapFile{Data: []byte("# On " + name + "\n\nSomething that is worth knowing about it.\n" +
			strings.Repeat("More of it, line by line.\n", 40))}
	}
	in := generate.Input{Repository: "https://example.com/plants/garden", Out: t.TempDir(),
		Options: llmstxt.Options{Ctx: true, Full: llmstxt.FullAll, SizeBudget: 3000}}
	job, err := generate.Job(in, r.config("", ""))
	must(t, err)
	state := completed(t, job)
	var d llmstxt.Document
	files := tree(t, in.Out)
	must(t, json.Unmarshal([]byte(files["example.com/plants/garden/llms.json"]), &d))
	dropped := map[string]int{}
	for _, x := range d.Dropped {
		dropped[x.Artifact]++
	}
	for _, a := range state.Artifacts {
		said := slices.ContainsFunc(state.Log.Lines, func(l messages.LogLine) bool { return strings.HasPrefix(l.Text, a.Name+": dropped ") })
		if a.Name != "llms.json" && (a.Bytes > in.SizeBudget || said != (dropped[a.Name] > 0)) {
			t.Errorf("%s has %d bytes, said %v, %d dropped", a.Name, a.Bytes, said, dropped[a.Name])
		}
	}
	if dropped["llms-full.txt"] == 0 || dropped["llms-ctx.txt"] == 0 || !strings.Contains(files["example.com/plants/garden/llms-full.txt"], "\n## README.md\n") {
		t.Errorf("dropped %v", d.Dropped)
	}
}

func TestMostLinks(t *testing.T) {
	r := newRemote()
	for most, want := range map[int]int{0: 2, 1: 1, 2: 2} {
		result, files := r.generate(t, generate.Input{Options: llmstxt.Options{MaxLinks: most}}, r.config("", ""))
		if text := files["example.com/plants/garden/llms.txt"]; result.Links != want || strings.Count(text, "](") != want {
			t.Errorf("%d links where %d are allowed:\n%s", result.Links, most, text)
		}
	}
}

func TestUnusableOptions(t *testing.T) {
	for _, in := range []generate.Input{
		{Options: llmstxt.Options{Full: "some"}}, {Options: llmstxt.Options{Format: 3}},
		{Options: llmstxt.Options{LinkStyle: "red"}}, {Options: llmstxt.Options{SizeBudget: 100}},
		{Options: llmstxt.Options{SizeBudget: -1}}, {Options: llmstxt.Options{MaxLinks: -1}}, {Options: llmstxt.Options{LinkBase: "ftp://x"}},
		{Options: llmstxt.Options{LinkBase: "https://u:p@x"}},
		{Repository: "https://user:secret@example.com/o/r"}, {Repository: "-x"}, {Repository: "https://github.com/owner"},
	} {
		if in.Repository == "" {
			in.Repository = "o/r"
		}
		in.Out = "out"
		_, err := generate.Job(in, generate.Config{})
		if messages.CodeOf(err) != messages.CauseInvalidInput || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want invalid input", in, err)
		}
	}
}

// by has the answer name the model.
func by(name string, answer []model.Part) []model.Part {
	end := answer[len(answer)-1].(model.End)
	end.Model = name
	answer[len(answer)-1] = end
	return answer
}

// What another model says than the one that was asked is never found under the name that was asked.
func TestAnotherModelIsNotCached(t *testing.T) {
	r, cache := newRemote(), t.TempDir()
	in := generate.Input{Model: "big-70b", Options: llmstxt.Options{Full: llmstxt.FullNone}}
	o := oracleOf(by("/srv/models/tiny\x1b-1b", says(description)), by("Vendor/Big-70B", says(description)))
	for i, want := range []generate.Result{{Model: "tiny-1b"}, {Model: "big-70b"}, {Model: "big-70b", Cached: true}} {
		got, files := r.generate(t, in, o.with(r.config(cache, "1")))
		if got.Model != want.Model || got.Cached != want.Cached || got.Degraded {
			t.Errorf("run %d: %+v", i+1, got)
		}
		for name, text := range files {
			if strings.HasSuffix(name, "llms.json") && (!strings.Contains(text, `"model": "`+want.Model+`"`) ||
				!strings.Contains(text, `"written by `+want.Model+`"`)) {
				t.Errorf("run %d: %s does not name %s", i+1, name, want.Model)
			}
		}
	}
	if n := len(o.asked()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// An answer that is refused is credited to nobody: the files hold nothing of it.
func TestAnotherModelFails(t *testing.T) {
	o := oracleOf(by("tiny-1b", says("I cannot say.")))
	in := modeled(sample(t, nil), t.TempDir())
	state := completed(t, asking(t, in, o))
	if r := resultOf(t, state); r.Model != "m" || r.Cause != messages.CauseInvalidOutput {
		t.Errorf("%+v", r)
	}
	if said := logged(state); strings.Count(said, "tiny-1b answered, not m") != 1 {
		t.Errorf("logged:\n%s", said)
	}
}

func logged(s messages.State) string {
	var b strings.Builder
	for _, line := range s.Log.Lines {
		b.WriteString(string(line.Level) + ": " + line.Text + "\n")
	}
	for _, n := range s.Notices {
		b.WriteString("notice: " + n.Text + "\n")
	}
	return b.String()
}
