package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/testkit"
)

const (
	apiKey      = "sk-sesame-Sesame-0123"
	gardenToken = "t0ken-of-the-gardener"
)

// entrusted is an environment with secrets.
func entrusted() []string {
	return []string{"LASTWORD_API_KEY=" + apiKey, settings.GitTokens + "=git.example.com=" + gardenToken}
}

// discreet fails the test where a text holds a secret, or most of it.
func discreet(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, secret := range []string{apiKey, gardenToken} {
			if strings.Contains(text, secret[:len(secret)*2/3]) {
				t.Errorf("%s says %s:\n%s", what, secret, text)
			}
		}
	}
}

// indiscreet is an answer that says the secrets, in its thought and its text, cut in pieces.
func indiscreet() (pieces []testkit.Piece) {
	for _, kind := range []func(string) testkit.Piece{testkit.Thought, testkit.Text} {
		for text := "The key is " + apiKey + ", the token " + gardenToken + "."; text != ""; {
			n := min(5, len(text))
			pieces, text = append(pieces, kind(text[:n])), text[n:]
		}
	}
	return append(pieces, testkit.Finish("stop"), testkit.Done())
}

// A model that says the secrets of the process: its answer is told without them, on every surface, and the run's
// offsets and digests fit what is told.
func TestPromptTellsNoSecret(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(indiscreet()...)
	const want = "The key is [key], the token [token]."
	code, state, events := promptEvents(t, entrusted(), m)
	text, err := json.Marshal(events)
	if err != nil || code != exit.Completed || !strings.Contains(string(state.End.Result), want) {
		t.Errorf("exit code %d, %v: %s", code, err, text)
	}
	discreet(t, "--jsonl", string(text))
	for _, flag := range []string{"--json", "--quiet", "--progress=plain"} {
		got := run(t, entrusted(), "prompt", "Hi, "+gardenToken, "--base-url", m.URL(), "--model", "scripted", flag)
		if got.code != exit.Completed || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: exit code %d: %s", flag, got.code, got.stdout)
		}
		discreet(t, flag, got.stdout, got.stderr)
	}
	for _, r := range m.Requests() {
		discreet(t, "the request", fmt.Sprintf("%s", r.Chat.Messages))
	}
}

func TestProviderCheckTellsNoSecret(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(indiscreet()...)
	m.AnswerTo("/v1/models", standin.Header("Server", gardenToken), standin.JSON(200, `{"data":[{"id":"`+apiKey+`"}]}`))
	file := filepath.Join(t.TempDir(), "profile.json")
	for _, flags := range [][]string{{"--json"}, {"--progress", "plain"}} {
		got := run(t, entrusted(), append([]string{"provider", "check", "--base-url", m.URL(), "--write", file, "--only",
			"reachable,path,models,answers,model-named,terminator,thoughts,fields,max-tokens,tool,json"}, flags...)...)
		profile, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(profile), "[key]") {
			t.Errorf("%v: %s", err, profile)
		}
		discreet(t, "provider check", got.stdout, got.stderr, string(profile))
	}
}

// A Git server gets the token that is named with it and no other, whoever names the server; and what it says with the
// token in it is told without.
func TestGitServersAndTokens(t *testing.T) {
	var mu sync.Mutex
	var shown []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		shown = append(shown, r.Header.Get("Authorization"))
		mu.Unlock()
		says := "ERR no " + gardenToken + " " + r.Header.Get("Authorization")
		fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s", 4+len(says), says)
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		name, value string
		sent        bool
	}{
		{settings.GitToken, gardenToken, false}, {"GH_TOKEN", gardenToken, false}, {"GITHUB_ACCESS_TOKEN", gardenToken, false},
		{settings.GitTokens, "git.example.com=" + gardenToken, false}, {settings.GitTokens, "127.0.0.1:1=" + gardenToken, false},
		{settings.GitTokens, "27.0.0.1=" + gardenToken + ",27.0.0.1=" + gardenToken, false},
		{settings.GitTokens, "x=y,127.0.0.1=" + gardenToken, true},
	} {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			for _, flag := range []string{"--jsonl", "--json", "--explain"} {
				shown = nil
				got := run(t, append(entrusted(), c.name+"="+c.value), "generate", server.URL+"/r.git", "--allow-http",
					"--allow-private", "--out", t.TempDir(), flag)
				if got.code != exit.Configuration {
					t.Errorf("exit code %d: %s", got.code, got.stderr)
				}
				if len(shown) == 0 || (shown[0] != "") != c.sent {
					t.Errorf("the server was shown %q", shown)
				}
				discreet(t, flag, got.stdout, got.stderr)
				for _, basic := range shown {
					if basic != "" && strings.Contains(got.stdout+got.stderr, basic) {
						t.Errorf("%s says %s", flag, basic)
					}
				}
			}
		})
	}
}

// A repository that says the secrets brings them into no file.
func TestGenerateTellsNoSecret(t *testing.T) {
	dir, out := plant(t, "# Garden "+gardenToken+"\n\nGrows "+apiKey+" in rows and in beds.\n"), t.TempDir()
	got := run(t, entrusted(), "generate", filepath.Join(dir, "garden"), "--out", out, "--full", "all", "--jsonl")
	if got.code != exit.Completed {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	discreet(t, "generate", got.stdout, got.stderr)
	for name := range strings.FieldsSeq(filesIn(t, out)) {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(text), "redacted") {
			t.Errorf("%s, %v: %s", name, err, text)
		}
		discreet(t, name, string(text))
	}
}

// A caller's token is in no answer, though the caller says it and the model repeats it.
func TestServeTellsNoToken(t *testing.T) {
	dir := t.TempDir()
	token := tokenFor(t, dir, "mia")
	m := testkit.NewModel(t)
	m.Always(testkit.Text("You showed "+token[:20]), testkit.Text(token[20:]+"."), testkit.Done())
	s := serveHTTP(t, dir, "--tokens", "tokens", "--base-url", m.URL(), "--model", "scripted")
	a := s.call(token, "prompt", `{"text":"I am `+token+`"}`)
	text, err := json.Marshal(a)
	if err != nil || a.IsError || !strings.Contains(string(text), "You showed [token].") ||
		strings.Contains(string(text), token[:40]) {
		t.Errorf("%v: %s", err, text)
	}
	if all := fmt.Sprintf("%s", m.Requests()[0].Chat.Messages); strings.Contains(all, token) {
		t.Errorf("the model was sent %s", all)
	}
}
