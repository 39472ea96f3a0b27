package looopy

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer writes turns to one client.
type writer struct {
	server
	door.SegmentWriter
	ctx     context.Context
	context string          // the conversation
	named   bool            // the client wants named events
	task    messages.RunID  // write only this task and its sub-runs; "" means all
	after   cursor          // where the client continues
	resumed map[string]bool // questions that the client has just answered; everything before them is skipped
	run     messages.State  // the turn when its stream began; reset for each turn
	places  door.Places
	lengths map[messages.RunID]int // length of the newest answer of each run
	index   map[string]int         // number of deltas of each answer
	sent    map[string]string      // thoughts that were sent, by id
	jumped  bool                   // the event that is being written took text back
	lost    messages.RunID         // the run whose text the client has but the log lost when the process died
}

// at returns the position of the newest event.
func (w *writer) at(op *transcript.Op) cursor {
	return cursor{w.run.QueuedAt.UnixMicro(), w.places.At, w.lengths[op.Event.RunID]}
}

// fields are the members of an event that not all events have.
type fields = map[string]any

// table is the dialect of writer.
var table = transcript.Dialect[*writer]{Policy: transcript.Mark,
	Rewind: func(w *writer, op *transcript.Op) {
		if op.Item.IsAnswer() {
			w.jumped, w.lengths[op.Event.RunID] = true, 0
			w.delta(op, transcript.Rule)
		}
	},
	Heartbeat: func(w *writer) { _, _ = w.Out.WriteString(": ping\n\n") },
	Table: transcript.Table[*writer]{
		transcript.Run: {transcript.Open: (*writer).created, transcript.Update: (*writer).update, transcript.End: (*writer).end},
		transcript.Text: {transcript.Append: (*writer).text, transcript.Done: func(w *writer, op *transcript.Op) {
			if op.Item.IsAnswer() && !op.Cut {
				w.event(op, "content-complete", fields{"content": op.Item.Text(), "finishReason": op.Run.Ending().Reason})
			}
		}},
		transcript.Thought: {transcript.Done: (*writer).thought},
		transcript.Tool: {transcript.Open: func(w *writer, op *transcript.Op) {
			tool, arguments := op.Item.Call()
			w.event(op, "tool-start", fields{"toolCallId": op.Item.Name, "toolName": tool, "arguments": arguments})
		}, transcript.Update: func(w *writer, op *transcript.Op) {
			if b := op.Event.Body.(messages.ToolProgress); b.Total > 0 {
				w.event(op, "tool-progress", fields{"toolCallId": b.Call, "progress": min(float64(b.Done)/float64(b.Total), 1)})
			}
		}, transcript.Done: (*writer).tooled},
		transcript.Artifact: {transcript.Done: (*writer).file},
		transcript.Question: {transcript.Open: (*writer).question, transcript.Wait: (*writer).question, transcript.Go: (*writer).question},
		transcript.Child: {transcript.Open: func(w *writer, op *transcript.Op) {
			b := op.Item.Opened.(messages.ChildStarted)
			w.event(op, "subtask-created", fields{"subtaskId": b.Child, "agentId": b.Job, "prompt": b.Name})
		}},
	}}

// event writes an event, unless the client has it.
func (w *writer) event(op *transcript.Op, kind string, more fields) {
	w.places.Move(&op.Event)
	w.places.At.I++
	cur, run := w.at(op), op.Event.RunID
	if !cur.past(w.after) || len(w.resumed) > 0 || w.task != "" && !within(string(run), w.task) {
		return
	}
	more["taskId"], more["timestamp"] = run, op.Event.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	if run != w.run.RunID {
		more["parentTaskId"], more["path"] = op.Run.Queued.Parent, []string{"agent:" + op.Run.Queued.Job}
	}
	name := kind
	if !w.named {
		name, more["kind"], more["contextId"] = "", kind, w.context
	}
	w.Out.Event(cur.id(w.context), name, more)
}

// status writes a task-status. It is a word with named framing, and an object in Looopy's original form.
func (w *writer) status(op *transcript.Op, state string, more fields) {
	if more["status"] = state; !w.named {
		more["status"] = fields{"state": state}
	}
	w.event(op, "task-status", more)
}

// created writes the begin of a task. The original form has a status for it too.
func (w *writer) created(op *transcript.Op) {
	more := fields{"initiator": "user", "metadata": fields{"agentId": op.Run.Queued.Job}}
	if op.Run.Queued.Parent != "" {
		more["initiator"] = "agent"
	}
	w.event(op, "task-created", more)
	if !w.named {
		w.status(op, "submitted", fields{})
	}
}

// update writes changes of a run that have no item. After a crash it notes whether the client has text that was lost.
func (w *writer) update(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunStarted:
		w.status(op, "working", fields{})
	case messages.RunRecovered:
		if run := op.Event.RunID; w.reach(op) && w.at(op).past(w.after) && w.after.length > w.lengths[run] {
			w.lost = run
		}
	case messages.LLMCompleted:
		if u := b.Usage; u != nil {
			more := fields{"model": b.Model}
			_ = json.Unmarshal(door.JSON(u), &more) // adds the counts that are known
			if total := u.Total(); total != nil {
				more["total_tokens"] = *total
			}
			w.event(op, "llm-usage", more)
		}
	}
}

// reach moves to an event. It reports whether the client has the event, or part of what was merged into it.
func (w *writer) reach(op *transcript.Op) (hasPart bool) {
	w.places.Move(&op.Event)
	cur := w.at(op)
	return w.after.past(cursor{cur.turn, cur.Begin(&op.Event), 0})
}

// text writes a piece of an answer. If the client has part of a merged event, it writes the rest.
func (w *writer) text(op *transcript.Op) {
	if !op.Item.IsAnswer() {
		return
	}
	piece, had := op.Text, 0
	switch hasPart := w.reach(op); {
	case w.lost == op.Event.RunID:
		w.lost, w.lengths[op.Event.RunID], piece = "", 0, op.Item.Text()
		w.delta(op, transcript.Rule)
	case hasPart && !w.jumped:
		had = min(max(w.after.length-op.Offset, 0), len(piece))
	}
	w.jumped, w.lengths[op.Event.RunID] = false, op.Item.Len()
	if had == len(piece) {
		w.places.At.I++ // count it as if it were written
		return
	}
	w.delta(op, piece[had:])
}

// delta writes a piece of an answer. Its index counts the pieces of that answer.
func (w *writer) delta(op *transcript.Op, piece string) {
	id := string(op.Event.RunID) + "/" + op.Item.ID
	w.event(op, "content-delta", fields{"delta": piece, "content": piece, "index": w.index[id]})
	w.index[id]++
}

// thought writes each thought once. The thought of another attempt is written again if it differs.
func (w *writer) thought(op *transcript.Op) {
	id, text := string(op.Event.RunID)+"/"+op.Item.ID, op.Item.Text()
	if had, sent := w.sent[id]; sent && had == text || text == "" {
		return
	}
	w.sent[id] = text
	b, _ := op.Item.Latest.(messages.ThoughtDone) // missing if the thought was interrupted
	metadata := fields{"source": "content"}
	if b.Confidence != nil {
		metadata["confidence"] = *b.Confidence
	}
	w.event(op, "thought-stream", fields{"thoughtId": op.Item.ID, "thoughtType": cmp.Or(b.ThoughtType, "reasoning"),
		"verbosity": "normal", "content": text, "thought": text, "index": len(w.sent) - 1, "metadata": metadata})
}

// tooled writes the end of a tool call.
func (w *writer) tooled(op *transcript.Op) {
	tool, _ := op.Item.Call()
	result, failed := op.Item.Result()
	more := fields{"toolCallId": op.Item.Name, "toolName": tool, "success": failed == ""}
	if more["result"] = result; failed != "" {
		delete(more, "result")
		more["error"] = failed
	}
	w.event(op, "tool-complete", more)
}

// file writes a file or, if it is large, its URL.
func (w *writer) file(op *transcript.Op) {
	a := transcript.FileOf(op.Item)
	if op.Cut && a.Partial {
		return
	}
	data, err := w.server.File(w.ctx, op.Event.RunID, a, 1<<20)
	if err != nil {
		w.event(op, "artifact-binary", fields{"artifactId": a.Name, "name": a.Name, "bytes": a.Bytes, "sha256": a.SHA256,
			"url": "/v1/runs/" + string(op.Event.RunID) + "/artifacts/" + url.PathEscape(a.Name)})
		return
	}
	text, encoding := string(data), "utf-8"
	if !utf8.Valid(data) {
		text, encoding = base64.StdEncoding.EncodeToString(data), "base64"
	}
	w.event(op, "file-write", fields{"artifactId": a.Name, "name": a.Name, "data": text, "encoding": encoding,
		"mimeType": messages.MediaType(a.Name),
		"index":    0, "complete": true})
}

// inputTypes are Looopy's names for kinds of questions.
var inputTypes = map[messages.InputKind]string{"": "clarification", messages.InputClarification: "clarification",
	messages.InputSelection: "selection", messages.InputData: "data", messages.InputConfirmation: "confirmation",
	messages.InputReview: "confirmation", messages.InputSecret: "custom", messages.InputBudget: "data"}

// question writes that the run asks, waits or continues. The id of a sub-run's question begins with the sub-run's id.
func (w *writer) question(op *transcript.Op) {
	b, id := op.Item.Asked(), op.Item.Name
	if op.Event.RunID != w.run.RunID {
		id = string(op.Event.RunID) + "/" + id
	}
	secret, kind := b.InputKind == messages.InputSecret, inputTypes[b.InputKind]
	got, _ := op.Event.Body.(messages.InputReceived)
	switch {
	case op.Do == transcript.Wait && secret:
		w.wait(op, id, "waiting-auth", fields{"pendingAuths": []fields{{"authId": id, "authType": kind}}})
	case op.Do == transcript.Wait:
		w.wait(op, id, "waiting-input", fields{"pendingInputIds": []string{id}})
	case op.Do == transcript.Go && secret:
		w.event(op, "auth-completed", fields{"authId": id, "userId": got.Principal})
	case op.Do == transcript.Go:
		w.event(op, "input-received", fields{"inputId": id, "providedBy": "user", "userId": got.Principal})
	case secret:
		w.event(op, "auth-required", fields{"authId": id, "authType": kind, "prompt": b.Prompt,
			"encryptionKey": w.keys.Public(id, w.context)})
	default:
		more := fields{"inputId": id, "inputType": kind, "prompt": b.Prompt, "requireUser": true}
		if len(b.Schema) > 0 && string(b.Schema) != "null" {
			more["schema"] = b.Schema
		}
		w.event(op, "input-required", more)
	}
}

// wait ends the stream, unless the question was answered in the meantime.
func (w *writer) wait(op *transcript.Op, id, state string, metadata fields) {
	delete(w.resumed, id)
	if w.Waits(op) && len(w.resumed) == 0 {
		w.status(op, state, fields{"metadata": metadata})
		w.Over = w.at(op).past(w.after)
	}
}

// end writes the end of a run.
func (w *writer) end(op *transcript.Op) {
	if w.places.Move(&op.Event); op.Event.RunID == w.run.RunID {
		w.places.At.I, w.resumed = last-1, nil
	}
	switch b := op.Event.Body.(type) {
	case messages.RunCompleted:
		names, end := []string{}, op.Run.Ending()
		for _, item := range op.Run.Items() {
			if item.Kind == transcript.Artifact {
				names = append(names, item.Name)
			}
		}
		w.event(op, "task-complete", fields{"content": end.Text, "artifacts": names, "metadata": fields{"finishReason": end.Reason,
			"duration": op.Event.Time.Sub(w.run.QueuedAt).Milliseconds()}})
	case messages.RunFailed:
		w.status(op, "failed", fields{"message": b.Error.Message,
			"metadata": fields{"reason": door.Failure(b).Code, "error": door.Failure(b)}})
	case messages.RunCanceled:
		w.status(op, "canceled", fields{"message": "the turn was canceled", "metadata": fields{"reason": b.Cause}})
	}
}
