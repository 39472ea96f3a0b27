package door

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// maxMessage is the most bytes that a client sends at once.
const maxMessage = 1 << 20

// maxCalls is how many calls of a client are dealt with at a time. A client that sends more waits.
const maxCalls = 256

// Socket is a WebSocket of texts. Its client reads messages in the order in which they were sent.
type Socket struct {
	door *Door
	ws   *websocket.Conn
	// Context ends with the connection, with the caller's token, and when the server stops.
	Context context.Context
	calls   chan struct{}
	done    sync.WaitGroup

	held    func() // ends the count of the message at hand; nil after Call
	writing sync.Mutex
	late    *time.Timer // cuts the connection of a client that does not read
}

// Socket accepts a WebSocket. It calls open, and what open returns with each message, in order, until the client leaves.
// A request for something else is an error (bad_request).
func (d *Door) Socket(w http.ResponseWriter, r *http.Request, open func(s *Socket) (read func(message []byte))) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return messages.Errorf(auth.CodeBadRequest, "a GET of this path must ask for a WebSocket")
	}
	// Package auth has checked the origin.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // it has answered
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(r.Context())
	s := &Socket{door: d, ws: ws, Context: ctx, calls: make(chan struct{}, maxCalls)}
	s.late = time.AfterFunc(d.WriteTimeout, s.Break)
	s.late.Stop()
	defer s.done.Wait()
	defer s.Break()
	defer cancel()
	defer d.onDrain(ctx, s.leave)()
	defer context.AfterFunc(r.Context(), func() { s.close(websocket.StatusPolicyViolation, context.Cause(r.Context())) })()
	s.Go(s.ping)
	read := open(s)
	for {
		kind, message, err := ws.Read(ctx)
		switch {
		case err != nil:
			return nil
		case kind != websocket.MessageText:
			_ = ws.Close(websocket.StatusUnsupportedData, "messages are JSON texts")
			return nil
		}
		if s.held, err = auth.Message(ctx, len(message)); err != nil {
			s.close(websocket.StatusTryAgainLater, err)
			return nil
		}
		if read(message); s.held != nil {
			s.held()
		}
	}
}

// Go runs f in a goroutine. The connection waits for it at its end.
func (s *Socket) Go(f func()) { s.done.Go(f) }

// Call is Go for what a client asked for with the message at hand: a server that stops lets it come to its end.
func (s *Socket) Call(f func()) {
	held := s.held
	s.held = nil
	select {
	case s.calls <- struct{}{}:
	case <-s.Context.Done():
		held()
		return
	}
	s.done.Go(func() {
		defer func() { held(); <-s.calls }()
		f()
	})
}

// leave ends the connection when the server stops, after what was asked for is done: the server ends its runs.
func (s *Socket) leave() {
	for range maxCalls {
		select {
		case <-s.Context.Done():
			return
		case s.calls <- struct{}{}:
		}
	}
	s.close(websocket.StatusServiceRestart, ErrDraining)
}

func (s *Socket) close(code websocket.StatusCode, why error) { _ = s.ws.Close(code, why.Error()) }

// ping finds a client that has vanished.
func (s *Socket) ping() {
	tick := time.NewTicker(s.door.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-s.Context.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(s.Context, s.door.WriteTimeout)
		err := s.ws.Ping(ctx)
		cancel()
		if err != nil {
			s.Break()
			return
		}
	}
}

// Send sends a message. A client that does not read it in time loses the connection.
func (s *Socket) Send(message []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	// A context with an end would cost more than the write itself.
	s.late.Reset(s.door.WriteTimeout)
	defer s.late.Stop()
	return s.ws.Write(context.Background(), websocket.MessageText, s.door.Redact(message))
}

// SendWith sends the message that f appends.
func (s *Socket) SendWith(f func(b []byte) []byte) error {
	b := f(*buffers.Get().(*[]byte))
	err := s.Send(b)
	keep(b)
	return err
}

// Break cuts the connection without a farewell, so that no client takes it for the end of a run.
func (s *Socket) Break() { _ = s.ws.CloseNow() }

// Frames is where a run is written on a Socket, beside others: each frame is a message.
type Frames struct {
	socket *Socket
	mu     sync.Mutex
	frames [][]byte
}

// Frames returns the place for one run.
func (s *Socket) Frames() *Frames { return &Frames{socket: s} }

// Add adds a frame to what the next Flush sends.
func (f *Frames) Add(frame []byte) { f.frames = append(f.frames, frame) }

// Flush sends the frames.
func (f *Frames) Flush() error {
	defer func() { f.frames = f.frames[:0] }()
	for _, frame := range f.frames {
		if err := f.socket.Send(frame); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frames) lock() *sync.Mutex { return &f.mu }
