package agui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer writes a part of a run to one client.
type writer struct {
	door.SegmentWriter
	in *input
}

type event = map[string]any

// writing is the dialect of the protocol.
var writing = transcript.Dialect[*writer]{
	Policy: transcript.Replace,
	Rewind: (*writer).retract,
	Refuse: func(w *writer, err error) { w.write(failure(door.Unread(err))) },
	Table: transcript.Table[*writer]{
		transcript.Run:      {transcript.Open: (*writer).start, transcript.Update: (*writer).update, transcript.End: (*writer).end},
		transcript.Text:     {transcript.Open: (*writer).begin, transcript.Append: (*writer).append, transcript.Done: (*writer).End},
		transcript.Thought:  {transcript.Open: (*writer).begin, transcript.Append: (*writer).append, transcript.Done: (*writer).End},
		transcript.Tool:     {transcript.Open: (*writer).call, transcript.Update: (*writer).activity, transcript.Done: (*writer).result},
		transcript.Question: {transcript.Wait: (*writer).wait},
		transcript.Step:     {transcript.Open: (*writer).begin, transcript.Done: (*writer).End},
		transcript.Child:    {transcript.Open: (*writer).begin, transcript.Done: (*writer).childEnded},
		transcript.Artifact: {transcript.Open: (*writer).activity, transcript.Update: (*writer).activity},
		transcript.Progress: {transcript.Open: (*writer).activity, transcript.Update: (*writer).activity},
		transcript.Notice:   {transcript.Open: (*writer).activity},
	},
}

// old reports whether the client is older than 1.0.
func (w *writer) old() bool { return w.in.Protocol == "" }

func (w *writer) write(e any) { w.Frame("", e) }

// id returns the item's id within its thread, where other runs may have items with the same name.
func (w *writer) id(name string) string { return string(w.Run) + "." + name }

// start opens the stream. If the client repeats a request, it gets the messages so far as a snapshot instead of twice.
func (w *writer) start(op *transcript.Op) {
	e := event{"type": "RUN_STARTED", "threadId": w.in.Thread, "runId": w.in.Run}
	if !w.old() {
		e["protocolVersion"] = "1.0"
	}
	w.write(e)
	w.state(op, messages.Processing)
	if slices.ContainsFunc(w.in.Messages, w.own) { // the request is repeated
		w.write(event{"type": "MESSAGES_SNAPSHOT", "messages": w.messages(op.Run)})
	}
}

// own reports whether a message from the client belongs to this run.
func (w *writer) own(raw json.RawMessage) bool {
	var m struct{ ID string }
	return json.Unmarshal(raw, &m) == nil && strings.HasPrefix(m.ID, w.id(""))
}

// state writes the run's state, in addition to the client's own state.
func (w *writer) state(op *transcript.Op, status messages.Status) {
	state := event{}
	for name, value := range w.in.State {
		state[name] = value
	}
	own := event{"run_id": w.Run, "job": op.Run.Queued.Job, "status": status}
	if status == messages.Completed {
		own["finish_reason"] = op.Run.Ending().Reason
	}
	state["lastword"] = own
	w.write(event{"type": "STATE_SNAPSHOT", "snapshot": state})
}

// begin begins an item that has an end event, unless it is open.
func (w *writer) begin(op *transcript.Op) {
	if w.Begun(op) {
		return
	}
	switch id := w.id(op.ID); op.Item.Kind {
	case transcript.Text:
		w.Begin(op, event{"type": "TEXT_MESSAGE_END", "messageId": id})
		w.write(event{"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant", "metadata": event{"mediaType": op.Item.MediaType}})
	case transcript.Thought:
		w.Begin(op, event{"type": "REASONING_MESSAGE_END", "messageId": id}, event{"type": "REASONING_END", "messageId": id})
		w.write(event{"type": "REASONING_START", "messageId": id})
		w.write(event{"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"})
	case transcript.Step:
		w.Begin(op, event{"type": "STEP_FINISHED", "stepName": op.ID})
		w.write(event{"type": "STEP_STARTED", "stepName": op.ID})
	case transcript.Child:
		if w.old() {
			w.activity(op)
			return
		}
		b := op.Item.Opened.(messages.ChildStarted)
		w.Begin(op, event{"type": "SUBAGENT_FINISHED", "subagentRunId": b.Child})
		w.write(event{"type": "SUBAGENT_STARTED", "subagentRunId": b.Child, "name": cmp.Or(b.Name, b.Job)})
	}
}

// content is the most frequent event.
type content struct {
	Type    string `json:"type"`
	Message string `json:"messageId"`
	Delta   string `json:"delta"`
}

// append writes a piece of text or of a thought.
func (w *writer) append(op *transcript.Op) {
	w.begin(op) // it may have begun in an earlier segment
	kind := "TEXT_MESSAGE_CONTENT"
	if op.Item.Kind == transcript.Thought {
		kind = "REASONING_MESSAGE_CONTENT"
	}
	w.write(&content{kind, w.id(op.ID), op.Text})
}

// childEnded closes a sub-agent's messages. Clients older than 1.0 know no sub-agents, so they get an activity.
func (w *writer) childEnded(op *transcript.Op) {
	b, _ := op.Item.Latest.(messages.ChildEnded)
	if w.old() {
		w.activity(op)
		return
	}
	w.begin(op)
	if b.Status != messages.Completed {
		w.Begin(op, event{"type": "SUBAGENT_ERROR", "subagentRunId": op.Item.Name, "message": string(b.Status) + " " + string(b.Cause)})
	}
	w.End(op)
}

// call writes a call at once, because the log has calls only when they are complete.
func (w *writer) call(op *transcript.Op) {
	tool, arguments := op.Item.Call()
	w.calls(w.id(op.ID), tool, string(arguments))
}

func (w *writer) calls(id, tool, arguments string) {
	w.write(event{"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": tool})
	w.write(event{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": arguments})
	w.write(event{"type": "TOOL_CALL_END", "toolCallId": id})
}

func (w *writer) result(op *transcript.Op) {
	w.write(event{"type": "TOOL_CALL_RESULT", "messageId": w.id(op.ID) + ".result", "toolCallId": w.id(op.ID),
		"role": "tool", "content": resultOf(op.Item)})
}

// resultOf returns the result of a call as text.
func resultOf(call *transcript.Item) string {
	result, failed := call.Result()
	if failed != "" {
		return "error: " + failed
	}
	return messages.Plain(result)
}

// activity writes the newest state of an item, which replaces earlier ones.
func (w *writer) activity(op *transcript.Op) { w.latest(op, op.Item.Latest) }

// latest writes an activity, which replaces the earlier one of the same item.
func (w *writer) latest(op *transcript.Op, content any) {
	kind := op.Item.Kind.String()
	w.write(event{"type": "ACTIVITY_SNAPSHOT", "messageId": w.id(kind + "." + op.ID), "activityType": "lastword." + kind,
		"content": content, "replace": true})
}

// update writes events that concern the run or a task.
func (w *writer) update(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.Log:
		w.write(event{"type": "CUSTOM", "name": "lastword.log", "value": b})
	case messages.TaskStarted, messages.TaskCompleted, messages.TaskFailed, messages.TaskRestarted, messages.LLMCompleted, messages.UsageReported:
		w.write(event{"type": "CUSTOM", "name": "lastword." + string(op.Event.Kind()), "value": b})
	}
}

// retract writes that something was taken back.
func (w *writer) retract(op *transcript.Op) {
	if op.Item.Kind != transcript.Text && op.Item.Kind != transcript.Thought {
		w.latest(op, event{"gone": true})
		return
	}
	if op.Gone {
		w.End(op)
	}
	w.write(event{"type": "MESSAGES_SNAPSHOT", "messages": w.messages(op.Run)})
}

// messages returns all messages of the thread: those that the client has sent, and this run's as they are now.
func (w *writer) messages(run *transcript.Transcript) []json.RawMessage {
	all := slices.DeleteFunc(append([]json.RawMessage{}, w.in.Messages...), w.own)
	add := func(message event) { all = append(all, door.JSON(message)) }
	for _, item := range run.Items() {
		id := w.id(item.ID)
		switch item.Kind {
		case transcript.Text:
			add(event{"id": id, "role": "assistant", "content": item.Text(), "metadata": event{"mediaType": item.MediaType}})
		case transcript.Thought:
			add(event{"id": id, "role": "reasoning", "content": item.Text()})
		case transcript.Tool:
			tool, arguments := item.Call()
			add(event{"id": id, "role": "assistant", "toolCalls": []any{event{"id": id, "type": "function",
				"function": event{"name": tool, "arguments": string(arguments)}}}})
			if item.Closed {
				add(event{"id": id + ".result", "role": "tool", "toolCallId": id, "content": resultOf(item)})
			}
		}
	}
	return all
}

// wait ends the part with an interrupt.
func (w *writer) wait(op *transcript.Op) {
	b := op.Item.Asked()
	one := event{"id": b.Request, "reason": "input_required", "message": b.Prompt}
	if b.InputKind == messages.InputConfirmation {
		one["reason"] = "confirmation"
	}
	if len(b.Schema) > 0 {
		one["responseSchema"] = b.Schema
	}
	w.over(op, messages.Processing, event{"outcome": event{"type": "interrupt", "interrupts": []any{one}}})
}

// over closes the open items and writes the last events.
func (w *writer) over(op *transcript.Op, status messages.Status, e event) {
	w.EndAll()
	w.state(op, status)
	if e["type"] == nil {
		e["type"], e["threadId"], e["runId"] = "RUN_FINISHED", w.in.Thread, w.in.Run
	}
	w.write(e)
	w.Over = true
}

// end writes the outcome. Clients older than 1.0 know only success and failure.
func (w *writer) end(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunCompleted:
		e := event{"outcome": event{"type": "success"}}
		if len(b.Result) > 0 {
			e["result"] = b.Result
		}
		for _, c := range door.Calls(b.Result) { // the client answers them in its next run
			w.calls(c.ID, c.Name, c.Arguments)
		}
		w.over(op, messages.Completed, e)
	case messages.RunFailed:
		w.over(op, messages.Failed, failure(door.Failure(b)))
	case messages.RunCanceled:
		e := event{"outcome": event{"type": "cancelled"}}
		if w.old() {
			e = failure(door.Failure(b))
		}
		w.over(op, messages.Canceled, e)
	}
}

func failure(why *door.Reason) event {
	e := event{"type": "RUN_ERROR", "message": why.Message, "code": why.Code}
	if why.Provider != nil {
		e["rawEvent"] = why
	}
	return e
}
