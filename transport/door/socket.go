package door

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// maxMessage is the most bytes that a client sends at once.
const maxMessage = 1 << 20

// maxCalls is how many messages of a client are dealt with at a time. A client that sends more waits.
const maxCalls = 256

// Socket is a WebSocket of texts. Its client reads messages in the order in which they were sent.
type Socket struct {
	door *Door
	ws   *websocket.Conn
	// Context ends with the connection, with the caller's token, and when the server stops.
	Context context.Context
	done    sync.WaitGroup
}

// Socket accepts a WebSocket and calls read with each message, in a goroutine of its own, until the client leaves. It
// answers every other request with an error.
func (d *Door) Socket(w http.ResponseWriter, r *http.Request, read func(s *Socket, message []byte)) {
	if r.Header.Get("Upgrade") == "" {
		auth.Refuse(w, messages.Errorf(auth.CodeBadRequest, "a GET of this path must ask for a WebSocket"))
		return
	}
	// Package auth has checked the origin.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(r.Context())
	s := &Socket{door: d, ws: ws, Context: ctx}
	defer s.done.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, s.Break)()
	slots := make(chan struct{}, maxCalls)
	s.done.Go(s.ping)
	s.done.Go(func() { s.leave(auth.Draining(ctx), slots) })
	for {
		kind, message, err := ws.Read(ctx)
		switch {
		case err != nil:
			return
		case kind != websocket.MessageText:
			_ = ws.Close(websocket.StatusUnsupportedData, "send text messages")
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s.done.Go(func() {
			defer func() { <-slots }()
			read(s, message)
		})
	}
}

// leave ends the connection when the server stops, after what was asked for is done: the server ends its runs.
func (s *Socket) leave(draining <-chan struct{}, slots chan<- struct{}) {
	select {
	case <-s.Context.Done():
		return
	case <-draining:
	}
	for range maxCalls {
		select {
		case <-s.Context.Done():
			return
		case slots <- struct{}{}:
		}
	}
	_ = s.ws.Close(websocket.StatusServiceRestart, "the server is stopping")
}

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
	ctx, cancel := context.WithTimeout(s.Context, s.door.WriteTimeout)
	defer cancel()
	return s.ws.Write(ctx, websocket.MessageText, s.door.Redact(message))
}

// Answer answers the calls of a message, then runs all that they began, and returns when that has ended.
func (s *Socket) Answer(message []byte, serve Serve) {
	answer, begun := Answer(message, serve)
	if answer == nil || s.Send(answer) != nil {
		return
	}
	var all sync.WaitGroup
	for _, run := range begun {
		all.Go(run)
	}
	all.Wait()
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

func (f *Frames) house() (*Door, *sync.Mutex) { return f.socket.door, &f.mu }
