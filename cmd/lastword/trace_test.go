package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// otlpSpan is a span as a collector gets it.
type otlpSpan struct{ TraceID, SpanID, ParentSpanID, Name string }

// otlp keeps the spans that it is sent.
type otlp struct {
	mu    sync.Mutex
	spans []otlpSpan
}

func (c *otlp) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var request struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []otlpSpan } }
	}
	_ = json.NewDecoder(r.Body).Decode(&request) // what is missing is judged
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

func (c *otlp) all() []otlpSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// A trace goes from the caller through the run and its calls: of models, of an MCP server, and of that server's model.
func TestTraceFromCallerToModels(t *testing.T) {
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	m, dir, kept := testkit.NewModel(t), t.TempDir(), &otlp{}
	at := httptest.NewServer(kept)
	defer at.Close()
	put(t, filepath.Join(dir, "servers.json"), `{"mcpServers":{"self":{"command":"lastword",
		"args":["mcp","--model","scripted","--base-url","`+m.URL()+`"]}}}`)
	cmd := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--base-url", m.URL(), "--model", "scripted", "--ephemeral",
		"--mcp-config", "servers.json")
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+at.URL)
	s := serving(t, cmd)
	m.Answer(testkit.Call(0, "c", "mcp__self__prompt", `{"text":"Hi"}`), testkit.Finish("tool_calls"), testkit.Done())
	for range 2 {
		m.Answer(testkit.Text("Done."), testkit.Finish("stop"), testkit.Done())
	}
	answer := testkit.OpenURL(t.Context(), t, http.MethodPost, s.base()+"/v1/runs",
		`{"job":"chat","input":{"message":"Hi","tools":["mcp__self__prompt"]}}`, "Accept", "text/event-stream",
		"Content-Type", "application/json", "Traceparent", "00-"+trace+"-"+caller+"-01", "Tracestate", "vendor=1")
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	must(t, err)
	m.Answer(testkit.Text("Done."), testkit.Finish("stop"), testkit.Done()) // to a caller without a trace: one begins
	called := s.post("", "tools/call", "prompt", `"name":"prompt","arguments":{"text":"Hi"}`)
	_, err = io.Copy(io.Discard, called.Body) // to its end
	called.Body.Close()
	must(t, err)
	_ = s.ends(syscall.SIGTERM) // the spans that wait are sent
	spans := kept.all()
	span := func(name, parent string) string {
		i := slices.IndexFunc(spans, func(s otlpSpan) bool {
			return s.Name == name && s.TraceID == trace && s.ParentSpanID == parent
		})
		if i < 0 {
			t.Fatalf("no span %s below %q in %+v\n%s", name, parent, spans, body)
		}
		return spans[i].SpanID
	}
	run := span("invoke_workflow chat", span("POST /v1/runs", caller))
	agent := span("invoke_agent chat", run)
	span("execute_tool mcp__self__prompt", agent)
	var callers []string
	for _, r := range m.Requests() {
		if r.Path != "/v1/chat/completions" {
			continue
		}
		of, from := messages.ReadTrace(r.Header.Get).IDs()
		callers = append(callers, from)
		ours := slices.ContainsFunc(spans, func(s otlpSpan) bool { return s.TraceID == of && s.Name == "POST /mcp" })
		if first := len(callers) < 4; first && (of != trace || r.Header.Get("Tracestate") != "vendor=1") || !first && !ours {
			t.Errorf("a model's call %d has the trace %q", len(callers), of)
		}
	}
	if len(callers) != 4 || callers[0] != span("chat scripted", agent) || callers[1] == run {
		t.Errorf("the models are called from the spans %v", callers)
	}
}
