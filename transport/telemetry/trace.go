package telemetry

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// traceContext is the trace that a run belongs to. Ids follow from the run's id, so that nothing is kept for them.
type traceContext struct {
	trace  string // 32 hexadecimal digits
	parent string // the span that started the run, or ""
	root   string // the run's own span
}

func traceOf(id messages.RunID, queued messages.RunQueued) traceContext {
	t := traceContext{trace: traceID(id), root: messages.SpanID(id, "run")}
	if trace, parent, ok := messages.ParseTraceparent(queued.Labels[messages.TraceLabel]); ok {
		t.trace, t.parent = trace, parent
	} else if queued.Parent != "" {
		root, _, _ := strings.Cut(string(id), ".")
		t.trace, t.parent = traceID(messages.RunID(root)), messages.SpanID(queued.Parent, "run")
	}
	return t
}

func traceID(id messages.RunID) string { return messages.Digest(string(id))[:32] }

// trace makes spans of what ends with the event.
func (x *exporter) trace(r *run, e messages.Event) {
	switch b := e.Body.(type) {
	case messages.TaskStarted:
		r.open["task "+b.Task] = e
	case messages.TaskRestarted:
		r.open["task "+b.Task] = e
	case messages.LLMStarted:
		r.open["chat "+b.Call] = e
	case messages.ToolStarted:
		r.open["execute_tool "+b.Call] = e
	case messages.TaskCompleted:
		x.endSpan(r, e, "task "+b.Task, "task "+b.Task, "", attribute{"lastword.attempt", strconv.Itoa(b.Attempt)})
	case messages.TaskFailed:
		x.endSpan(r, e, "task "+b.Task, "task "+b.Task, reason(b.Error), attribute{"lastword.attempt", strconv.Itoa(b.Attempt)},
			attribute{"lastword.cause", string(b.Cause)})
	case messages.LLMCompleted:
		list := []attribute{{"gen_ai.operation.name", "chat"}, {"gen_ai.request.model", b.Model},
			{"gen_ai.response.finish_reasons", b.FinishReason}}
		if b.Usage != nil {
			list = append(list, attribute{"gen_ai.usage.input_tokens", strconv.FormatInt(b.Usage.PromptTokens, 10)},
				attribute{"gen_ai.usage.output_tokens", strconv.FormatInt(b.Usage.CompletionTokens, 10)})
		}
		x.endSpan(r, e, "chat "+b.Call, "chat "+b.Model, reason(b.Error), list...)
	case messages.ToolCompleted:
		name := b.Call
		if began, ok := r.open["execute_tool "+b.Call].Body.(messages.ToolStarted); ok {
			name = began.Tool
		}
		x.endSpan(r, e, "execute_tool "+b.Call, "execute_tool "+name, reason(b.Error), attribute{"gen_ai.tool.name", name})
	case messages.RunCompleted:
		x.end(r, e, "", "")
	case messages.RunFailed:
		x.end(r, e, b.Cause, reason(b.Error))
	case messages.RunCanceled:
		x.end(r, e, b.Cause, "canceled")
	}
}

func reason(e *messages.Error) string {
	if e == nil {
		return ""
	}
	return e.Message
}

// endSpan ends the span that began under the key.
func (x *exporter) endSpan(r *run, e messages.Event, key, name, failure string, list ...attribute) {
	began, ok := r.open[key]
	if !ok {
		return
	}
	delete(r.open, key)
	parent := r.trace.root
	if task := taskOf(began.Body); task != "" && !strings.HasPrefix(key, "task ") {
		if attempt, ok := r.open["task "+task]; ok {
			parent = messages.SpanID(e.RunID, strconv.FormatUint(attempt.Seq, 10))
		}
	}
	x.send(span{Trace: r.trace.trace, ID: messages.SpanID(e.RunID, strconv.FormatUint(began.Seq, 10)), Parent: parent, Name: name,
		began: began.Time, ended: e.Time, failure: failure, attributes: append(list, attribute{"lastword.run_id", string(e.RunID)})})
}

func taskOf(b messages.Body) string {
	switch b := b.(type) {
	case messages.LLMStarted:
		return b.Task
	case messages.ToolStarted:
		return b.Task
	}
	return ""
}

func (x *exporter) end(r *run, e messages.Event, cause messages.Code, failure string) {
	x.send(span{Trace: r.trace.trace, ID: r.trace.root, Parent: r.trace.parent, Name: "run " + r.job, began: r.queued,
		ended: e.Time, failure: failure, attributes: []attribute{{"lastword.run_id", string(e.RunID)}, {"lastword.job", r.job},
			{"lastword.cause", string(cause)}}})
}

// span is one span as OTLP has it.
type span struct {
	Trace, ID, Parent, Name string
	began, ended            time.Time
	failure                 string
	kind                    int // 0 is internal
	attributes              []attribute
}

// serverKind is SPAN_KIND_SERVER of OTLP.
const serverKind = 2

type attribute struct{ key, value string }
