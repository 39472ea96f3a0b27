package nano

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/internal/pieces"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// chunk is a piece of text in the format of NANO.
type chunk struct {
	StreamID string       `json:"stream_id"`
	Seq      int          `json:"seq"`
	Delta    string       `json:"delta"`
	End      bool         `json:"end"`
	Error    *door.Reason `json:"error,omitempty"`
	Reason   model.Reason `json:"finish_reason,omitempty"` // of the last chunk of an answer that completed
}

// stream is a run in the form of chunks.
type stream struct {
	server    *server
	id        string
	client    string
	principal string
	streams   bool // whether the caller asked for chunks

	keeping sync.Mutex // guards saved
	saved   *row       // nil if there is none yet

	// Guarded by the server's mu.
	run      messages.RunID
	answered string    // the question after which the stream begins
	pushed   bool      // a WebSocket gets chunks before the row has them
	used     time.Time // when somebody last asked for the stream
	timer    *time.Timer
	gone     bool   // the stream was removed
	watchers int    // number of callers that follow the stream
	stop     func() // ends the reading of the run
	pieces   *pieces.Numbered
}

// touch records that the stream is used. The server's mu must be held.
func (s *stream) touch() {
	s.used = time.Now()
	if s.timer != nil {
		s.timer.Reset(idle)
		return
	}
	s.timer = time.AfterFunc(idle, func() {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		switch {
		case s.watchers > 0:
			s.touch()
		case time.Since(s.used) >= idle: // else somebody used it while this waited for the lock
			s.expire()
		}
	})
}

// expire drops the chunks, and an hour later the stream itself. The server's mu must be held.
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
	s.pieces.End(nil)
	s.pieces = pieces.NewNumbered(0, pieces.Served{})
	s.pieces.End(nil)
}

// begin reads the run after the answered question, until it ends or asks something, or until the stream expires.
func (s *stream) begin(run messages.RunID, answered string) {
	ctx, cancel := context.WithCancel(context.Background())
	s.server.mu.Lock()
	s.run, s.answered, s.stop = run, answered, cancel
	pieces := s.pieces
	s.server.mu.Unlock()
	go func() {
		defer cancel()
		pieces.Read(ctx, s.server.Door, run, answered)
	}()
}

// follow calls got with the chunks from the number from on as they arrive. ended says that the last chunk is among
// them. It returns when got returns false, after the last chunk, or when ctx is done. A stream does not expire while it
// is followed.
func (s *stream) follow(ctx context.Context, from int, got func(chunks []chunk, ended bool) bool) {
	answer := s.watch(1)
	defer s.watch(-1)
	answer.Follow(ctx, from, func(part pieces.Batch) bool {
		var chunks []chunk
		for i, piece := range part.Pieces {
			chunks = append(chunks, chunk{StreamID: s.id, Seq: part.From + i, Delta: piece})
		}
		if part.Last {
			chunks = append(chunks, chunk{StreamID: s.id, Seq: part.From + len(chunks), End: true, Error: part.Failed, Reason: part.Reason})
		}
		return got(chunks, part.Ended)
	})
}

// watch changes the number of callers that follow the stream by n.
func (s *stream) watch(n int) *pieces.Numbered {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.watchers += n
	if !s.gone {
		s.touch()
	}
	return s.pieces
}

// started returns the result of a call that gets chunks, and the function that pushes them over the caller's WebSocket.
func (s *stream) started(c *rpc.Caller, from int) (result any, push begun, err error) {
	if c.Socket {
		push = func(to *rpc.Wire) (err error) {
			s.follow(c.Context, from, func(chunks []chunk, _ bool) bool {
				for _, one := range chunks {
					to.Emit(jsonrpc.Notification("run", one))
				}
				err = to.Flush()
				return err == nil
			})
			_ = s.keep(c.Context) // without the row, another process ends the stream
			return err
		}
	}
	return map[string]string{"stream_id": s.id, "status": "streaming_started", "run_id": string(s.run)}, push, nil
}
