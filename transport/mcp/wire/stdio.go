package wire

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/inflight"
)

const (
	// breath is the pause between the last notification of a request and its result on stdio. The official TypeScript
	// clients drop what they read in one chunk with the result.
	breath = 3 * time.Millisecond
	// patience is how long a result waits for a client to have read what is before it, where the system tells.
	patience = 250 * time.Millisecond
	// grace is how long requests may still take, once in has ended, before they are told that their client is gone: so
	// that a script that pipes its requests in gets its answers.
	grace = 250 * time.Millisecond
	// parting is how long ServeStdio waits for handlers that were told, and then for the client to read what is left.
	parting = 5 * time.Second
	// deaf is how long a client that is left by ctx may take nothing of that before it counts as gone. One whose requests
	// were piped in has as long as parting.
	deaf = 2 * time.Second
)

// ServeStdio serves one client, a message a line, until in ends or ctx is done. What is in flight then is told that its
// client is gone. It returns nil when in ended.
//
// A read of in that cannot be interrupted by SetReadDeadline is left behind when ctx is done; it ends with the next
// line. A write of out that a client does not take is left behind too: 2 s after ctx is done, 5 s after in ended.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &conn{server: s, ctx: ctx, lines: newLineWriter(out), handlers: new(inflight.Count)}
	c.session = s.newSession(s.connection(), gate.From(ctx))
	c.push = newPush(c.session.end, func(f *frame) error {
		s.clean(f)
		_, err := c.lines.append(c.ctx, f.line())
		return err
	})
	c.session.attach(c.push)
	if err := s.sessions.addLocal(c.session); err != nil {
		return err
	}
	defer s.sessions.drop(c.session)
	go c.lines.run()
	go c.pump()
	return c.serve(in)
}

// connection names a client on stdio. A process has one, unless it serves sockets the same way.
func (s *Server) connection() string {
	if n := s.connections.Add(1); n > 1 {
		return "stdio-" + strconv.FormatUint(n, 10)
	}
	return "stdio"
}

// conn is one client on stdio. Requests of both protocols share its ids.
type conn struct {
	server   *Server
	ctx      context.Context
	session  *Session
	push     *push
	lines    *lineWriter
	handlers *inflight.Count
}

func (c *conn) serve(in io.Reader) error {
	read := make(chan error, 1)
	go func() { read <- c.read(newLineReader(in, c.server.config.Message)) }()
	var err error
	interrupted, unheard := true, deaf
	select {
	case err = <-read:
		interrupted, unheard = false, parting
		last, stop := context.WithTimeout(context.Background(), grace)
		c.handlers.Wait(last)
		stop()
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	case <-c.session.Done(): // by Close
	case <-c.lines.done:
		err = c.lines.failure()
	}
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && interrupted {
		_ = d.SetReadDeadline(time.Now())
	}
	c.session.end()
	c.handlers.Close()
	told := time.Now()
	c.lines.heed(c.handlers.Idle(), told, unheard)
	c.lines.close(told, unheard) // which releases who writes to a client that does not read
	c.push.close()
	return err
}

func (c *conn) read(in *lineReader) error {
	for {
		line, err := in.next()
		switch {
		case err == nil:
			c.take(line)
		case errors.Is(err, errLong):
			c.refuse(nil, errorf(mcp.INVALID_REQUEST, "the message is longer than %d bytes", in.limit))
		case err == io.EOF:
			return nil
		default:
			return err
		}
	}
}

// take never waits, neither for a handler nor for the client to read, so that what cancels always gets through.
func (c *conn) take(line []byte) {
	if c.session.takesBatch(line) {
		c.takeBatch(line)
		return
	}
	m, fail := parse(line)
	switch {
	case fail != nil:
		c.refuse(m.id, fail)
	case m.answer(), m.notification():
		c.takeOther(m)
	default:
		c.request(m)
	}
}

func (c *conn) takeBatch(line []byte) {
	requests, others, fail := unbatch(line)
	if fail != nil {
		c.refuse(nil, fail)
		return
	}
	for _, m := range others {
		c.takeOther(m)
	}
	if requests.batch != nil {
		c.request(requests)
	}
}

// takeOther takes a message that is no request.
func (c *conn) takeOther(m message) {
	if m.answer() || m.method == methodCancelled {
		c.session.take(c.ctx, m)
		return
	}
	if !c.handlers.Begin(c.server.config.Requests) {
		return
	}
	go func() {
		defer c.handlers.End()
		c.session.take(c.ctx, m)
	}()
}

func (c *conn) refuse(id []byte, e *Error) {
	if f, err := answerFrame(id, outcome{fail: e}); err == nil {
		defer f.free()
		c.lines.notice(f.line())
	}
}

func (c *conn) request(m message) {
	session, name := c.session, c.session.id
	if m.modern() {
		session, name = nil, "request-"+strconv.FormatUint(c.server.requests.Add(1), 10)
	}
	x := c.server.newExchange(c.ctx, m, session, &c.session.requestTable)
	x.key, x.name, x.out = c.server.key(m), name, &lineStream{x: x, lines: c.lines}
	if err := c.enter(x); err != nil {
		c.refuse(m.id, err)
		return
	}
	if m.method == methodInitialize && !c.session.initialized.Load() {
		c.initialize(x) // before what a script sends right behind it
		return
	}
	go func() {
		defer c.handlers.End()
		x.run()
	}()
}

func (c *conn) enter(x *Exchange) *Error {
	if !c.handlers.Begin(0) {
		return errorf(codeBusy, "the server is closing")
	}
	err := x.table.add(x, c.server.config.Requests)
	if err != nil {
		c.handlers.End()
	}
	return err
}

func (c *conn) initialize(x *Exchange) {
	defer c.handlers.End()
	x.run()
	if c.session.initialized.Load() {
		c.session.begin(c.ctx)
	}
}

// pump writes mcp-go's broadcasts.
func (c *conn) pump() {
	done := c.session.Done()
	for {
		select {
		case <-done:
			return
		case n := <-c.push.broadcasts:
			if err := c.push.forward(n); err != nil {
				c.server.log.Debug("a broadcast was not sent", zap.String("method", n.Method), zap.Error(err))
			}
		}
	}
}

// lineStream is where the exchange of a request on stdio writes.
type lineStream struct {
	x     *Exchange
	lines *lineWriter
	end   int64 // of the last line
	last  time.Time
}

// send waits for the client to read, but not with the questions that are taken back from one that cancelled.
func (l *lineStream) send(f *frame, _ bool) (err error) {
	if l.x.ctx.Err() != nil {
		l.lines.notice(f.line())
		return nil
	}
	l.end, err = l.lines.append(l.x.ctx, f.line())
	l.last = time.Now()
	return err
}

// answer waits a breath after what was sent before, with the client's end having taken it. A client that is gone is
// told too: whoever piped the request in may still read.
func (l *lineStream) answer(f *frame, _ *Error) {
	ctx := l.x.ctx
	if l.end > 0 {
		l.pause(ctx)
		if l.x.silent.Load() {
			return
		}
	}
	_, _ = l.lines.append(context.WithoutCancel(ctx), f.line())
}

func (l *lineStream) pause(ctx context.Context) {
	given := time.Now()
	l.lines.flushed(ctx, l.end)
	l.lines.drained(ctx, l.end, patience)
	if now := time.Now(); now.Sub(given) < time.Millisecond && now.Sub(l.last) > breath {
		return // it was taken long ago
	}
	timer := time.NewTimer(breath)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (l *lineStream) takesEvents() bool { return true }

func (l *lineStream) hurry() { l.lines.wake() }
