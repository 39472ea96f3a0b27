package erlmcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// writer writes a run to one subscriber.
type writer struct {
	door.SegmentWriter
	*rpc.Wire
	ctx    context.Context
	delay  time.Duration // minimum time between two chunks
	token  any           // the subscriber's progress token, or nil
	chunks int           // number of chunks so far
	last   time.Time     // when the last chunk was written
	speech door.Speech
}

// chunk is the parameter of stream_chunk.
type chunk struct {
	StreamID messages.RunID `json:"streamId"`
	Number   int            `json:"chunk_num"`
	Total    int            `json:"total,omitempty"`
	Data     any            `json:"data"`
}

// ending is the parameter of the last notification of a stream.
type ending struct {
	StreamID messages.RunID  `json:"streamId"`
	Total    int             `json:"total_chunks"`
	Result   json.RawMessage `json:"result,omitempty"`
	Reason   model.Reason    `json:"finish_reason,omitempty"` // of a run that completed
	Error    *door.Reason    `json:"error,omitempty"`
}

// table is the dialect of writer.
var table = transcript.Dialect[*writer]{
	Rewind:    (*writer).take,
	Heartbeat: func(w *writer) { w.Beat() },
	Refuse:    func(w *writer, err error) { w.fail(door.Unread(err)) },
	Table: transcript.Table[*writer]{
		transcript.Text:     {transcript.Open: (*writer).take, transcript.Append: (*writer).take, transcript.Done: (*writer).take},
		transcript.Question: {transcript.Wait: (*writer).question},
		transcript.Run:      {transcript.End: (*writer).end},
	}}

func (w *writer) notify(method string, params any) { w.Emit(jsonrpc.Notification(method, params)) }

// chunk writes a chunk. It waits until the subscriber's minimum delay has passed.
func (w *writer) chunk(data any, total int) {
	if wait := time.Until(w.last.Add(w.delay)); w.chunks > 0 && wait > 0 {
		if w.Flush() != nil {
			return // the next write fails too
		}
		select {
		case <-time.After(wait):
		case <-w.ctx.Done():
		}
	}
	w.last = time.Now()
	w.chunks++
	w.notify("stream_chunk", chunk{w.Run, w.chunks, total, data})
	if w.token != nil {
		progress := map[string]any{"progressToken": w.token, "progress": w.chunks}
		if total > 0 {
			progress["total"] = total
		}
		w.notify("notifications/progress", progress)
	}
}

func (w *writer) take(op *transcript.Op) { w.say(w.speech.Take(op)) }

// say writes a piece of the answer.
func (w *writer) say(piece string, anew bool) {
	switch {
	case anew:
		w.fail(&door.Reason{Code: "reset", Message: "the text was taken back; ask for the task's result, or call the tool again"})
	case piece != "":
		w.chunk(piece, 0)
	}
}

func (w *writer) question(op *transcript.Op) {
	b := op.Item.Asked()
	w.notify("stream_input", map[string]any{"streamId": w.Run, "request": b.Request, "prompt": b.Prompt, "schema": b.Schema})
}

// end writes the last notification. If the run has no answer, it first writes the result.
func (w *writer) end(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunCompleted:
		end := op.Run.Ending()
		if len(op.Run.Answers()) > 0 || end.Text == "" {
			if w.say(w.speech.Rest(op)); w.Over {
				return
			}
		} else {
			list := chunksOf(b.Result)
			for _, one := range list {
				w.chunk(one, len(list))
			}
		}
		w.notify("stream_complete", ending{StreamID: w.Run, Total: w.chunks, Result: b.Result, Reason: end.Reason})
	case messages.RunFailed:
		w.fail(door.Failure(b))
	case messages.RunCanceled:
		w.notify("stream_cancelled", ending{StreamID: w.Run, Total: w.chunks})
	}
	w.Over = true
}

func (w *writer) fail(why *door.Reason) {
	w.notify("stream_error", ending{StreamID: w.Run, Total: w.chunks, Error: why})
	w.Over = true
}

// chunksOf returns the chunks of a result: its elements if it is a list or {"chunks": list}, or else the result itself.
func chunksOf(result json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	var object struct{ Chunks []json.RawMessage }
	switch {
	case len(result) == 0 || string(result) == "null":
		return nil
	case json.Unmarshal(result, &list) == nil:
		return list
	case json.Unmarshal(result, &object) == nil && object.Chunks != nil:
		return object.Chunks
	}
	return []json.RawMessage{result}
}
