package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/transport/telemetry"
)

// chat is a job whose task fails once, calls a model and a tool, and fails for good where it is told to.
func chat(ctx context.Context, t *actors.TaskContext, fail bool) (string, error) {
	if t.Attempt() == 1 {
		return "", supervision.RetryAfter(0, errors.New("busy"))
	}
	if calls, _, _ := messages.ParseTraceparent(messages.Traceparent(ctx)); calls != trace {
		return "", errors.New("the task's calls are of the trace " + calls)
	}
	for _, body := range []messages.Body{
		messages.LLMStarted{Call: "m1", Model: "tiny"},
		messages.LLMCompleted{Call: "m1", Model: "tiny", Evidence: "done-marker", Verdict: "completed", FirstTokenMS: 40,
			Usage: &messages.Usage{PromptTokens: 7, CompletionTokens: 5}},
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
			}
		}
	}
}

func TestMetricsAndTraces(t *testing.T) {
	kept := &collector{spans: map[string]map[string]any{}}
	at := httptest.NewServer(kept)
	defer at.Close()
	observer := telemetry.New(telemetry.Config{Collector: at.URL, Service: "test",
		Gauges: map[string]telemetry.Gauge{"readers": {Help: "Readers.", Read: func() float64 { return 3 }}}})
	system, err := actors.New(context.Background(), actors.Config{Observe: observer.Observe,
		Jobs: []actors.Definition{actors.Func("chat", chat)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"true", "false"} {
		id, err := system.Submit(context.Background(), messages.Request{Job: "chat", Input: json.RawMessage(input), Principal: "mia",
			Labels: map[string]string{messages.TraceLabel: "00-" + trace + "-" + parent + "-01"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range system.Events(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := system.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	observer.Close()
	out := httptest.NewRecorder()
	observer.ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`lastword_runs_started_total{job="chat"} 2`,
		`lastword_runs_ended_total{cause="",job="chat",status="completed"} 1`,
		`lastword_runs_ended_total{cause="provider_error",job="chat",status="failed"} 1`,
		`lastword_run_duration_seconds_count{job="chat",status="completed"} 1`,
		`lastword_task_failures_total{cause="error",job="chat"} 2`,
		`lastword_task_restarts_total{job="chat"} 2`,
		`lastword_model_tokens_total{direction="read",principal="mia"} 14`,
		`lastword_first_token_seconds_count{job="chat"} 2`,
		`lastword_tool_calls_total{job="chat"} 2`,
		`lastword_readers 3`,
		`lastword_spans_dropped_total 0`,
	} {
		if !strings.Contains(out.Body.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, out.Body)
		}
	}
	run, task := kept.spans["run chat"], kept.spans["task chat"]
	if run == nil || task == nil || kept.spans["chat tiny"] == nil || kept.spans["execute_tool search"] == nil {
		t.Fatalf("spans: %v", kept.spans)
	}
	if run["parentSpanId"] != parent || task["parentSpanId"] != run["spanId"] {
		t.Errorf("the run's span is %v, its task's %v", run, task)
	}
	for name, s := range kept.spans {
		if s["traceId"] != trace {
			t.Errorf("%s is of the trace %v", name, s["traceId"])
		}
	}
}

func TestRequestSpans(t *testing.T) {
	kept := &collector{spans: map[string]map[string]any{}}
	at := httptest.NewServer(kept)
	defer at.Close()
	observer := telemetry.New(telemetry.Config{Collector: at.URL})
	inside, mux := "", http.NewServeMux()
	mux.HandleFunc("POST /v1/runs/{id}/input/{name}", func(w http.ResponseWriter, r *http.Request) {
		inside = r.Header.Get("Traceparent")
		w.WriteHeader(http.StatusAccepted)
	})
	door := observer.Requests(mux)
	request := httptest.NewRequest("POST", "/v1/runs/r_abc/input/name", nil)
	request.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	door.ServeHTTP(httptest.NewRecorder(), request)
	door.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DROP", "/v1/odd", nil))
	observer.Close()
	out := httptest.NewRecorder()
	observer.ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{"lastword_http_requests_in_flight 0",
		`lastword_http_requests_total{method="POST",route="/v1/runs/{id}/input/{name}",status="202"} 1`,
		`lastword_http_requests_total{method="other",route="other",status="404"} 1`} {
		if !strings.Contains(out.Body.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, out.Body)
		}
	}
	s := kept.spans["POST /v1/runs/{id}/input/{name}"]
	if s == nil || s["traceId"] != trace || s["parentSpanId"] != parent || inside != "00-"+trace+"-"+s["spanId"].(string)+"-01" {
		t.Errorf("the request's span is %v; the door was told %q", s, inside)
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
