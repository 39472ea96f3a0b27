package door

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// maxMessage is the maximum size of a message from a client, in bytes; unpacked if it comes compressed.
const maxMessage = 1 << 20

// mostTakeovers is for how many connections the server keeps a compressor, of about 1 MB, between two messages. Messages
// of further ones are compressed one by one, from 512 bytes on.
const mostTakeovers = 16

// maxCalls is how many calls of one client are served at a time. Further calls wait.
const maxCalls = 256

// Socket is a WebSocket that carries text messages. Send may be called from any goroutine; the client gets messages in
// the order of the calls.
type Socket struct {
	door *Door
	ws   *websocket.Conn
	// Context ends with the connection, when the caller's token is revoked, and when the server stops.
	Context context.Context
	calls   chan struct{} // a semaphore for calls in progress
	done    sync.WaitGroup

	held    func() // releases the share of the current message; nil after Call
	writing sync.Mutex
	late    *time.Timer // cuts the connection if the client does not read in time
}

// Socket accepts a WebSocket and calls open. It then calls read with each message, in order, until the client leaves.
// Errors: bad_request if the request does not ask for a WebSocket.
func (d *Door) Socket(w http.ResponseWriter, r *http.Request, open func(s *Socket) (read func(message []byte))) error {
	if !isWebSocket(r) {
		return messages.Errorf(auth.CodeBadRequest, "a GET of this path must ask for a WebSocket")
	}
	compression := websocket.CompressionContextTakeover
	if d.sockets.Add(1) > mostTakeovers {
		compression = websocket.CompressionNoContextTakeover
	}
	defer d.sockets.Add(-1)
	// Package auth has checked the origin.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: compression})
	if err != nil {
		return nil // Accept has answered
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
		case !utf8.Valid(message):
			_ = ws.Close(websocket.StatusInvalidFramePayloadData, "the message is not UTF-8")
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

func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// Go runs f in a goroutine. Closing the connection waits for it.
func (s *Socket) Go(f func()) { s.done.Go(f) }

// Call is Go for the work that the current message asks for. A server that stops waits for it to finish. Call blocks
// while the client has maxCalls calls under way.
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

// leave closes the connection when the server stops, once all calls have finished.
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

// ping sends pings, which find clients that have vanished without closing the connection, and one before the token expires.
func (s *Socket) ping() {
	tick := time.NewTicker(s.door.Heartbeat)
	defer tick.Stop()
	var last <-chan time.Time
	if when, ok := auth.Expires(s.Context); ok {
		last = time.After(time.Until(when) - beforeExpiry)
	}
	for {
		select {
		case <-s.Context.Done():
			return
		case <-tick.C:
		case <-last:
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

// Send sends a message. If the client does not read it within the write timeout, its connection is cut.
func (s *Socket) Send(message []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	// A context with an end would cost more than the write itself.
	s.late.Reset(s.door.WriteTimeout)
	defer s.late.Stop()
	return s.ws.Write(context.Background(), websocket.MessageText, s.door.Redact(message))
}

// SendWith sends the message that f appends to its argument, a reused buffer. It sends none if f returns an empty one.
func (s *Socket) SendWith(f func(b []byte) []byte) (err error) {
	b := f(*buffers.Get().(*[]byte))
	if len(b) > 0 {
		err = s.Send(b)
	}
	keep(b)
	return err
}

// Break cuts the connection without a close frame, so that no client takes it for the end of a run.
func (s *Socket) Break() { _ = s.ws.CloseNow() }

// Frames collects what one run writes on a Socket, each frame a message. Several runs can share a Socket.
type Frames struct {
	socket *Socket
	mu     sync.Mutex
	frames [][]byte
}

// Frames returns an empty Frames for one run.
func (s *Socket) Frames() *Frames { return &Frames{socket: s} }

// Add adds a frame to the next Flush.
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
