package wire

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/lines"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	// resultPause is the pause between a request's last notification and its result. The official TypeScript clients
	// drop notifications that they read together with the result.
	resultPause = 3 * time.Millisecond
	// readTimeout is how long a result waits until the client has read what precedes it, if the operating system can
	// tell.
	readTimeout = 250 * time.Millisecond
	// inputEndTimeout is how long requests may take after the input has ended, before they end with ErrDisconnected. A
	// script that pipes its requests into the program gets its answers within that time.
	inputEndTimeout = 250 * time.Millisecond
	// closeTimeout is how long ServeStdio waits for handlers to return and for the client to read the rest.
	closeTimeout = 5 * time.Second
	// stallTimeout is how long the client may read nothing after ctx is done, before ServeStdio gives up. After the end
	// of the input it is closeTimeout.
	stallTimeout = 2 * time.Second
)

// ServeStdio serves one client, one message per line, until in ends or ctx is done. Requests in flight then end with
// ErrDisconnected. It returns nil if in has ended.
//
// If in has no SetReadDeadline, a blocked read outlives ServeStdio until the next line. A blocked write is abandoned 2
// s after ctx is done, or 5 s after in has ended. ServeStdio returns an error if the client reads or writes nothing for a
// minute in the middle of a message.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &conn{server: s, ctx: ctx, lines: lines.NewWriter(out, s.config.Door.Redact), handlers: new(server.Count)}
	c.session = s.newSession("stdio-"+strconv.FormatUint(s.connections.Add(1), 10), auth.From(ctx))
	c.session.stdio = true
	c.session.attach(&sessionStream{leave: c.session.end, write: func(message []byte) error {
		return c.lines.Append(ctx, message)
	}})
	if _, err := s.sessions.add(c.session); err != nil {
		return err
	}
	defer s.sessions.drop(c.session)
	go c.lines.Run()
	return c.serve(in)
}

// conn is one client on stdio. Requests of all protocol versions share its id space.
type conn struct {
	server   *Server
	ctx      context.Context
	session  *Session
	lines    *lines.Writer
	handlers *server.Count
}

// serve reads messages until the input, the session or the output ends, and then waits for handlers and for the client.
func (c *conn) serve(in io.Reader) error {
	read, from := make(chan error, 1), lines.NewReader(in, c.server.config.Message)
	go func() { read <- c.read(from) }()
	var err error
	interrupted, stall := true, stallTimeout
	select {
	case err = <-read:
		interrupted, stall = false, closeTimeout
		last, stop := context.WithTimeout(context.Background(), inputEndTimeout)
		c.handlers.Wait(last)
		stop()
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	case <-c.session.life.Done(): // by Close
	case err = <-from.Stuck():
	case <-c.lines.Done():
		err = c.lines.Err()
	}
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && interrupted {
		_ = d.SetReadDeadline(time.Now())
	}
	c.session.end()
	c.handlers.Close()
	c.lines.Finish(c.handlers.Idle(), closeTimeout, stall)
	return err
}

// read handles lines until the input ends.
func (c *conn) read(in *lines.Reader) error {
	for {
		line, err := in.Next()
		switch {
		case err == nil:
			c.take(line)
		case errors.Is(err, lines.ErrLong):
			c.refuse(nil, errorf(mcp.INVALID_REQUEST, "the message is longer than %d bytes", c.server.config.Message))
		case err == io.EOF:
			return nil
		default:
			return err
		}
	}
}

// take handles a line. It never blocks, so that cancellations always get through.
func (c *conn) take(line []byte) {
	m, fail := c.session.read(line)
	if fail != nil {
		c.refuse(m.id, fail)
		return
	}
	for _, one := range m.unanswered() {
		if one.answer() || one.method == methodCancelled {
			c.session.take(c.ctx, one)
		} else if c.handlers.Begin(c.server.config.Requests) {
			go func() {
				defer c.handlers.End()
				c.session.take(c.ctx, one)
			}()
		}
	}
	if m.wantsAnswer() {
		c.request(m)
	}
}

func (c *conn) refuse(id []byte, e *Error) {
	message, _ := encodeAnswer(id, outcome{fail: e}) // an error always can
	c.lines.AppendNow(message)
}

// request runs a request beside the reading of further lines.
func (c *conn) request(m message) {
	session := c.session
	if m.modern() {
		session = nil
	}
	x := c.server.newExchange(c.ctx, m, session, &c.session.requestTable)
	x.out = &stdioStream{x: x, lines: c.lines}
	if !c.handlers.Begin(0) { // closing waits for the request
		c.refuse(m.id, errorf(codeBusy, "the server is closing"))
		return
	}
	if err := x.table.add(x, c.server.config.Requests); err != nil {
		c.handlers.End()
		c.refuse(m.id, err)
		return
	}
	run := func() {
		defer c.handlers.End()
		x.run()
	}
	if m.method == methodInitialize && !c.session.initialized.Load() {
		run() // a script's next line must find the session initialized
		return
	}
	go run()
}

// stdioStream is the stream of a request on stdio.
type stdioStream struct {
	x     *Exchange
	lines *lines.Writer
	last  time.Time // when the last notification was written
}

// send blocks while the client reads slowly, except for the withdrawal of questions after the client cancelled.
func (l *stdioStream) send(_ string, message []byte) error {
	if l.x.ctx.Err() != nil {
		l.lines.AppendNow(message)
		return nil
	}
	err := l.lines.Append(l.x.ctx, message)
	l.last = time.Now()
	return err
}

// answer pauses after the last notification. It writes even if the input has ended, because the program that piped it
// in may still read.
func (l *stdioStream) answer(message []byte, _ *Error) {
	ctx := l.x.ctx
	if !l.last.IsZero() {
		l.pause(ctx)
		if l.x.noAnswer.Load() {
			return
		}
	}
	_ = l.lines.Append(context.WithoutCancel(ctx), message)
}

// pause waits until the client has read the last notification, and then for resultPause.
func (l *stdioStream) pause(ctx context.Context) {
	since := time.Now()
	l.lines.WaitRead(ctx, readTimeout)
	if now := time.Now(); now.Sub(since) < time.Millisecond && now.Sub(l.last) > resultPause {
		return // the client read it long ago
	}
	timer := time.NewTimer(resultPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (l *stdioStream) takesEvents() bool { return true }
