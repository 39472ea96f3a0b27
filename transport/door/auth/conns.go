package auth

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// limitedListener bounds the number of open connections.
type limitedListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	close  func()

	mu    sync.Mutex
	open  map[*limitedConn]struct{} // without those that handlers took over
	until time.Time                 // when requests must have come; zero before the server stops
}

func newLimitedListener(l net.Listener, connections int) *limitedListener {
	closed := make(chan struct{})
	return &limitedListener{Listener: l, slots: make(chan struct{}, connections), closed: closed,
		close: sync.OnceFunc(func() { close(closed) }), open: map[*limitedConn]struct{}{}}
}

// Accept waits for a free slot and then for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return l.enter(c), nil
}

func (l *limitedListener) enter(c net.Conn) *limitedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &limitedConn{Conn: c, listener: l, until: l.until}
	l.open[s] = struct{}{}
	return s
}

// limitReads makes reads of requests fail that have not arrived by then.
func (l *limitedListener) limitReads(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	for c := range l.open {
		c.limitReads(until)
	}
}

// connState is the server's hook. It gives up the deadlines of a connection that a handler hijacked.
func (l *limitedListener) connState(c net.Conn, state http.ConnState) {
	if state != http.StateHijacked {
		return
	}
	s := c.(*limitedConn)
	l.forget(s)
	s.limitReads(time.Time{})
}

func (l *limitedListener) forget(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// Close closes the listener and ends Accept.
func (l *limitedListener) Close() error {
	l.close()
	return l.Listener.Close()
}

// limitedConn frees its slot when it is closed, by the server or by a handler that hijacked it. The server sets a
// read deadline only while it waits for a request or a part of one.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	once     sync.Once

	mu       sync.Mutex
	deadline time.Time // of reads, as it was set; zero is none
	until    time.Time // what no deadline of reads is later than; zero is no such time
}

// Close frees the slot once.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.listener.forget(c)
		<-c.listener.slots
	})
	return err
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *limitedConn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// SetReadDeadline sets the deadline, or an earlier one while the server stops.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.apply()
}

func (c *limitedConn) limitReads(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	_ = c.apply() // its error is that of a connection that is closed
}

func (c *limitedConn) apply() error {
	if !c.until.IsZero() && c.deadline.After(c.until) {
		return c.Conn.SetReadDeadline(c.until)
	}
	return c.Conn.SetReadDeadline(c.deadline)
}

// ReadFrom lets the system send files without copying.
func (c *limitedConn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite lets a client receive an answer although its request was not read whole.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
