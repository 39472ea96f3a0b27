package nano

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/view"
)

// chunk is a piece of the text as NANO has it.
type chunk struct {
	StreamID string       `json:"stream_id"`
	Seq      int          `json:"seq"`
	Delta    string       `json:"delta"`
	End      bool         `json:"end"`
	Error    *chunkReason `json:"error,omitempty"`
}

// chunkReason is why a run did not complete.
type chunkReason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// stream is a run as chunks. Whoever asks for chunks that there are not yet reads on in the run's log.
type stream struct {
	server    *Server
	id        string
	client    string
	principal string
	streams   bool // the caller asked for chunks
	run       messages.RunID
	started   chan struct{} // closed once there is a run

	// Under the server's mu.
	used  time.Time
	timer *time.Timer
	gone  bool
	// watchers is how many callers follow.
	watchers int

	pump chan struct{} // holds whoever reads the log

	mu     sync.Mutex
	player *view.Player[*stream]
	after  uint64
	chunks []chunk
	bytes  int
	speech dialect.Speech
	ended  bool
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
	s.timer.Stop()
	s.timer = time.AfterFunc(remembered, func() { s.server.drop(s) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks, s.player = nil, nil
	s.ended = true
	s.wake()
}

func (s *stream) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// wake tells who waits for chunks. Under mu.
func (s *stream) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// table is how the run is written: the texts of the answer, and the end.
var table = view.Dialect[*stream]{Policy: view.Mark,
	Rewind: func(s *stream, op *view.Op) {
		if op.Item.IsAnswer() {
			s.fail("reset", "the text was taken back; start again")
		}
	},
	Table: view.Table[*stream]{
		view.Text: {view.Append: (*stream).text},
		view.Run:  {view.End: (*stream).end},
	}}

func (s *stream) text(op *view.Op) {
	if piece, ok := s.speech.Piece(op); ok {
		s.add(piece)
	}
}

func (s *stream) add(delta string) {
	if s.bytes += len(delta); s.bytes > maxBytes {
		s.fail(string(messages.CauseLimitExceeded), "the text is longer than a stream may be; read the run's result")
		return
	}
	s.append(chunk{Delta: delta})
}

func (s *stream) append(c chunk) {
	if s.ended {
		return
	}
	c.StreamID, c.Seq = s.id, len(s.chunks)
	s.chunks, s.ended = append(s.chunks, c), c.End
}

func (s *stream) fail(code, message string) {
	s.append(chunk{End: true, Error: &chunkReason{code, message}})
}

// end adds the last chunk. A run without an answer has its result as the text.
func (s *stream) end(op *view.Op) {
	switch b := op.Event.Body.(type) {
	case messages.RunCompleted:
		if text := dialect.ResultText(b.Result); s.speech.Silent() && text != "" {
			s.add(text)
		}
		s.append(chunk{End: true})
	case messages.RunFailed:
		s.fail(string(b.Cause), b.Error.Message)
	case messages.RunCanceled:
		s.fail("canceled", "the run was canceled")
	}
}

// follow calls got with the chunks from the number on as they come, and whether the last is among them. It returns
// when got returns false, at the end, or when ctx is done and there are no chunks.
func (s *stream) follow(ctx context.Context, from int, got func(chunks []chunk, ended bool) bool) {
	// step gives what there is, and reports whether to go on.
	step := func() bool {
		s.mu.Lock()
		var next []chunk
		if from < len(s.chunks) {
			next = s.chunks[from:len(s.chunks):len(s.chunks)]
		}
		ended := s.ended
		s.mu.Unlock()
		from += len(next)
		return len(next) == 0 && !ended || got(next, ended) && !ended
	}
	s.watch(1)
	defer s.watch(-1)
	for step() {
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		select {
		case s.pump <- struct{}{}: // a poll that does not wait reads what there is
			s.read(ctx, step)
			<-s.pump
			return
		default:
		}
		select {
		case s.pump <- struct{}{}:
			<-s.pump
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// watch counts who follows: a stream that is watched does not expire.
func (s *stream) watch(n int) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.watchers += n
	if !s.gone {
		s.touch()
	}
}

// read reads on in the log, and calls step after each batch until that returns false.
func (s *stream) read(ctx context.Context, step func() bool) {
	select {
	case <-s.started:
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	after := s.after
	s.mu.Unlock()
	for events, err := range s.server.door.Runs.Follow(ctx, s.run, messages.Follow{After: after}) {
		if err != nil && ctx.Err() != nil {
			return
		}
		s.apply(events, err)
		if !step() {
			return
		}
	}
}

func (s *stream) apply(events []messages.Event, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.player == nil {
		s.player = table.Player(s)
	}
	had := len(s.chunks)
	for _, e := range events {
		s.after = e.Seq
		if e.Body != nil && !s.ended {
			s.player.Play(e)
		}
	}
	if err != nil {
		s.fail(string(messages.CodeOf(err)), err.Error())
	}
	if len(s.chunks) > had {
		s.wake()
	}
}

// push sends the chunks from the number on over the caller's socket.
func (s *stream) push(c *caller, from int) {
	s.follow(c.ctx, from, func(chunks []chunk, _ bool) bool {
		for _, one := range chunks {
			if c.socket.Send(dialect.JSON(pushed{"2.0", "run", one})) != nil {
				return false
			}
		}
		return true
	})
}

// pushed is the notification of a chunk.
type pushed struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  chunk  `json:"params"`
}

// whole waits for the end of the run, and returns its text.
func (s *stream) whole(ctx context.Context) (any, error) {
	text, ended := "", false
	var failed *chunkReason
	s.follow(ctx, 0, func(chunks []chunk, end bool) bool {
		for _, one := range chunks {
			text += one.Delta
			failed = one.Error
		}
		ended = end
		return true
	})
	switch {
	case failed != nil:
		return nil, &dialect.RPCError{Code: dialect.InternalError, Message: failed.Message,
			Data: map[string]any{"code": failed.Code, "run_id": s.run, "text": text}}
	case !ended:
		return nil, messages.Errorf(messages.CodeUnavailable, "the call ended before the run %s", s.run)
	}
	return map[string]any{"text": text, "stream_id": s.id, "run_id": s.run}, nil
}
