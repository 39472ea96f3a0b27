package telemetry

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// span is a span in the terms of OTLP.
type span struct {
	at           messages.Trace // trace id and span id
	parent, name string
	began, ended time.Time
	kind         int // 0 means internal
	attributes   attributes
	failed       bool
	reason       string
}

// serverKind and clientKind are OTLP's SPAN_KIND_SERVER and SPAN_KIND_CLIENT.
const (
	serverKind = 2
	clientKind = 3
)

// newTrace returns the context of a new trace.
func newTrace(id string) messages.Trace {
	return messages.Trace{Parent: "00-" + id + "-" + id[:16] + "-01"}
}

// queued returns a run in its caller's trace, or in its parent's, or in a new one. Span ids are derived from the run's
// id, so that nothing needs to be stored for them.
func queued(e messages.Event, b messages.RunQueued, parent *run) *run {
	r := &run{id: e.RunID, job: b.Job, principal: b.Principal, open: map[string]*span{}}
	r.at = messages.ReadTrace(func(name string) string { return b.Labels[name] })
	if parent != nil && r.at == (messages.Trace{}) {
		r.at = parent.at
	}
	_, caller := r.at.IDs()
	if caller == "" {
		r.at = newTrace(messages.Digest(string(e.RunID))[:32])
	}
	root := r.begin(e, "run", "run", "")
	root.is("invoke_workflow", b.Job)
	root.parent, root.attributes["gen_ai.workflow.name"] = caller, b.Job
	root.attributes["gen_ai.conversation.id"] = b.Labels["context"]
	r.at = root.at
	return r
}

// begin begins the span with the id, and keeps it under the key. Its parent is the task's attempt, or else the run.
func (r *run) begin(e messages.Event, key, id, task string) *span {
	s := &span{at: r.at.Below(messages.SpanID(r.id, id)), began: e.Time, attributes: attributes{"lastword.run_id": string(r.id)}}
	above := r.at
	if attempt := r.open["task "+task]; attempt != nil {
		above = attempt.at
	}
	_, s.parent = above.IDs()
	r.open[key] = s
	return s
}

func (r *run) attempt(e messages.Event, task string, number int) {
	s := r.begin(e, "task "+task, strconv.FormatUint(e.Seq, 10), "")
	s.name, s.attributes["lastword.task"], s.attributes["lastword.attempt"] = "task "+task, task, number
}

// end ends the span under the key and returns it, or nil if there is none.
func (r *run) end(e messages.Event, key string, cause messages.Code, err *messages.Error) *span {
	s := r.open[key]
	if delete(r.open, key); s == nil {
		return nil
	}
	if err != nil {
		cause, s.reason = cmp.Or(cause, err.Code), err.Message
	}
	s.ended, s.failed, s.attributes["error.type"] = e.Time, cause != "", string(cause)
	return s
}

// trace updates the spans for an event. It returns the span that the event has ended, or nil.
func (r *run) trace(e messages.Event) *span {
	switch b := e.Body.(type) {
	case messages.TaskStarted:
		r.attempt(e, b.Task, b.Attempt)
	case messages.TaskRestarted:
		r.attempt(e, b.Task, b.Attempt)
	case messages.LLMStarted:
		r.ask(e, b)
	case messages.ToolStarted:
		s := r.begin(e, "call "+b.Call, b.Call, b.Task)
		s.is("execute_tool", b.Tool)
		s.attributes["gen_ai.tool.name"], s.attributes["gen_ai.tool.call.id"] = b.Tool, b.Call
	case messages.TaskCompleted:
		return r.end(e, "task "+b.Task, "", nil)
	case messages.TaskFailed:
		return r.end(e, "task "+b.Task, b.Cause, b.Error)
	case messages.LLMCompleted:
		return r.end(e, "call "+b.Call, "", b.Error).answered(b)
	case messages.ToolCompleted:
		return r.end(e, "call "+b.Call, "", b.Error)
	case messages.RunCompleted:
		return r.end(e, "run", "", nil)
	case messages.RunFailed:
		return r.end(e, "run", b.Cause, b.Error)
	case messages.RunCanceled:
		return r.end(e, "run", b.Cause, nil)
	}
	return nil
}

// is sets the operation and the name of a span, as the conventions for generative AI demand.
func (s *span) is(operation, name string) {
	s.name, s.attributes["gen_ai.operation.name"] = strings.TrimSpace(operation+" "+name), operation
}

// ask begins the span of a model call. A task's attempt with model calls is shown as an agent.
func (r *run) ask(e messages.Event, b messages.LLMStarted) {
	if attempt := r.open["task "+b.Task]; attempt != nil {
		attempt.is("invoke_agent", r.job)
		attempt.attributes["gen_ai.agent.name"] = r.job
	}
	s := r.begin(e, "call "+b.Call, b.Call, b.Task)
	s.is("chat", b.Model)
	s.kind = clientKind
	s.attributes["gen_ai.request.model"], s.attributes["gen_ai.provider.name"] = b.Model, cmp.Or(providers[b.Provider], "openai")
	s.attributes["server.address"] = b.Provider
	if host, text, err := net.SplitHostPort(b.Provider); err == nil {
		s.attributes["server.address"] = host
		if port, err := strconv.Atoi(text); err == nil {
			s.attributes["server.port"] = port
		}
	}
}

// answered adds the result of a model call to its span, under the names of OpenTelemetry's conventions.
func (s *span) answered(b messages.LLMCompleted) *span {
	if s == nil {
		return nil
	}
	s.attributes["gen_ai.response.model"] = b.Model
	if b.FinishReason != "" {
		s.attributes["gen_ai.response.finish_reasons"] = []string{b.FinishReason}
	}
	if b.FirstTokenMS > 0 {
		s.attributes["gen_ai.response.time_to_first_chunk"] = float64(b.FirstTokenMS) / 1000
	}
	if u := b.Usage; u != nil {
		for name, count := range map[string]*int64{"input_tokens": u.PromptTokens, "output_tokens": u.CompletionTokens,
			"reasoning.output_tokens": u.ReasoningTokens, "cache_read.input_tokens": u.CachedTokens} {
			if count != nil {
				s.attributes["gen_ai.usage."+name] = *count
			}
		}
	}
	return s
}

// providers are the names of providers in the conventions, by host. Others are named after the API's format, which is
// OpenAI's.
var providers = map[string]string{"api.anthropic.com": "anthropic", "generativelanguage.googleapis.com": "gcp.gemini",
	"api.groq.com": "groq", "api.deepseek.com": "deepseek", "api.mistral.ai": "mistral_ai", "api.x.ai": "x_ai",
	"api.perplexity.ai": "perplexity", "api.cohere.com": "cohere"}
