package erlmcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer writes a run to one subscriber.
type writer struct {
	*door.Wire
	ctx    context.Context
	begun  *begun
	chunks int
	last   time.Time // of a chunk
	speech door.Speech
	ended  bool
}

// chunk is what stream_chunk says.
type chunk struct {
	StreamID messages.RunID `json:"streamId"`
	Number   int            `json:"chunk_num"`
	Total    int            `json:"total,omitempty"`
	Data     any            `json:"data"`
}

// ending is what the last notification of a stream says.
type ending struct {
	StreamID messages.RunID  `json:"streamId"`
	Total    int             `json:"total_chunks"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *door.Reason    `json:"error,omitempty"`
}

var table = transcript.Dialect[*writer]{Policy: transcript.Mark,
	Rewind: func(w *writer, op *transcript.Op) {
		if op.Item.IsAnswer() {
			w.fail(&door.Reason{Code: "reset", Message: "the text was taken back; ask for the task's result, or call the tool again"})
		}
	},
	Heartbeat: func(w *writer) { w.Beat() },
	Refuse:    func(w *writer, err error) { w.fail(door.ReasonOf(err)) },
	Table: transcript.Table[*writer]{
		transcript.Text:     {transcript.Append: (*writer).text},
		transcript.Question: {transcript.Wait: (*writer).question},
		transcript.Run:      {transcript.End: (*writer).end},
	}}

// play writes the run until its end.
func (s server) play(ctx context.Context, to *door.Wire, b *begun) error {
	w := &writer{Wire: to, ctx: ctx, begun: b}
	// A subscriber that falls behind gets what there is as one chunk.
	follow := messages.Follow{Rate: float64(time.Second) / float64(max(b.delay, time.Millisecond))}
	err := door.Play(ctx, s.Door, to, b.run, follow, &table, w, func(*transcript.Transcript) bool { return w.ended })
	if w.ended {
		return nil
	}
	return err
}

func (w *writer) say(method string, params any) {
	if !w.ended {
		w.Emit(door.Notification(method, params))
	}
}

// chunk writes a chunk, not sooner after the one before than the subscriber asked for.
func (w *writer) chunk(data any, total int) {
	if w.ended {
		return
	}
	if wait := time.Until(w.last.Add(w.begun.delay)); w.chunks > 0 && wait > 0 {
		if w.Flush() != nil {
			return // the next one fails as well
		}
		select {
		case <-time.After(wait):
		case <-w.ctx.Done():
		}
	}
	w.last = time.Now()
	w.chunks++
	w.say("stream_chunk", chunk{w.begun.run, w.chunks, total, data})
	if w.begun.token != nil {
		progress := map[string]any{"progressToken": w.begun.token, "progress": w.chunks}
		if total > 0 {
			progress["total"] = total
		}
		w.say("notifications/progress", progress)
	}
}

func (w *writer) text(op *transcript.Op) {
	if piece, ok := w.speech.Piece(op); ok {
		w.chunk(piece, 0)
	}
}

func (w *writer) question(op *transcript.Op) {
	b := op.Item.Opened.(messages.InputRequired)
	w.say("stream_input", map[string]any{"streamId": w.begun.run, "request": b.Request, "prompt": b.Prompt,
		"schema": b.Schema})
}

// end writes the last notification, after the result of a run without an answer.
func (w *writer) end(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunCompleted:
		if w.speech.Silent() {
			list := chunksOf(b.Result)
			for _, one := range list {
				w.chunk(one, len(list))
			}
		}
		w.say("stream_complete", ending{StreamID: w.begun.run, Total: w.chunks, Result: b.Result})
	case messages.RunFailed:
		w.fail(door.Failure(b))
	case messages.RunCanceled:
		w.say("stream_cancelled", ending{StreamID: w.begun.run, Total: w.chunks})
	}
	w.ended = true
}

func (w *writer) fail(why *door.Reason) {
	w.say("stream_error", ending{StreamID: w.begun.run, Total: w.chunks, Error: why})
	w.ended = true
}

// chunksOf are the chunks of a result: its elements if it is a list, or {"chunks": list}, and else itself.
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
