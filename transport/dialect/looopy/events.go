package looopy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"io"
	"mime"
	"net/url"
	"path"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/view"
)

// largestFile is the most bytes of a file that an event holds.
const largestFile = 1 << 20

// mark stands before a text that replaces what the client has.
const mark = "\n\n---\n\n"

// writer writes a turn to one client.
type writer struct {
	out     *dialect.Stream
	server  *Server
	ctx     context.Context
	context string
	named   bool
	after   cursor
	state   messages.State // when the stream began
	turn    int64          // when the turn was queued, in microseconds

	seq     uint64
	i       int
	length  int // of the newest answer
	answer  string
	index   int
	jumped  bool              // the event being written took text back
	sent    map[string]string // thoughts, by id
	waits   map[string]bool   // false: the question was answered before the stream began
	waiting bool              // the stream ends: the run waits for people
}

// fields are an event's, beside those that all have.
type fields = map[string]any

var table = view.Dialect[*writer]{Policy: view.Mark,
	Rewind: func(w *writer, op *view.Op) {
		if w.jumped = true; op.Item.IsAnswer() {
			w.delta(op, mark)
		}
	},
	Heartbeat: func(w *writer) { _, _ = w.out.WriteString(": ping\n\n") },
	Table: view.Table[*writer]{
		view.Run:      {view.Open: (*writer).created, view.Update: (*writer).update, view.End: (*writer).end},
		view.Text:     {view.Append: (*writer).text, view.Done: (*writer).texted},
		view.Thought:  {view.Done: (*writer).thought},
		view.Tool:     {view.Open: (*writer).tool, view.Update: (*writer).toolProgress, view.Done: (*writer).tooled},
		view.Artifact: {view.Done: (*writer).file},
		view.Question: {view.Open: (*writer).ask, view.Wait: (*writer).wait, view.Go: (*writer).answered},
		view.Child:    {view.Open: (*writer).child},
	}}

// event writes an event, unless the client has it. Events of sub-runs have no id: a client that comes back while a
// sub-run is under way gets them again.
func (w *writer) event(op *view.Op, kind string, more fields) {
	child := op.Event.RunID != w.state.RunID
	if child && w.turn == w.after.at && w.seq < w.after.seq {
		return
	}
	if !child && !w.number(op) {
		return
	}
	more["taskId"], more["timestamp"] = op.Event.RunID, clock(op.Event.Time)
	if child {
		more["parentTaskId"], more["path"] = op.Run.Queued.Parent, []string{"agent:" + op.Run.Queued.Job}
	}
	if !w.named {
		more["kind"], more["contextId"] = kind, w.context
	}
	if !child {
		_, _ = w.out.WriteString("id: " + cursor{w.turn, w.seq, w.i, w.length}.id(w.context) + "\n")
	}
	if w.named {
		_, _ = w.out.WriteString("event: " + kind + "\n")
	}
	_, _ = w.out.WriteString("data: ")
	_, _ = w.out.Write(dialect.JSON(more))
	_, _ = w.out.WriteString("\n\n")
}

// number numbers an event of the turn's own run, and reports whether the client lacks it.
func (w *writer) number(op *view.Op) bool {
	if w.seq != op.Seq() {
		w.seq, w.i = op.Seq(), 0
	}
	w.i++
	return w.after.past(w.turn, w.seq, w.i)
}

// status writes a task-status, in the newer form a word, in the seed's an object.
func (w *writer) status(op *view.Op, state, message string, metadata fields) {
	more := fields{"status": state}
	if !w.named {
		more["status"] = fields{"state": state}
	}
	if message != "" {
		more["message"] = message
	}
	if metadata != nil {
		more["metadata"] = metadata
	}
	w.event(op, "task-status", more)
}

func (w *writer) created(op *view.Op) {
	more := fields{"initiator": "user", "metadata": fields{"agentId": op.Run.Queued.Job}}
	if op.Run.Queued.Parent != "" {
		more["initiator"] = "agent"
	}
	w.event(op, "task-created", more)
	if !w.named {
		w.status(op, "submitted", "", nil)
	}
}

func (w *writer) update(op *view.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunStarted:
		w.status(op, "working", "", nil)
	case messages.LLMCompleted:
		if b.Usage != nil {
			w.event(op, "llm-usage", fields{"model": b.Model, "prompt_tokens": b.Usage.PromptTokens,
				"completion_tokens": b.Usage.CompletionTokens, "total_tokens": b.Usage.PromptTokens + b.Usage.CompletionTokens})
		}
	}
}

// text writes a piece of an answer: of an event that the client has a part of, the rest.
func (w *writer) text(op *view.Op) {
	if !op.Item.IsAnswer() {
		return
	}
	if own := op.Event.RunID == w.state.RunID; !own {
		w.delta(op, op.Text)
		return
	}
	piece, had := op.Text, 0
	if spans := w.turn == w.after.at && op.Event.From <= w.after.seq && w.after.seq < op.Seq(); spans && !w.jumped {
		had = min(max(w.after.length-op.Offset, 0), len(piece))
	}
	w.jumped = false
	if w.answer != op.Item.ID {
		w.answer, w.index = op.Item.ID, 0
	}
	w.length = op.Offset + len(op.Text)
	if had < len(piece) {
		w.delta(op, piece[had:])
	}
}

func (w *writer) delta(op *view.Op, piece string) {
	w.event(op, "content-delta", fields{"delta": piece, "content": piece, "index": w.index})
	w.index++
}

func (w *writer) texted(op *view.Op) {
	if op.Item.IsAnswer() && !op.Cut {
		w.event(op, "content-complete", fields{"content": op.Item.Text(), "finishReason": "stop"})
	}
}

// thought writes a thought once. One that another attempt had is not written again; if it says something else, it is
// another thought.
func (w *writer) thought(op *view.Op) {
	id, text := string(op.Event.RunID)+"/"+op.Item.ID, op.Item.Text()
	if had, sent := w.sent[id]; sent && had == text || text == "" {
		return
	}
	w.sent[id] = text
	more := fields{"thoughtId": op.Item.ID, "thoughtType": "reasoning", "verbosity": "normal", "content": text,
		"thought": text, "index": len(w.sent) - 1}
	if b, ok := op.Item.Latest.(messages.ThoughtDone); ok {
		more["thoughtType"] = cmp.Or(b.ThoughtType, "reasoning")
		metadata := fields{"source": "content"}
		if b.Confidence != nil {
			metadata["confidence"] = *b.Confidence
		}
		more["metadata"] = metadata
	}
	w.event(op, "thought-stream", more)
}

func (w *writer) tool(op *view.Op) {
	b := op.Item.Opened.(messages.ToolStarted)
	w.event(op, "tool-start", fields{"toolCallId": b.Call, "toolName": b.Tool, "arguments": b.Arguments})
}

func (w *writer) toolProgress(op *view.Op) {
	b := op.Event.Body.(messages.ToolProgress)
	if b.Total > 0 {
		w.event(op, "tool-progress", fields{"toolCallId": b.Call, "progress": min(float64(b.Done)/float64(b.Total), 1)})
	}
}

func (w *writer) tooled(op *view.Op) {
	more := fields{"toolCallId": op.Item.Name, "toolName": op.Item.Opened.(messages.ToolStarted).Tool, "success": false}
	b, ended := op.Item.Latest.(messages.ToolCompleted)
	switch {
	case !ended:
		more["error"] = "the call was broken off"
	case b.Error != nil:
		more["error"] = b.Error.Message
	default:
		more["success"], more["result"] = true, b.Result
	}
	w.event(op, "tool-complete", more)
}

// file writes a file, or where a larger one is.
func (w *writer) file(op *view.Op) {
	a := view.FileOf(op.Item)
	if op.Cut && a.Partial {
		return
	}
	data, err := w.read(op, a)
	if err != nil {
		w.event(op, "artifact-binary", fields{"artifactId": a.Name, "name": a.Name, "bytes": a.Bytes, "sha256": a.SHA256,
			"url": "/v1/runs/" + string(op.Event.RunID) + "/artifacts/" + url.PathEscape(a.Name)})
		return
	}
	text, encoding := string(data), "utf-8"
	if !utf8.Valid(data) {
		text, encoding = base64.StdEncoding.EncodeToString(data), "base64"
	}
	kind := cmp.Or(mime.TypeByExtension(path.Ext(a.Name)), "application/octet-stream")
	w.event(op, "file-write", fields{"artifactId": a.Name, "name": a.Name, "data": text, "encoding": encoding,
		"index": 0, "complete": true, "mimeType": kind})
}

func (w *writer) read(op *view.Op, a messages.Artifact) ([]byte, error) {
	if w.server.door.Open == nil || a.Bytes > largestFile {
		return nil, messages.Errorf(gate.CodeTooLarge, "the file is not sent")
	}
	state := w.state
	if state.RunID != op.Event.RunID {
		var err error
		if state, err = w.server.door.Run(w.ctx, op.Event.RunID); err != nil {
			return nil, err
		}
	}
	file, err := w.server.door.Open(w.ctx, state, a)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, largestFile))
}

// inputTypes are Looopy's names of what is asked; an empty one is a credential.
var inputTypes = map[messages.InputKind]string{"": "clarification", messages.InputClarification: "clarification",
	messages.InputSelection: "selection", messages.InputData: "data", messages.InputConfirmation: "confirmation",
	messages.InputReview: "confirmation", messages.InputSecret: ""}

func (w *writer) ask(op *view.Op) {
	b := op.Item.Opened.(messages.InputRequired)
	more := fields{"prompt": b.Prompt}
	if kind := inputTypes[b.InputKind]; kind != "" {
		more["inputId"], more["inputType"], more["requireUser"] = b.Request, kind, true
		if len(b.Schema) > 0 && !bytes.Equal(b.Schema, []byte("null")) {
			more["schema"] = b.Schema
		}
		w.event(op, "input-required", more)
		return
	}
	more["authId"], more["authType"] = b.Request, "custom"
	w.event(op, "auth-required", more)
}

// wait ends the stream, unless the question was answered before it began.
func (w *writer) wait(op *view.Op) {
	b := op.Item.Opened.(messages.InputRequired)
	if open, known := w.waits[b.Request]; known && !open {
		return
	}
	state, metadata := "waiting-input", fields{"pendingInputIds": []string{b.Request}}
	if b.InputKind == messages.InputSecret {
		state, metadata = "waiting-auth", fields{"pendingAuths": []fields{{"authId": b.Request, "authType": "custom"}}}
	}
	w.status(op, state, "", metadata)
	w.waiting = op.Event.RunID == w.state.RunID && w.after.past(w.turn, w.seq, w.i)
}

func (w *writer) answered(op *view.Op) {
	b := op.Event.Body.(messages.InputReceived)
	if op.Item.Opened.(messages.InputRequired).InputKind == messages.InputSecret {
		w.event(op, "auth-completed", fields{"authId": b.Request, "userId": b.Principal})
		return
	}
	w.event(op, "input-received", fields{"inputId": b.Request, "providedBy": "user", "userId": b.Principal})
}

func (w *writer) child(op *view.Op) {
	b := op.Item.Opened.(messages.ChildStarted)
	w.event(op, "subtask-created", fields{"subtaskId": b.Child, "agentId": b.Job, "prompt": b.Name})
}

// end writes how the turn ended. A sub-run's end ends no turn.
func (w *writer) end(op *view.Op) {
	if op.Event.RunID == w.state.RunID {
		w.seq, w.i = op.Seq(), last-1
	}
	switch b := op.Event.Body.(type) {
	case messages.RunCompleted:
		names := []string{}
		for _, a := range b.Artifacts {
			names = append(names, a.Name)
		}
		text := dialect.ResultText(b.Result)
		for _, item := range op.Run.Items() {
			if item.IsAnswer() {
				text = item.Text()
			}
		}
		w.event(op, "task-complete", fields{"content": text, "artifacts": names, "metadata": fields{"finishReason": "stop",
			"duration": op.Event.Time.Sub(w.state.QueuedAt).Milliseconds()}})
	case messages.RunFailed:
		w.status(op, "failed", b.Error.Message, fields{"reason": b.Cause})
	case messages.RunCanceled:
		w.status(op, "canceled", "the turn was canceled", fields{"reason": b.Cause})
	}
}
