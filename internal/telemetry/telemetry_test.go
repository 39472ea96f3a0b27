package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/telemetry"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// chat is a job whose task fails once, calls a model and a tool, and fails permanently where it is told to.
func chat(ctx context.Context, t *actors.TaskContext, fail bool) (string, error) {
	if t.Attempt() == 1 {
		return "", supervision.RetryAfter(0, errors.New("busy"))
	}
	if calls, _ := messages.TraceOf(ctx).IDs(); calls != trace {
		return "", errors.New("the task's calls are of the trace " + calls)
	}
	for _, body := range []messages.Body{
		messages.LLMStarted{Call: "m1", Model: "tiny", Provider: "127.0.0.1:8080"},
		messages.LLMCompleted{Call: "m1", Model: "tiny-q4", Evidence: "done-marker", Verdict: "completed", FirstTokenMS: 40,
			FinishReason: "stop", Usage: &messages.Usage{PromptTokens: new(int64(7)), CompletionTokens: new(int64(5))}},
		messages.ToolStarted{Call: "t1", Tool: "search"},
		messages.ToolCompleted{Call: "t1"},
	} {
		if err := t.Emit(body, ""); err != nil {
			return "", err
		}
	}
	if fail {
		return "", messages.Errorf(messages.CauseProviderError, "the model said no")
	}
	return "done", nil
}

const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// collector keeps the spans that it is sent, by name.
type collector struct {
	mu    sync.Mutex
	spans map[string]map[string]any
	all   int
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var request struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []map[string]any }
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&request) // what is missing is judged
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans[s["name"].(string)] = s
				c.all++
			}
		}
	}
}

// attributes are the attributes of the span with the name, each value in the form of OTLP.
func (c *collector) attributes(name string) map[string]string {
	all := map[string]string{}
	list, _ := c.spans[name]["attributes"].([]any)
	for _, one := range list {
		pair := one.(map[string]any)
		value, _ := json.Marshal(pair["value"]) // it was JSON
		all[pair["key"].(string)] = string(value)
	}
	return all
}

func TestMetricsAndTraces(t *testing.T) {
	kept := &collector{spans: map[string]map[string]any{}}
	at := httptest.NewServer(kept)
	defer at.Close()
	observer := telemetry.New(telemetry.Config{Collector: at.URL, Service: "test",
		Gauges: map[string]telemetry.Gauge{"readers": {Help: "Readers.", Read: func() float64 { return 3 }}}})
	system, err := actors.New(context.Background(), actors.Config{Observe: observer.Observe,
		Jobs: []actors.Definition{actors.Func("chat", chat)}})
	must(t, err)
	for _, input := range []string{"true", "false"} {
		id, err := system.Submit(context.Background(), messages.Request{Job: "chat", Input: json.RawMessage(input), Principal: "mia",
			Labels: map[string]string{messages.TraceLabel: "00-" + trace + "-" + parent + "-01",
				messages.TraceStateLabel: "vendor=1", "context": "c1"}})
		must(t, err)
		for _, err := range system.Events(t.Context(), id, 0) {
			must(t, err)
		}
	}
	must(t, system.Close(context.Background()))
	observer.Close()
	out := httptest.NewRecorder()
	observer.ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	for _, row := range fatal.Rows(t, "testdata/metrics.txt") {
		line := row[0]
		if !strings.Contains(out.Body.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, out.Body)
		}
	}
	if failed := kept.spans["task chat"]; failed == nil || kept.attributes("task chat")["error.type"] != `{"stringValue":"error"}` {
		t.Errorf("the attempt that failed is %v", failed)
	}
	delete(kept.spans, "task chat")
	above := parent // each span is below the one before
	for _, want := range fatal.Table[[]struct {
		Name, Kind string
		Attributes map[string]string
	}](t, "testdata/spans.json") {
		s, got := kept.spans[want.Name], kept.attributes(want.Name)
		if s["traceId"] != trace || s["traceState"] != "vendor=1" || s["parentSpanId"] != above || fmt.Sprint(s["kind"]) != want.Kind {
			t.Errorf("%s is %v, want it below %s", want.Name, s, above)
		}
		for key, value := range want.Attributes {
			if got[key] != value {
				t.Errorf("%s: %s is %s, want %s", want.Name, key, got[key], value)
			}
		}
		if want.Kind != "3" && !strings.HasPrefix(want.Name, "execute_tool") {
			above, _ = s["spanId"].(string)
		}
	}
	if len(kept.spans) != 4 {
		t.Errorf("spans: %v", kept.spans)
	}
}

func TestRequestSpans(t *testing.T) {
	kept := &collector{spans: map[string]map[string]any{}}
	at := httptest.NewServer(kept)
	defer at.Close()
	observer := telemetry.New(telemetry.Config{Collector: at.URL})
	inside, mux := messages.Trace{}, http.NewServeMux()
	mux.HandleFunc("POST /v1/runs/{id}/input/{name}", func(w http.ResponseWriter, r *http.Request) {
		inside = messages.TraceOf(r.Context())
		w.WriteHeader(http.StatusAccepted)
	})
	door := observer.Requests(mux)
	request := httptest.NewRequest("POST", "/v1/runs/r_abc/input/name", nil)
	of := func(flags string) context.Context {
		return messages.WithTrace(t.Context(), messages.Trace{Parent: "00-" + trace + "-" + parent + "-" + flags})
	}
	door.ServeHTTP(httptest.NewRecorder(), request.WithContext(of("00"))) // its caller does not keep the trace
	if inside.Sampled() {
		t.Errorf("the door was told %v", inside)
	}
	door.ServeHTTP(httptest.NewRecorder(), request.WithContext(of("01")))
	door.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DROP", "/v1/odd", nil))
	observer.Close()
	out := httptest.NewRecorder()
	observer.ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{"lastword_http_requests_in_flight 0",
		`lastword_http_requests_total{method="POST",route="/v1/runs/{id}/input/{name}",status="202"} 2`,
		`lastword_http_requests_total{method="other",route="other",status="404"} 1`} {
		if !strings.Contains(out.Body.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, out.Body)
		}
	}
	if kept.all != 2 {
		t.Errorf("%d requests have spans, want 2", kept.all)
	}
	s := kept.spans["POST /v1/runs/{id}/input/{name}"]
	if s == nil || s["traceId"] != trace || s["parentSpanId"] != parent || inside.Parent != "00-"+trace+"-"+s["spanId"].(string)+"-01" {
		t.Errorf("the request's span is %v; the door was told %v", s, inside)
	}
}

// A collector that does not answer costs spans, and no run waits for it.
func TestCollectorThatIsGone(t *testing.T) {
	observer := telemetry.New(telemetry.Config{Collector: "http://127.0.0.1:1/v1/traces"})
	observer.Observe(messages.Event{RunID: "r_a", Seq: 1, From: 1, Body: messages.RunQueued{Job: "chat"}})
	observer.Observe(messages.Event{RunID: "r_a", Seq: 2, From: 2, Body: messages.RunCompleted{}})
	observer.Close()
	out := httptest.NewRecorder()
	observer.ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(out.Body.String(), "lastword_spans_dropped_total 1\n") {
		t.Errorf("%s", out.Body)
	}
}

var must = fatal.IfError
