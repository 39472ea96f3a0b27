package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm/probe"
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
		m := testkit.NewRecordedModel(t, "../../transport/llm/testdata/real-wire", c.paths, c.edits...)
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
