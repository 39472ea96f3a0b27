package generate_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/messages"
)

// hosted is the configuration of a server whose callers write below the root.
func hosted(root string) generate.Config {
	config := folder(nowhere)
	config.Folder = func(principal, out string) (string, error) { return filepath.Join(root, principal, out), nil }
	config.Model = func(context.Context, string) (*generate.Model, error) { return nil, nil }
	config.DefaultModel = "scripted"
	return config
}

// defined is the job of an input as callers write it, and the input as its run shows it.
func defined(t *testing.T, config generate.Config, input string) (actors.Job, generate.Input, error) {
	t.Helper()
	job, err := generate.Define(config).New(json.RawMessage(input))
	in, _ := job.Input.(generate.Input)
	return job, in, err
}

func TestInputOfCallers(t *testing.T) {
	config := hosted(t.TempDir())
	_, in, err := defined(t, config, `{"repository":"https://example.com/a.zip?sig=x","out":"./b","full":"all","ctx":true,`+
		`"format":1,"link_style":"raw","link_base":"https://x.example","size_budget":4096,"no_cache":true,"model":"auto",`+
		`"ref":"commit","token_budget":9000,"budget_fail":true,"count_tokens":true,"secrets":"fail","fresh":true,"layout":"host"}`)
	want := generate.Input{Repository: "https://example.com/a.zip", Out: "b", NoCache: true, Model: "scripted",
		Options: llmstxt.Options{Full: "all", Ctx: true, Format: 1, LinkStyle: "raw", LinkBase: "https://x.example",
			SizeBudget: 4096, TokenBudget: 9000, Ref: "commit", BudgetFail: true, CountTokens: true, Secrets: "fail", Fresh: true}}
	if err != nil || !reflect.DeepEqual(in, want) {
		t.Errorf("%+v, %v\nwant %+v", in, err, want)
	}
	if _, in, err = defined(t, config, `{"repository":"https://example.com/a.git","model":"mine"}`); err != nil || in.Model != "mine" {
		t.Errorf("%+v, %v", in, err)
	}
	if _, in, err = defined(t, config, `{"repository":"https://example.com/a.git"}`); err != nil || in.Model != "" {
		t.Errorf("a server's model writes unasked: %+v, %v", in, err)
	}
	for _, more := range []string{`"out":".."`, `"out":"../bob"`, `"out":"/tmp"`, `"file":"x"`, `"max_files":1`, `"size_budget":"4k"`} {
		if _, _, err := defined(t, config, `{"repository":"https://example.com/a.git",`+more+`}`); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", more, err)
		}
	}
}

// If a server may not read local files, callers cannot name them, or learn whether they exist.
func TestRemoteRepositoriesOnly(t *testing.T) {
	t.Chdir(filepath.Dir(sample(t, nil)))
	config := hosted(t.TempDir())
	config.RemoteOnly = true
	for text, want := range map[string]string{
		"garden/README.md":          "https://github.com/garden/README.md",
		"spf13/cobra@v1.9.0":        "https://github.com/spf13/cobra/tree/v1.9.0",
		"https://example.com/a.git": "https://example.com/a.git",
		"gitlab:group/project":      "https://gitlab.com/group/project",
	} {
		if _, in, err := defined(t, config, `{"repository":"`+text+`"}`); err != nil || in.Repository != want {
			t.Errorf("%s is %q, %v, want %q", text, in.Repository, err, want)
		}
	}
	for _, text := range []string{"garden", "./garden", "/etc", "~/x", "missing", ".", "garden.zip", "/missing"} {
		if _, _, err := defined(t, config, `{"repository":"`+text+`"}`); err == nil || !strings.HasPrefix(err.Error(), "this server reads no local folders") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The folder that a run writes to is in its events as its caller called it, and another node makes the same run.
func TestRunsWriteBelowTheirPrincipalsFolder(t *testing.T) {
	garden, root := sample(t, nil), t.TempDir()
	for out, path := range map[string]string{"": "mia/local/garden", "docs": "mia/docs/local/garden"} {
		job, in, err := defined(t, hosted(root), `{"repository":"`+garden+`","out":"`+out+`"}`)
		if err != nil || in.Out != out {
			t.Fatalf("%q is told as %q, %v", out, in.Out, err)
		}
		again, err := json.Marshal(in)
		must(t, err)
		if _, elsewhere, err := defined(t, hosted(root), string(again)); err != nil || !reflect.DeepEqual(elsewhere, in) {
			t.Errorf("another node makes a run of %+v (%v), this one of %+v", elsewhere, err, in)
		}
		run, err := open(t, actors.Config{}).Start(t.Context(), job, actors.Options{Principal: "mia"})
		must(t, err)
		if state := wait(t, run); state.Status != messages.Completed {
			t.Fatalf("%+v", state.End)
		}
		if _, err := os.Stat(filepath.Join(root, path, "llms.txt")); err != nil {
			t.Error(err)
		}
	}
}

func TestPartsOfRepositories(t *testing.T) {
	garden := sample(t, map[string]string{"docs/a/README.md": "# A\n"})
	for text, want := range map[string]string{
		garden:                                    filepath.Join(garden, "docs", "a"),
		"https://example.com/x.git":               "https://example.com/x.git/-/tree/HEAD/docs/a",
		"git@github.com:o/r.git":                  "ssh://git@github.com/o/r/-/tree/HEAD/docs/a",
		"git@h:g/o/r.git@v1":                      "ssh://git@h/g/o/r.git/-/tree/v1/docs/a",
		"spf13/cobra@v1.9.0":                      "https://github.com/spf13/cobra/tree/v1.9.0/docs/a",
		"https://github.com/o/r/tree/main/folder": "https://github.com/o/r/tree/main/folder/docs/a",
	} {
		if _, in, err := defined(t, hosted(""), `{"repository":"`+text+`","subfolder":"docs/a"}`); err != nil || in.Repository != want {
			t.Errorf("docs/a of %s is %q, %v, want %q", text, in.Repository, err, want)
		}
	}
	for at, says := range map[string]string{garden + `","subfolder":"missing`: `no folder "missing"`, garden + `","subfolder":"../x`: "leads out",
		`https://example.com/x.zip","subfolder":"docs`: "archive"} {
		if _, _, err := defined(t, hosted(""), `{"repository":"`+at+`"}`); messages.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// A System refuses a job that cannot work, before anybody starts it.
func TestConfigThatCannotWork(t *testing.T) {
	jobs := []actors.Definition{generate.Define(generate.Config{})}
	if _, err := actors.New(t.Context(), actors.Config{Jobs: jobs}); messages.CodeOf(err) != messages.CauseInvalidInput ||
		!strings.Contains(err.Error(), "Config.Open") {
		t.Errorf("New: %v", err)
	}
	if _, err := generate.Job(generate.Input{Repository: t.TempDir(), Out: t.TempDir()}, generate.Config{}); err == nil {
		t.Error("Job takes a Config without Open")
	}
}
