package nano

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// chunk is a piece of the text as NANO has it.
type chunk struct {
	StreamID string       `json:"stream_id"`
	Seq      int          `json:"seq"`
	Delta    string       `json:"delta"`
	End      bool         `json:"end"`
	Error    *door.Reason `json:"error,omitempty"`
}

// stream is a run as chunks.
type stream struct {
	server    *server
	id        string
	client    string
	principal string
	streams   bool // the caller asked for chunks

	// Under the server's mu.
	run      messages.RunID
	used     time.Time
	timer    *time.Timer
	gone     bool
	watchers int    // how many callers follow
	stop     func() // ends the reading of the run

	mu     sync.Mutex
	seen   string // the question that the client has answered: what comes up to it is not written; "" is the beginning
	text   []byte
	cuts   []int // where each chunk ends in the text; the last chunk of an ended stream is beyond them
	ended  bool
	failed *door.Reason
	speech door.Speech
	more   chan struct{} // closed when there are more chunks
}

// touch notes that the stream is used. Under the server's mu.
func (s *stream) touch() {
	s.used = time.Now()
	if s.timer != nil {
		s.timer.Reset(idle)
		return
	}
	s.timer = time.AfterFunc(idle, func() {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		if s.watchers > 0 {
			s.touch()
			return
		}
		s.expire()
	})
}

// expire forgets the chunks, and after an hour the stream. Under the server's mu.
func (s *stream) expire() {
	if s.gone {
		return
	}
	s.gone = true
	if s.stop != nil {
		s.stop()
	}
	s.timer.Stop()
	s.timer = time.AfterFunc(remembered, func() { s.server.drop(s) })
	s.finish(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.cuts = nil, nil
}

func (s *stream) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// finish ends a stream that has not ended.
func (s *stream) finish(failed *door.Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(failed)
	s.wake()
}

// wake tells who waits for chunks. Under mu.
func (s *stream) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// table is how the run is written: the texts of the answer, and the end. Under mu.
var table = transcript.Dialect[*stream]{Policy: transcript.Mark,
	Rewind: func(s *stream, op *transcript.Op) {
		if op.Item.IsAnswer() {
			s.end(&door.Reason{Code: "reset", Message: "the text was taken back; read the result of the run at /v1/runs/" + string(op.Event.RunID)})
		}
	},
	Table: transcript.Table[*stream]{
		transcript.Text: {transcript.Append: func(s *stream, op *transcript.Op) {
			if piece, ok := s.speech.Piece(op); ok && s.seen == "" {
				if len(s.text) == 0 {
					piece = strings.TrimLeft(piece, "\n")
				}
				s.add(piece)
			}
		}},
		transcript.Question: {transcript.Wait: func(s *stream, op *transcript.Op) {
			if s.seen == "" && op.Run.Queued.Labels[door.ContextLabel] != "" { // where the client can answer
				b := op.Item.Opened.(messages.InputRequired)
				s.add(s.gap() + door.Prompt(b.Prompt, b.Schema))
				s.end(nil)
			} else if s.seen == op.Item.Name {
				s.seen = ""
			}
		}},
		transcript.Run: {transcript.End: func(s *stream, op *transcript.Op) {
			// A run without an answer has its result as the text.
			if b, ok := op.Event.Body.(messages.RunCompleted); ok && s.speech.Silent() {
				s.add(door.ResultText(b.Result))
			}
			s.end(door.Failure(op.Event.Body))
		}},
	}}

// add adds a chunk. Under mu.
func (s *stream) add(delta string) {
	switch {
	case s.ended || delta == "":
	case len(s.text)+len(delta) > maxBytes:
		s.end(&door.Reason{Code: string(messages.CauseLimitExceeded), Message: "the text is longer than a stream may be; read the run's result"})
	default:
		s.text = append(s.text, delta...)
		s.cuts = append(s.cuts, len(s.text))
	}
}

// gap stands between what was said and a question. Under mu.
func (s *stream) gap() string {
	if len(s.text) == 0 {
		return ""
	}
	return "\n\n"
}

// end adds the last chunk. Under mu.
func (s *stream) end(failed *door.Reason) {
	if !s.ended {
		s.ended, s.failed = true, failed
	}
}

// begin reads the run, after the question that was seen, until it ends or asks, or the stream expires.
func (s *stream) begin(run messages.RunID, seen string) {
	ctx, cancel := context.WithCancel(context.Background())
	s.server.mu.Lock()
	s.run, s.stop, s.seen = run, cancel, seen
	s.server.mu.Unlock()
	go func() {
		defer cancel()
		player := table.Player(s)
		for events, err := range s.server.Runs.Follow(ctx, run, messages.Follow{}) {
			if err != nil {
				s.finish(door.ReasonOf(err))
				return
			}
			if s.apply(player, events) {
				return
			}
		}
	}()
}

// apply adds the chunks of the events, and reports whether the stream has ended.
func (s *stream) apply(player *transcript.Player[*stream], events []messages.Event) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.cuts)
	for _, e := range events {
		if e.Body != nil && !s.ended {
			player.Play(e)
		}
	}
	if len(s.cuts) > had || s.ended {
		s.wake()
	}
	return s.ended
}

// next are the chunks from the number on.
func (s *stream) next(from int) (chunks []chunk, ended bool, more chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := from; i < len(s.cuts); i++ {
		begin := 0
		if i > 0 {
			begin = s.cuts[i-1]
		}
		chunks = append(chunks, chunk{StreamID: s.id, Seq: i, Delta: string(s.text[begin:s.cuts[i]])})
	}
	if s.ended && from <= len(s.cuts) {
		chunks = append(chunks, chunk{StreamID: s.id, Seq: len(s.cuts), End: true, Error: s.failed})
	}
	return chunks, s.ended, s.more
}

// follow calls got with the chunks from the number on as they come, and whether the last is among them. It returns
// when got returns false, at the end, or when ctx is done. A stream that somebody follows does not expire.
func (s *stream) follow(ctx context.Context, from int, got func(chunks []chunk, ended bool) bool) {
	s.watch(1)
	defer s.watch(-1)
	for {
		chunks, ended, more := s.next(from)
		from += len(chunks)
		if (len(chunks) > 0 || ended) && !got(chunks, ended) || ended {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

func (s *stream) watch(n int) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.watchers += n
	if !s.gone {
		s.touch()
	}
}

// started is the answer to a call that gets chunks, with what pushes them over the caller's socket.
func (s *stream) started(c *door.Caller, from int) (result any, push begun, err error) {
	if c.Socket {
		push = func(to *door.Wire) (err error) {
			s.follow(c.Context, from, func(chunks []chunk, _ bool) bool {
				for _, one := range chunks {
					to.Emit(door.Notification("run", one))
				}
				err = to.Flush()
				return err == nil
			})
			return err
		}
	}
	return map[string]string{"stream_id": s.id, "status": "streaming_started", "run_id": string(s.run)}, push, nil
}
