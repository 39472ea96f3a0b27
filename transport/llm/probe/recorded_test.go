package probe_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

const wire = "../testdata/real-wire"

// Discovery and checks against what real servers answered, with their connections closed as recorded.
func TestRecordedServers(t *testing.T) {
	router := map[string]string{"/v1/models": "llama-router-models", "/props": "llama-router-props",
		"/v1/chat/completions": "llama-router-plain-stream"}
	ollama := map[string]string{"/v1/models": "ollama33-models", "/api/tags": "ollama33-api-tags", "/api/ps": "ollama33-api-ps",
		"/api/show": "ollama33-api-show", "/v1/chat/completions": "ollama33-plain-stream", "/api/chat": "ollama33-native-chat-stream"}
	for _, c := range []struct {
		name, model, kind string
		paths             map[string]string
		want              map[string]string // a part of what each check says, with its status
	}{
		{"router", "tiny", llm.LlamaCPP, router, map[string]string{"reachable": "PASS from llama.cpp", "path": "PASS 5 models",
			"models": "PASS asking tiny", "loaded": "PASS tiny", "context-size": "PASS 8192 tokens of the model's 32768",
			"answers": "PASS way her which", "model-named": "PASS tiny", "terminator": "PASS [DONE]"}},
		{"ollama", "tiny", llm.Ollama, ollama, map[string]string{"path": "PASS 5 models", "models": "PASS asking tiny",
			"loaded": "PASS tiny:latest", "answers": "PASS ", "model-named": "PASS tiny", "terminator": "PASS ",
			"context-size": "WARN 4096 tokens of the model's 32768 ; load the model with a larger context: lastword models load tiny:latest --context 16384"}},
	} {
		m := testkit.NewRecordedModel(t, wire, c.paths)
		only := []string{"reachable", "path", "models", "loaded", "context-size", "answers", "model-named", "terminator"}
		p, err := probe.Run(t.Context(), probe.Options{Config: llm.Config{BaseURL: m.URL(), Proxy: "none"}, Model: c.model, Only: only})
		if err != nil || p.Server.Kind != c.kind {
			t.Fatalf("%s: %v, %+v", c.name, err, p)
		}
		for _, r := range p.Results {
			said := string(r.Status) + " " + r.Seen + " ; " + r.Remedy
			status, words, _ := strings.Cut(c.want[r.ID], " ")
			if !strings.HasPrefix(said, status) {
				t.Errorf("%s: %+v, want %s", c.name, r, c.want[r.ID])
			}
			for part := range strings.SplitSeq(words, " ; ") {
				if !strings.Contains(said, part) {
					t.Errorf("%s, %s: %q, want %q", c.name, r.ID, said, part)
				}
			}
		}
	}
	loading := testkit.NewRecordedModel(t, wire, map[string]string{"/v1/models": "llama-loading-chat", "/v1/chat/completions": "llama-loading-chat"})
	p, err := probe.Run(t.Context(), probe.Options{Config: llm.Config{BaseURL: loading.URL(), Proxy: "none"}, Only: []string{"path"}, First: 1})
	if r := p.Results[0]; err != nil || r.Status != probe.Warn || r.Seen != "the server is loading its model" || strings.Contains(r.Remedy, "base-url") {
		t.Errorf("%v, %+v", err, p.Results)
	}
}
