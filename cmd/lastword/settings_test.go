package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// nobody is an address at which nobody listens.
const nobody = "http://127.0.0.1:1"

// cheapest is a short form of each command, without the program's name. FOLDER is an empty folder, FILE an llms.txt
// and PLAN a plan.
var cheapest = []string{
	"acp", "chat -m hi", "check FILE", "completion bash", "config path", "config show", "conversations ls",
	"conversations fork c_none", "conversations rename c_none x", "conversations rm c_none", "conversations show c_none",
	"doctor --base-url " + nobody, "backup FOLDER/b --state FOLDER", "bundle FOLDER/b --state FOLDER", "restore FILE --state FOLDER", "fault arm task.panic", "fault disarm", "fault ls", "generate FOLDER --out FOLDER", "help version", "mcp --print-config codex", "mcp login x", "mcp ls", "mcp approve a/b", "agent nosuch hi", "agent allowed", "budget", "step x -- true",
	"models list", "models load x", "models unload x", "plan check PLAN", "plan graph PLAN", "plan init",
	"plan run PLAN --dry-run", "plan show r_none", "prompt hi", "provider check", "run true", "runs answer r_none yes", "runs say r_none hi", "runs release r_none", "runs move r_none --first",
	"runs cancel r_none", "runs events r_none", "runs get r_none", "runs ls", "runs retry r_none", "runs rm r_none",
	"runs watch r_none", "runs files r_none", "jobs", "start x", "schedules ls", "schedules pause x", "schedules resume x", "schedules run x", "serve --unix FILE/x", "key --state FOLDER", "verify --all --state FOLDER", "runs proof r_none", "explain r_none", "record r_none", "replay FILE", "token add a --file FOLDER/tokens",
	"token list --file FOLDER/tokens", "token remove a --file FOLDER/tokens", "ui --server " + nobody, "version",
	"webhooks ls", "webhooks resend r_none", "webhooks test x",
}

// Each documented variable that several commands read leaves every command working: it ends as it does without them.
func TestSharedVariablesLeaveCommandsWorking(t *testing.T) {
	root, forms := rootCommand(new(host.Program)), map[*cobra.Command]string{}
	for _, form := range cheapest {
		cmd, _, err := root.Find(strings.Fields(form))
		must(t, err)
		forms[cmd] = form
	}
	for cmd := range leaves(root) {
		if forms[cmd] == "" {
			t.Errorf("%s has no form in this test", cmd.CommandPath())
		}
	}
	bare := []string{"LASTWORD_BASE_URL=" + nobody}
	for _, k := range settings.KeysOf(root) {
		if k.Flag.Name == "server" {
			bare = append(bare, k.Variables()[0]+"="+nobody)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, "")
	all := []string{"LASTWORD_BASE_URL=" + nobody, "OPENAI_BASE_URL=" + nobody, "LASTWORD_SERVER=" + nobody,
		"LASTWORD_TOKEN_FILE=" + empty, "LASTWORD_PROGRESS=plain", "LASTWORD_NO_COLOR=true"}
	trust := t.TempDir()
	for _, v := range settings.Variables() {
		value := "swordfish-" + v.Name
		switch {
		case strings.HasSuffix(v.Name, "_FILE"), v.Name == "LASTWORD_CONFIG":
			value = empty
		case v.Name == settings.Trust:
			value = trust
		}
		all = append(all, v.Name+"="+value)
	}
	for _, form := range cheapest {
		t.Run(form, func(t *testing.T) {
			t.Parallel() // some wait for a server
			var codes [2]ran
			for i, env := range [][]string{bare, all} {
				folder := t.TempDir()
				write(t, filepath.Join(folder, "llms.txt"), "# Garden\n\n> Peas.\n")
				write(t, filepath.Join(folder, "plan.yaml"), "name: first\nsteps:\n  - {name: look, read: {run: r_x, name: llms.txt}}\n")
				words := strings.Fields(strings.NewReplacer("FOLDER", folder, "FILE", filepath.Join(folder, "llms.txt"),
					"PLAN", filepath.Join(folder, "plan.yaml")).Replace(form))
				codes[i] = run(t, env, words...)
			}
			if codes[0].code != codes[1].code {
				t.Errorf("lastword %s exits with %d, and with all shared variables set with %d: %s", form, codes[0].code,
					codes[1].code, codes[1].stderr)
			}
		})
	}
}

// Each command that lists something succeeds when there is nothing: stdout is empty, and stderr says so in one line.
func TestEmptyLists(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	write(t, tokens, "")
	at := " --server " + strings.TrimSuffix(serveHTTP(t, dir).url, "/mcp")
	forms := map[string]string{"runs ls": "runs ls" + at, "schedules ls": "schedules ls" + at, "webhooks ls": "webhooks ls" + at,
		"fault ls": "fault ls" + at, "conversations ls": "", "mcp ls": "", "token list": "token list --file " + tokens,
		"agent allowed": "", "mcp approve": "", "budget": "budget" + at, "runs cancel": "runs cancel --status failed" + at}
	for cmd := range leaves(rootCommand(new(host.Program))) {
		path := strings.TrimPrefix(cmd.CommandPath(), "lastword ")
		if _, known := forms[path]; !known && (cmd.Name() == "ls" || cmd.Name() == "list") {
			t.Errorf("%s has no form in this test", path)
		}
	}
	for path, form := range forms {
		got := run(t, []string{settings.Trust + "=" + filepath.Join(dir, "trust")}, strings.Fields(cmp.Or(form, path))...)
		if got.code != exit.Completed || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// A state folder that cannot be made is named, with the flag that names another. Without a home no command takes the
// current folder.
func TestFoldersThatCannotBeMade(t *testing.T) {
	file, here := filepath.Join(t.TempDir(), "file"), t.TempDir()
	write(t, file, "")
	t.Chdir(here)
	for _, form := range []string{"run --state F/x -- true", "run --background --state F/x -- true", "prompt --state F/x hi",
		"serve --http 127.0.0.1:0 --state F/x", "conversations ls --state F/x", "mcp --state F/x",
		"run --background -- true", "serve --http 127.0.0.1:0", "conversations ls", "chat --resume last -m hi"} {
		folder, known := file+"/x", strings.Contains(form, "F/x")
		if !known {
			folder = "no home folder"
		}
		got := run(t, []string{"HOME="}, strings.Fields(strings.ReplaceAll(form, "F/x", file+"/x"))...)
		if got.code != exit.Configuration || !strings.Contains(got.stderr, folder) || !strings.Contains(got.stderr, "--state") {
			t.Errorf("%s: %+v", form, got)
		}
	}
	if left, err := os.ReadDir(here); err != nil || len(left) > 0 {
		t.Errorf("the current folder holds %v, %v", left, err)
	}
}

// Each command that asks a server finds it and the token for it in one order: flag, variable, settings, and the lock file of
// a running server. A command that can do without a server takes none from a lock file.
func TestEachCommandFindsItsServer(t *testing.T) {
	forms := map[string]string{"run": "run --detach -- true", "plan run": "plan run PLAN", "verify": "verify r_none", "bundle": "bundle FOLDER/b",
		"doctor": "doctor", "ui": "ui"}
	for _, form := range cheapest {
		if cmd, _, err := rootCommand(new(host.Program)).Find(strings.Fields(form)); err == nil {
			path := strings.TrimPrefix(cmd.CommandPath(), "lastword ")
			forms[path] = cmp.Or(forms[path], form)
		}
	}
	root := rootCommand(new(host.Program))
	keys := map[*pflag.Flag]string{}
	for _, k := range settings.KeysOf(root) {
		keys[k.Flag] = k.Name
	}
	for cmd := range leaves(root) {
		flag := cmp.Or(cmd.Flags().Lookup("server"), cmd.InheritedFlags().Lookup("server"))
		path := strings.TrimPrefix(cmd.CommandPath(), "lastword ")
		if key := keys[flag]; flag != nil && (key != "" || cmd.GroupID == settings.Helping) {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				findsItsServer(t, forms[path], cmp.Or(key, "runs.server"), strings.Contains(flag.Usage, "(default"), path != "ui")
			})
		}
	}
}

// findsItsServer runs the command with more and more that names a server: each time the newest counts.
func findsItsServer(t *testing.T, form, key string, needsOne, sendsToken bool) {
	var mu sync.Mutex
	var asked []string
	server := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if asked = append(asked, name+" "+r.Header.Get("Authorization")); r.URL.Path != "/livez" {
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	j, err := sqlite.Open(filepath.Join(dir, "lastword"))
	must(t, err)
	defer j.Close()
	must(t, j.Announce(server("lock")))
	args := strings.Fields(strings.NewReplacer("FOLDER", dir, "PLAN", file("plan.yaml", "steps:\n  - {name: look, read: {run: r_x, name: llms.txt}}\n")).Replace(form))
	env := []string{"XDG_STATE_HOME=" + dir, "LASTWORD_BASE_URL=" + nobody}
	for _, layer := range []string{"lock", "settings", "variable", "flag"} {
		token := file(layer, layer)
		switch layer {
		case "settings":
			text := key + ": " + server(layer) + "\n"
			if sendsToken {
				text += strings.TrimSuffix(key, "server") + "token-file: " + token + "\n"
			}
			env = append(env, "LASTWORD_CONFIG="+file("config.yaml", text))
		case "variable":
			env = append(env, "LASTWORD_SERVER="+server(layer), "LASTWORD_TOKEN_FILE="+token)
		case "flag":
			at := slices.Index(append(args, "--"), "--")
			args = slices.Insert(slices.Clone(args), at, "--server", server(layer))
			if sendsToken {
				args = slices.Insert(args, at, "--token-file", token)
			}
		}
		want := layer + " Bearer " + layer
		if layer == "lock" || !sendsToken {
			want = layer + " "
		}
		_ = os.Remove(filepath.Join(dir, "b"))
		asked = nil
		got := run(t, env, args...)
		mu.Lock()
		all := slices.Compact(slices.Sorted(slices.Values(asked)))
		mu.Unlock()
		if needed := layer != "lock" || needsOne; needed && !slices.Equal(all, []string{want}) || !needed && len(all) > 0 {
			t.Errorf("with %s the command asked %q, want %q: %s", layer, all, want, got.stderr)
		}
	}
}

// Arguments that no command takes are refused in a sentence that says what to do.
func TestTooManyArgumentsAreRefusedInASentence(t *testing.T) {
	for cmd := range leaves(rootCommand(new(host.Program))) {
		if err := cmd.ValidateArgs(make([]string, 9)); err != nil {
			if _, ours := errors.AsType[*exit.Error](err); !ours {
				t.Errorf("%s: %v", cmd.CommandPath(), err)
			}
		}
	}
	for args, want := range map[string]string{"help runs lss": "did you mean ls?", "replay x --speed fast": "must be a number", "restore nosuch.tar": "name one that lastword backup has written",
		"replay nosuch.jsonl": "lastword record last", "conversations show nosuch": "lastword conversations ls"} {
		if got := run(t, nil, strings.Fields(args)...); got.code == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
}

// leaves yields the commands that do something.
func leaves(cmd *cobra.Command) map[*cobra.Command]bool {
	all := map[*cobra.Command]bool{}
	for _, sub := range cmd.Commands() {
		if sub.HasSubCommands() {
			for leaf := range leaves(sub) {
				all[leaf] = true
			}
		} else if !sub.Hidden {
			all[sub] = true
		}
	}
	return all
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

// Each documented variable sets its flag, and no other command minds.
func TestEachVariableSetsItsFlag(t *testing.T) {
	for keys := range slices.Chunk(settings.KeysOf(rootCommand(new(host.Program))), 20) {
		for n, more := 0, true; more; n++ { // the n-th variable of each
			more = false
			var environ []string
			want := map[string]string{}
			for _, k := range keys {
				if names := k.Variables(); n < len(names) {
					more, want[k.Name] = true, fitting(k.Flag)
					environ = append(environ, names[n]+"="+want[k.Name])
				}
			}
			s, err := settings.Load(rootCommand(new(host.Program)), environ, "", nil, new(redact.Secrets))
			if err != nil {
				t.Errorf("%q: %v", environ, err)
				continue
			}
			for name, value := range want {
				set, _ := settings.Find(s.Keys, name)
				if from, got, ok := s.Effective(set); !ok || from.Kind != "environment" || got != value {
					t.Errorf("%q leave %s at %s", environ, name, set.Flag.Value)
				}
			}
		}
	}
}

// Each flag says whether a project's file may set it. The file sets those alone, and stderr names the others.
func TestEachFlagSaysWhetherAProjectSetsIt(t *testing.T) {
	t.Chdir(t.TempDir())
	elsewhere := regexp.MustCompile("`(file|folder|path|URL|address|hosts|origins|names)`")
	for keys := range slices.Chunk(settings.KeysOf(rootCommand(new(host.Program))), 20) {
		var file strings.Builder
		for _, k := range keys {
			may, decided := k.Project()
			switch {
			case !decided:
				t.Errorf("%s does not say whether a project's file may set it: settings.ByProject, LoweredByProject or ByOperator does", k.Name)
			case may && (elsewhere.MatchString(k.Flag.Usage) || strings.HasPrefix(k.Name, "serve.") || strings.HasPrefix(k.Flag.Name, "allow-") ||
				slices.Contains([]string{"state", "out", "output", "in-place"}, k.Flag.Name)):
				t.Errorf("a project's file may set %s", k.Name)
			}
			value := fitting(k.Flag)
			if kind := k.Flag.Value.Type(); kind != "bool" && !settings.IsNumber(kind) {
				value = strconv.Quote(value)
			}
			file.WriteString(k.Name + ": " + value + "\n")
		}
		write(t, ".lastword.yaml", file.String())
		var stderr strings.Builder
		root := rootCommand(new(host.Program))
		root.SetErr(&stderr)
		s, err := settings.Load(root, nil, "", nil, new(redact.Secrets))
		must(t, err)
		for i, k := range keys {
			may, _ := k.Project()
			refused := strings.Contains(stderr.String(), fmt.Sprintf("%s (line %d)", k.Name, i+1))
			if from, _, _ := s.Effective(k); (from.Kind == "project") != may || refused == may {
				t.Errorf("a project's %s has the value of %q, and stderr says %q\n%s", k.Name, from.Kind, &stderr, file.String())
			}
		}
	}
}

// fitting is a value that the flag takes.
func fitting(f *pflag.Flag) string {
	words := strings.Split(f.Value.Type(), "|")
	for _, value := range []string{words[len(words)-1], "true", "3", "90s", "tokens=5", "[]", "{}"} {
		if f.Value.Set(value) == nil {
			return value
		}
	}
	return ""
}
