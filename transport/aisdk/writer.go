package aisdk

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer writes a run to one client. Each segment of the run is a step of the message.
type writer struct {
	door.SegmentWriter
	resets bool              // the client understands reset-step
	tasks  map[string]fields // the newest chunk of each task in this step
}

type fields = map[string]any

// retracted is the type of the part that identifies a text or thought that was taken back.
const retracted = "data-retracted"

var (
	table = transcript.Table[*writer]{
		transcript.Run:      {transcript.Open: (*writer).start, transcript.Update: (*writer).update, transcript.End: (*writer).end},
		transcript.Text:     {transcript.Open: (*writer).openText, transcript.Append: (*writer).append, transcript.Done: (*writer).End},
		transcript.Thought:  {transcript.Open: (*writer).openText, transcript.Append: (*writer).append, transcript.Done: (*writer).End},
		transcript.Tool:     {transcript.Open: (*writer).call, transcript.Update: (*writer).data, transcript.Done: (*writer).result},
		transcript.Question: {transcript.Open: (*writer).ask, transcript.Done: (*writer).answered, transcript.Wait: (*writer).wait},
		transcript.Progress: latest, transcript.Artifact: latest, transcript.Step: latest, transcript.Child: latest, transcript.Notice: latest,
	}
	latest    = transcript.Each((*writer).data)[transcript.Progress]
	supersede = transcript.Dialect[*writer]{Policy: transcript.Supersede, Table: table, Rewind: (*writer).retract, Refuse: refuse}
	reset     = transcript.Dialect[*writer]{Policy: transcript.Replay, Table: table, Rewind: (*writer).retract, Refuse: refuse}
)

func refuse(w *writer, err error) {
	w.write(fields{"type": "error", "errorText": door.Unread(err).Message})
}

func (w *writer) write(chunk any) { w.Frame("", chunk) }

// close ends the response.
func (w *writer) close() {
	_, _ = w.Out.WriteString("data: [DONE]\n\n") // Flush reports the error
	w.Over = true
}

// start begins the message. A client that has it already begins it again, or continues with its next step.
func (w *writer) start(*transcript.Op) {
	w.write(fields{"type": "start", "messageId": w.Run, "messageMetadata": fields{"run": w.Run}})
	w.step()
}

func (w *writer) step() {
	w.tasks = map[string]fields{}
	w.write(fields{"type": "start-step"})
}

// form returns the prefix of the chunk types for texts or thoughts.
func form(op *transcript.Op) string {
	if op.Item.Kind == transcript.Thought {
		return "reasoning"
	}
	return "text"
}

// openText begins a text or a thought, unless that has begun already.
func (w *writer) openText(op *transcript.Op) {
	if !w.Begun(op) {
		w.Begin(op, fields{"type": form(op) + "-end", "id": op.ID})
		about := fields{"id": op.ID}
		if op.Item.Kind == transcript.Text {
			about["mediaType"] = op.Item.MediaType
		}
		w.write(fields{"type": form(op) + "-start", "id": op.ID, "providerMetadata": fields{"lastword": about}})
	}
}

// delta is the most frequent chunk.
type delta struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Delta string `json:"delta"`
}

func (w *writer) append(op *transcript.Op) {
	w.openText(op) // it may have begun in an earlier step
	w.write(&delta{form(op) + "-delta", op.ID, op.Text})
}

// endStep closes the open items and ends the step.
func (w *writer) endStep() {
	w.EndAll()
	w.write(fields{"type": "finish-step"})
}

// retract writes that something was taken back.
func (w *writer) retract(op *transcript.Op) {
	switch {
	case w.resets && op.Item.Segment == op.Run.Segment: // the whole step is written again
		w.DiscardAll()
		w.write(fields{"type": "reset-step"})
		for _, name := range slices.Sorted(maps.Keys(w.tasks)) {
			w.write(w.tasks[name])
		}
	case op.Item.Kind == transcript.Artifact || op.Item.Kind == transcript.Progress:
		w.write(fields{"type": "data-" + op.Item.Kind.String(), "id": op.ID, "data": fields{"gone": true}})
	default:
		w.End(op)
		w.write(fields{"type": retracted, "id": form(op) + op.ID, "data": fields{"type": form(op), "id": op.ID}})
	}
}

// call writes a tool call that the server itself executes.
func (w *writer) call(op *transcript.Op) {
	tool, arguments := op.Item.Call()
	w.write(fields{"type": "tool-input-available", "toolCallId": op.ID, "toolName": tool, "input": arguments,
		"dynamic": true, "providerExecuted": true})
}

// result writes the outcome of a tool call. The stream goes on after a failed call.
func (w *writer) result(op *transcript.Op) {
	chunk := fields{"type": "tool-output-available", "toolCallId": op.ID, "dynamic": true, "providerExecuted": true}
	if result, failed := op.Item.Result(); failed != "" {
		chunk["type"], chunk["errorText"] = "tool-output-error", failed
	} else {
		chunk["output"] = result
	}
	w.write(chunk)
}

// ask writes a question as a call of the client's tool.
func (w *writer) ask(op *transcript.Op) {
	b := op.Item.Asked()
	input := fields{"prompt": b.Prompt}
	if len(b.Schema) > 0 {
		input["schema"] = b.Schema
	}
	w.write(fields{"type": "tool-input-available", "toolCallId": b.Request, "toolName": "ask", "input": input, "dynamic": true})
	var schema struct{ Type any }
	if json.Unmarshal(b.Schema, &schema) == nil && schema.Type == "boolean" {
		w.write(fields{"type": "tool-approval-request", "approvalId": b.Request, "toolCallId": b.Request})
	}
}

// answered writes the answer, unless it is a secret.
func (w *writer) answered(op *transcript.Op) {
	if b, ok := op.Item.Latest.(messages.InputReceived); ok && !op.Cut {
		w.write(fields{"type": "tool-output-available", "toolCallId": b.Request, "output": b.Value, "dynamic": true})
	}
}

// wait ends the step. It ends the message too, unless the run has continued already.
func (w *writer) wait(op *transcript.Op) {
	w.endStep()
	if !w.Waits(op) {
		w.step()
		return
	}
	w.write(fields{"type": "finish", "finishReason": "tool-calls"})
	w.close()
}

// data writes the newest state of an item, which replaces earlier ones.
func (w *writer) data(op *transcript.Op) {
	w.write(fields{"type": "data-" + op.Item.Kind.String(), "id": op.ID, "data": op.Item.Latest})
}

// update writes events that concern the run or a task.
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
		about := fields{"model": b.Model}
		if b.Usage != nil {
			about["usage"] = b.Usage
		}
		w.write(fields{"type": "message-metadata", "messageMetadata": about})
	case messages.UsageReported:
		if b.Call == "" {
			w.write(fields{"type": "message-metadata", "messageMetadata": fields{"model": b.Model, "usage": b.Usage}})
		}
	}
}

// task writes what happened to a task, and keeps it for a step that is written again.
func (w *writer) task(name string, op *transcript.Op) {
	w.tasks[name] = fields{"type": "data-task", "id": name, "data": fields{"event": op.Event.Kind(), "task": op.Event.Body}}
	w.write(w.tasks[name])
}

// end writes the last chunks. Only a run that ends without an error is finished.
func (w *writer) end(op *transcript.Op) {
	w.endStep()
	switch b := op.Event.Body.(type) {
	case messages.RunFailed:
		w.write(fields{"type": "error", "errorText": door.Failure(b).Code + ": " + b.Error.Message})
	case messages.RunCanceled:
		w.write(fields{"type": "data-end", "id": "end", "data": fields{"status": messages.Canceled, "cause": b.Cause}})
		w.write(fields{"type": "abort", "reason": b.Cause})
	default:
		w.write(fields{"type": "finish", "finishReason": strings.ReplaceAll(string(op.Run.Ending().Reason), "_", "-")})
	}
	w.close()
}
