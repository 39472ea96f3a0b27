package agui

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer writes a segment of a run to one client.
type writer struct {
	in     *input
	run    messages.RunID
	stream *door.Stream
	seen   string // the question at whose end the client's segment begins; "" is the beginning
	muted  bool   // the segment has not begun
	open   map[string][]event
	ended  bool
}

type event = map[string]any

// writing is the table of the protocol.
var writing = transcript.Dialect[*writer]{
	Policy:    transcript.Replace,
	Rewind:    (*writer).retract,
	Heartbeat: func(w *writer) { w.stream.WriteString(":\n\n") },
	Refuse: func(w *writer, err error) {
		p := auth.ProblemOf(err)
		w.write(event{"type": "RUN_ERROR", "message": p.Detail, "code": p.Code})
	},
	Table: transcript.Table[*writer]{
		transcript.Run:      {transcript.Open: (*writer).start, transcript.Update: (*writer).update, transcript.End: (*writer).end},
		transcript.Text:     {transcript.Open: (*writer).begin, transcript.Append: (*writer).append, transcript.Done: (*writer).finish},
		transcript.Thought:  {transcript.Open: (*writer).begin, transcript.Append: (*writer).append, transcript.Done: (*writer).finish},
		transcript.Tool:     {transcript.Open: (*writer).call, transcript.Update: (*writer).activity, transcript.Done: (*writer).result},
		transcript.Question: {transcript.Wait: (*writer).wait},
		transcript.Step:     {transcript.Open: (*writer).begin, transcript.Done: (*writer).finish},
		transcript.Child:    {transcript.Open: (*writer).begin, transcript.Done: (*writer).childEnded},
		transcript.Artifact: {transcript.Open: (*writer).activity, transcript.Update: (*writer).activity},
		transcript.Progress: {transcript.Open: (*writer).activity, transcript.Update: (*writer).activity},
	},
}

// old says that the client is older than 1.0.
func (w *writer) old() bool { return w.in.Protocol == "" }

func (w *writer) write(e any) {
	if w.muted || w.ended {
		return
	}
	w.stream.Event("", "", e)
}

// id is the item's id in its thread, where other runs have items of the same names.
func (w *writer) id(name string) string { return string(w.run) + "." + name }

func (w *writer) start(op *transcript.Op) {
	w.open = map[string][]event{}
	e := event{"type": "RUN_STARTED", "threadId": w.in.Thread, "runId": w.in.Run}
	if !w.old() {
		e["protocolVersion"] = "1.0"
	}
	w.write(e)
	w.state(op, messages.Processing)
	if slices.ContainsFunc(w.in.Messages, w.own) { // it comes again
		w.write(event{"type": "MESSAGES_SNAPSHOT", "messages": w.messages(op.Run)})
	}
}

// own reports whether a message of the client is one of this run.
func (w *writer) own(raw json.RawMessage) bool {
	var m struct{ ID string }
	return json.Unmarshal(raw, &m) == nil && strings.HasPrefix(m.ID, w.id(""))
}

// state writes the run's state beside what the client has in its own.
func (w *writer) state(op *transcript.Op, status messages.Status) {
	state := event{}
	for name, value := range w.in.State {
		state[name] = value
	}
	state["lastword"] = event{"run_id": w.run, "job": op.Run.Queued.Job, "status": status}
	w.write(event{"type": "STATE_SNAPSHOT", "snapshot": state})
}

// begin begins an item that has an end, unless it is open.
func (w *writer) begin(op *transcript.Op) {
	id := w.id(op.ID)
	key := op.Item.Kind.String() + id
	if w.muted || w.open[key] != nil {
		return
	}
	switch op.Item.Kind {
	case transcript.Text:
		w.open[key] = []event{{"type": "TEXT_MESSAGE_END", "messageId": id}}
		w.write(event{"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})
	case transcript.Thought:
		w.open[key] = []event{
			{"type": "REASONING_MESSAGE_END", "messageId": id}, {"type": "REASONING_END", "messageId": id},
		}
		w.write(event{"type": "REASONING_START", "messageId": id})
		w.write(event{"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"})
	case transcript.Step:
		w.open[key] = []event{{"type": "STEP_FINISHED", "stepName": op.ID}}
		w.write(event{"type": "STEP_STARTED", "stepName": op.ID})
	case transcript.Child:
		if w.old() {
			w.activity(op)
			return
		}
		b := op.Item.Opened.(messages.ChildStarted)
		w.open[key] = []event{{"type": "SUBAGENT_FINISHED", "subagentRunId": b.Child}}
		w.write(event{"type": "SUBAGENT_STARTED", "subagentRunId": b.Child, "name": cmp.Or(b.Name, b.Job)})
	}
}

// content is the event that there are most of.
type content struct {
	Type    string `json:"type"`
	Message string `json:"messageId"`
	Delta   string `json:"delta"`
}

func (w *writer) append(op *transcript.Op) {
	w.begin(op) // it may have begun in an earlier segment
	kind := "TEXT_MESSAGE_CONTENT"
	if op.Item.Kind == transcript.Thought {
		kind = "REASONING_MESSAGE_CONTENT"
	}
	w.write(&content{kind, w.id(op.ID), op.Text})
}

func (w *writer) finish(op *transcript.Op) { w.close(op.Item.Kind.String() + w.id(op.ID)) }

func (w *writer) close(key string) {
	for _, e := range w.open[key] {
		w.write(e)
	}
	delete(w.open, key)
}

// closeAll closes what is open: a run must not end before.
func (w *writer) closeAll() {
	for _, key := range slices.Sorted(maps.Keys(w.open)) {
		w.close(key)
	}
}

func (w *writer) childEnded(op *transcript.Op) {
	b, _ := op.Item.Latest.(messages.ChildEnded)
	if w.old() {
		w.activity(op)
		return
	}
	w.begin(op)
	if key := op.Item.Kind.String() + w.id(op.ID); b.Status != messages.Completed && w.open[key] != nil {
		w.open[key] = []event{{"type": "SUBAGENT_ERROR", "subagentRunId": op.Item.Name,
			"message": string(b.Status) + " " + string(b.Cause)}}
	}
	w.finish(op)
}

func (w *writer) call(op *transcript.Op) {
	b := op.Item.Opened.(messages.ToolStarted)
	id := w.id(op.ID)
	w.write(event{"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": b.Tool})
	w.write(event{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": cmp.Or(string(b.Arguments), "{}")})
	w.write(event{"type": "TOOL_CALL_END", "toolCallId": id})
}

func (w *writer) result(op *transcript.Op) {
	w.write(event{"type": "TOOL_CALL_RESULT", "messageId": w.id(op.ID) + ".result", "toolCallId": w.id(op.ID),
		"role": "tool", "content": resultOf(op.Item)})
}

// resultOf is what a call gave, as a text.
func resultOf(call *transcript.Item) string {
	b, _ := call.Latest.(messages.ToolCompleted)
	text := ""
	switch {
	case call.Cut:
		return "error: the call has no result"
	case b.Error != nil:
		return "error: " + b.Error.Message
	case json.Unmarshal(b.Result, &text) == nil:
		return text
	}
	return string(b.Result)
}

// activity writes the newest that is known of an item; it takes the place of what was known.
func (w *writer) activity(op *transcript.Op) {
	w.write(event{"type": "ACTIVITY_SNAPSHOT", "messageId": w.id(op.Item.Kind.String() + "." + op.ID),
		"activityType": "lastword." + op.Item.Kind.String(), "content": op.Item.Latest, "replace": true})
}

// update writes what concerns the run or a task.
func (w *writer) update(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.Log:
		w.write(event{"type": "CUSTOM", "name": "lastword.log", "value": b})
	case messages.TaskStarted, messages.TaskCompleted, messages.TaskFailed, messages.TaskRestarted,
		messages.LLMCompleted:
		w.write(event{"type": "CUSTOM", "name": "lastword." + string(op.Event.Kind()), "value": b})
	}
}

// retract takes something back.
func (w *writer) retract(op *transcript.Op) {
	if op.Item.Kind != transcript.Text && op.Item.Kind != transcript.Thought {
		w.write(event{"type": "ACTIVITY_SNAPSHOT", "messageId": w.id(op.Item.Kind.String() + "." + op.ID),
			"activityType": "lastword." + op.Item.Kind.String(), "content": event{"gone": true}, "replace": true})
		return
	}
	if op.Gone {
		w.close(op.Item.Kind.String() + w.id(op.ID))
	}
	w.write(event{"type": "MESSAGES_SNAPSHOT", "messages": w.messages(op.Run)})
}

// messages are all messages of the thread: those that the client sent, with this run's as they are now.
func (w *writer) messages(run *transcript.Transcript) []any {
	all := []any{}
	for _, raw := range w.in.Messages {
		if !w.own(raw) {
			all = append(all, raw)
		}
	}
	for _, item := range run.Items() {
		id := w.id(item.ID)
		switch item.Kind {
		case transcript.Text:
			all = append(all, event{"id": id, "role": "assistant", "content": item.Text()})
		case transcript.Thought:
			all = append(all, event{"id": id, "role": "reasoning", "content": item.Text()})
		case transcript.Tool:
			b := item.Opened.(messages.ToolStarted)
			all = append(all, event{"id": id, "role": "assistant", "toolCalls": []any{event{"id": id, "type": "function",
				"function": event{"name": b.Tool, "arguments": cmp.Or(string(b.Arguments), "{}")}}}})
			if item.Closed {
				all = append(all, event{"id": id + ".result", "role": "tool", "toolCallId": id, "content": resultOf(item)})
			}
		}
	}
	return all
}

// wait ends the segment with an interrupt, or comes before it.
func (w *writer) wait(op *transcript.Op) {
	if w.muted {
		if w.muted = op.Item.Name != w.seen; !w.muted {
			w.start(op)
		}
		return
	}
	w.closeAll()
	b := op.Item.Opened.(messages.InputRequired)
	reason := "input_required"
	if b.InputKind == messages.InputConfirmation {
		reason = "confirmation"
	}
	one := event{"id": b.Request, "reason": reason, "message": b.Prompt}
	if len(b.Schema) > 0 {
		one["responseSchema"] = b.Schema
	}
	w.state(op, messages.Processing)
	w.over(event{"outcome": event{"type": "interrupt", "interrupts": []any{one}}})
}

// over writes the terminal.
func (w *writer) over(e event) {
	if e["type"] == nil {
		e["type"], e["threadId"], e["runId"] = "RUN_FINISHED", w.in.Thread, w.in.Run
	}
	w.write(e)
	w.ended = true
}

func (w *writer) end(op *transcript.Op) {
	if w.muted {
		w.muted = false
		w.start(op)
	}
	w.closeAll()
	switch b := op.Event.Body.(type) {
	case messages.RunFailed:
		w.state(op, messages.Failed)
		w.over(event{"type": "RUN_ERROR", "message": b.Error.Message, "code": b.Cause})
	case messages.RunCanceled:
		w.state(op, messages.Canceled)
		if w.old() {
			w.over(event{"type": "RUN_ERROR", "message": "the run was canceled: " + string(b.Cause), "code": "canceled"})
			return
		}
		w.over(event{"outcome": event{"type": "cancelled"}})
	case messages.RunCompleted:
		w.state(op, messages.Completed)
		e := event{"outcome": event{"type": "success"}}
		if len(b.Result) > 0 {
			e["result"] = b.Result
		}
		w.over(e)
	}
}
