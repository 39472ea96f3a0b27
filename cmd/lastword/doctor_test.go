package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/testkit"
)

// What doctor says of real servers is true for the server at hand, and never asks for more context than the model was
// trained for. A single llama-server lists its model as the router does, without a status.
func TestDoctorOnRecordedServers(t *testing.T) {
	router := map[string]string{"/v1/models": "llama-router-models", "/props": "llama-router-props",
		"/v1/chat/completions": "llama-router-plain-stream"}
	ollama := map[string]string{"/v1/models": "ollama33-models", "/api/tags": "ollama33-api-tags", "/api/ps": "ollama33-api-ps",
		"/api/show": "ollama33-api-show", "/v1/chat/completions": "ollama33-plain-stream", "/api/chat": "ollama33-native-chat-stream"}
	loading := map[string]string{"/v1/models": "llama-loading-chat", "/v1/chat/completions": "llama-loading-chat"}
	single, small := []string{`"status":`, `"was":`}, []string{`"n_ctx":8192`, `"n_ctx":4096`}
	const short, shortest = "12288", "4096 " // of the same length as the recorded 32768
	trained := "trained for more than 4096 tokens"
	for name, c := range map[string]struct {
		paths      map[string]string
		edits      []string
		id, remedy string
	}{
		"loading":                  {loading, nil, "server", "wait until it is ready"},
		"router":                   {router, small, "context-size", "start llama-server with --ctx-size 16384"},
		"router, short training":   {router, append(small, "32768", short), "context-size", "start llama-server with --ctx-size 12288"},
		"router, no more":          {router, append(small, "32768", shortest), "context-size", trained},
		"single":                   {router, append(small, single...), "context-size", "start llama-server with --ctx-size 16384"},
		"single, short training":   {router, append(append(small, single...), "32768", short), "context-size", "start llama-server with --ctx-size 12288"},
		"ollama":                   {ollama, nil, "context-size", "lastword models load tiny:latest --context 16384"},
		"ollama, short training":   {ollama, []string{"32768", short}, "context-size", "lastword models load tiny:latest --context 12288"},
		"ollama, nothing to raise": {ollama, []string{"32768", shortest}, "context-size", trained},
	} {
		m := standin.NewRecordedModel(t, "../../transport/llm/testdata/real-wire", c.paths, c.edits...)
		got := run(t, []string{"LASTWORD_BASE_URL=" + m.URL()}, "doctor", "--json", "--model", "tiny")
		var said doctorReport
		if err := json.Unmarshal([]byte(got.stdout), &said); err != nil {
			t.Fatal(err, got)
		}
		found := false
		for _, r := range said.Checks {
			if strings.Contains(r.Remedy, "base-url") {
				t.Errorf("%s: the address is right: %+v", name, r)
			}
			if r.ID == c.id {
				found = true
				if r.Status != probe.Warn || !strings.Contains(r.Remedy, c.remedy) {
					t.Errorf("%s: %+v, want %s", name, r, c.remedy)
				}
			}
		}
		if !found || name == "loading" && got.code != exit.Completed {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Doctor reads a running server: as anybody, with a token that may read, and as its operator. Without --server it is the
// one that has the state folder open.
func TestDoctorReadsAServer(t *testing.T) {
	dir := t.TempDir()
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hello"), testkit.Finish("stop"), testkit.Done())
	tokens := map[string]string{"none": ""}
	for name, scopes := range map[string]string{"reader": "run:read", "admin": "run:read,run:write,admin"} {
		tokens[name] = filepath.Join(dir, name)
		write(t, tokens[name], tokenFor(t, dir, name, "--scope", scopes))
	}
	write(t, filepath.Join(dir, "wrong"), "lastword_"+strings.Repeat("a", 43))
	tokens["wrong"] = filepath.Join(dir, "wrong")
	s := serveHTTP(t, dir, "--tokens", "tokens", "--state", "kept", "--dialects", "openai", "--base-url", m.URL())
	for who, want := range map[string]struct {
		code  int
		lines []string
	}{
		"none":   {exit.Completed, []string{"PASS serve " + s.base() + " takes runs", "PASS serve-clock it is the server's", "WARN serve-token the server asks for a token"}},
		"wrong":  {exit.Configuration, []string{"FAIL serve-token the server does not know your token"}},
		"reader": {exit.Completed, []string{"PASS serve-token yours has the scopes run:read", "PASS serve-build", "PASS serve-models the server has 1 model"}},
		"admin":  {exit.Completed, []string{"PASS serve-token yours has the scopes admin, run:read, run:write", "PASS serve-store 0 runs at work"}},
	} {
		for _, place := range [][]string{{"--state", filepath.Join(dir, "kept")}, {"--server", s.base()}} {
			got := run(t, nil, append(place, "doctor", "--token-file", tokens[who], "--base-url", m.URL())...)
			said := strings.Join(strings.Fields(got.stdout), " ")
			for _, line := range want.lines {
				if got.code != want.code || !strings.Contains(said, line) {
					t.Errorf("%s: exit code %d, want %s in\n%s", who, got.code, line, got.stdout)
				}
			}
		}
	}
	s.ends(syscall.SIGTERM)
	if got := run(t, nil, "doctor", "--server", s.base()); got.code != exit.Configuration || !strings.Contains(got.stdout, "FAIL  serve         cannot reach the server at") {
		t.Errorf("%+v", got)
	}
}
