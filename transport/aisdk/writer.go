package aisdk

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer writes a run to one client. A segment of the run is a step of the message.
type writer struct {
	stream *door.Stream
	// state is that of the run when the client came.
	state messages.State
	// seen is the question at whose end the client's part of the message ends; "" where it has none.
	seen   string
	muted  bool              // the client has this already
	resets bool              // the client knows reset-step
	open   map[string]fields // what ends each open text and thought
	tasks  map[string]fields // the newest of each task in this step
	ended  bool
}

type fields = map[string]any

// retracted is the type of a part that names a text or a thought that was taken back.
const retracted = "data-retracted"

var (
	supersede = transcript.Dialect[*writer]{Policy: transcript.Supersede, Rewind: (*writer).retract, Heartbeat: heartbeat,
		Refuse: refuse}
	reset = transcript.Dialect[*writer]{Policy: transcript.Replay, Rewind: (*writer).retract, Heartbeat: heartbeat,
		Refuse: refuse}
)

func init() {
	supersede.Table = transcript.Table[*writer]{
		transcript.Run:      {transcript.Open: (*writer).start, transcript.Update: (*writer).update, transcript.End: (*writer).end},
		transcript.Text:     {transcript.Open: (*writer).openText, transcript.Append: (*writer).append, transcript.Done: (*writer).closeText},
		transcript.Thought:  {transcript.Open: (*writer).openText, transcript.Append: (*writer).append, transcript.Done: (*writer).closeText},
		transcript.Tool:     {transcript.Open: (*writer).call, transcript.Update: (*writer).data, transcript.Done: (*writer).result},
		transcript.Question: {transcript.Open: (*writer).ask, transcript.Done: (*writer).answered, transcript.Wait: (*writer).wait},
	}
	for _, kind := range []transcript.Kind{transcript.Progress, transcript.Artifact, transcript.Step, transcript.Child} {
		for _, do := range []transcript.Do{transcript.Open, transcript.Update, transcript.Done} {
			supersede.Table[kind][do] = (*writer).data
		}
	}
	reset.Table = supersede.Table
}

func heartbeat(w *writer) { w.stream.WriteString(":\n\n") }

func refuse(w *writer, err error) {
	w.write(fields{"type": "error", "errorText": auth.ProblemOf(err).Detail})
}

// write writes a chunk, unless the client has it.
func (w *writer) write(chunk any) {
	if w.muted || w.ended {
		return
	}
	w.stream.Event("", "", chunk)
}

// close ends the answer.
func (w *writer) close() {
	w.stream.WriteString("data: [DONE]\n\n")
	w.ended = true
}

// start begins the message: a client that has it begins it anew, or goes on with its next step.
func (w *writer) start(*transcript.Op) {
	run := w.state.RunID
	w.write(fields{"type": "start", "messageId": run, "messageMetadata": fields{"run": run}})
	w.step()
}

func (w *writer) step() {
	w.open, w.tasks = map[string]fields{}, map[string]fields{}
	w.write(fields{"type": "start-step"})
}

// form is how texts or thoughts are named.
func form(op *transcript.Op) string {
	if op.Item.Kind == transcript.Thought {
		return "reasoning"
	}
	return "text"
}

func (w *writer) openText(op *transcript.Op) {
	if id := form(op) + op.ID; w.open[id] == nil && !w.muted {
		w.open[id] = fields{"type": form(op) + "-end", "id": op.ID}
		w.write(fields{"type": form(op) + "-start", "id": op.ID,
			"providerMetadata": fields{"lastword": fields{"id": op.ID}}})
	}
}

// delta is the chunk that there are most of.
type delta struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Delta string `json:"delta"`
}

func (w *writer) append(op *transcript.Op) {
	w.openText(op) // it may have begun in an earlier step
	w.write(&delta{form(op) + "-delta", op.ID, op.Text})
}

func (w *writer) closeText(op *transcript.Op) { w.finish(form(op) + op.ID) }

func (w *writer) finish(id string) {
	if end := w.open[id]; end != nil {
		delete(w.open, id)
		w.write(end)
	}
}

// endStep closes what is open: a step must end so.
func (w *writer) endStep() {
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		w.finish(id)
	}
	w.write(fields{"type": "finish-step"})
}

// retract takes something back.
func (w *writer) retract(op *transcript.Op) {
	switch {
	case w.resets && op.Item.Segment == op.Run.Segment: // all of the step comes again
		clear(w.open)
		w.write(fields{"type": "reset-step"})
		for _, name := range slices.Sorted(maps.Keys(w.tasks)) {
			w.write(w.tasks[name])
		}
	case op.Item.Kind == transcript.Artifact || op.Item.Kind == transcript.Progress:
		w.write(fields{"type": "data-" + op.Item.Kind.String(), "id": op.ID, "data": fields{"gone": true}})
	default:
		w.finish(form(op) + op.ID)
		w.write(fields{"type": retracted, "id": form(op) + op.ID, "data": fields{"type": form(op), "id": op.ID}})
	}
}

// call begins a call of a tool that the server runs itself.
func (w *writer) call(op *transcript.Op) {
	b := op.Item.Opened.(messages.ToolStarted)
	input := b.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	w.write(fields{"type": "tool-input-available", "toolCallId": op.ID, "toolName": b.Tool, "input": input,
		"dynamic": true, "providerExecuted": true})
}

func (w *writer) result(op *transcript.Op) {
	b, _ := op.Item.Latest.(messages.ToolCompleted)
	chunk := fields{"type": "tool-output-available", "toolCallId": op.ID, "output": b.Result, "dynamic": true,
		"providerExecuted": true}
	switch {
	case op.Cut:
		chunk["type"], chunk["errorText"] = "tool-output-error", "the call has no result"
	case b.Error != nil:
		chunk["type"], chunk["errorText"] = "tool-output-error", b.Error.Message
	case len(b.Result) == 0:
		chunk["output"] = nil
	}
	if chunk["errorText"] != nil {
		delete(chunk, "output")
	}
	w.write(chunk)
}

// ask calls the client's tool.
func (w *writer) ask(op *transcript.Op) {
	b := op.Item.Opened.(messages.InputRequired)
	input := fields{"prompt": b.Prompt}
	if len(b.Schema) > 0 {
		input["schema"] = b.Schema
	}
	w.write(fields{"type": "tool-input-available", "toolCallId": b.Request, "toolName": "ask", "input": input,
		"dynamic": true})
	var schema struct{ Type any }
	if json.Unmarshal(b.Schema, &schema) == nil && schema.Type == "boolean" {
		w.write(fields{"type": "tool-approval-request", "approvalId": b.Request, "toolCallId": b.Request})
	}
}

// answered says what the answer was, which a secret's is not.
func (w *writer) answered(op *transcript.Op) {
	if b, ok := op.Item.Latest.(messages.InputReceived); ok && !op.Cut {
		value := b.Value
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		w.write(fields{"type": "tool-output-available", "toolCallId": b.Request, "output": value, "dynamic": true})
	}
}

// wait ends the step, and the answer unless the run has gone on.
func (w *writer) wait(op *transcript.Op) {
	if w.muted {
		if w.muted = op.Item.Name != w.seen; !w.muted {
			w.start(op)
		}
		return
	}
	w.endStep()
	closed := func(in messages.Input) bool { return in.Request == op.Item.Name && in.Closed }
	if w.state.Status.IsEnded() || slices.ContainsFunc(w.state.Inputs, closed) {
		w.step()
		return
	}
	w.write(fields{"type": "finish", "finishReason": "tool-calls"})
	w.close()
}

// data writes the newest that is known of an item; it takes the place of what was known.
func (w *writer) data(op *transcript.Op) {
	w.write(fields{"type": "data-" + op.Item.Kind.String(), "id": op.ID, "data": op.Item.Latest})
}

// update writes what concerns the run or a task.
func (w *writer) update(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.TaskStarted:
		w.task(b.Task, op)
	case messages.TaskCompleted:
		w.task(b.Task, op)
	case messages.TaskFailed:
		w.task(b.Task, op)
	case messages.TaskRestarted:
		w.task(b.Task, op)
	case messages.Log:
		w.write(fields{"type": "data-log", "data": b, "transient": true})
	case messages.LLMCompleted:
		w.write(fields{"type": "message-metadata", "messageMetadata": fields{"model": b.Model, "usage": b.Usage}})
	}
}

func (w *writer) task(name string, op *transcript.Op) {
	if w.muted {
		return
	}
	w.tasks[name] = fields{"type": "data-task", "id": name,
		"data": fields{"event": op.Event.Kind(), "task": op.Event.Body}}
	w.write(w.tasks[name])
}

func (w *writer) end(op *transcript.Op) {
	if w.muted { // the question is none of the run's
		w.muted = false
		w.start(op)
	}
	w.endStep()
	switch b := op.Event.Body.(type) {
	case messages.RunFailed:
		w.write(fields{"type": "error", "errorText": string(b.Cause) + ": " + b.Error.Message})
	case messages.RunCanceled:
		w.write(fields{"type": "data-end", "id": "end", "data": fields{"status": messages.Canceled, "cause": b.Cause}})
		w.write(fields{"type": "abort", "reason": b.Cause})
	default:
		w.write(fields{"type": "finish", "finishReason": "stop"})
	}
	w.close()
}
