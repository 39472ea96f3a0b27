package gate

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// bounded is a listener that accepts a connection only when fewer than its slots are open.
type bounded struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	close  func()

	mu    sync.Mutex
	open  map[*slotted]struct{} // without those that handlers took over
	until time.Time             // when requests must have come; zero before the server stops
}

func newBounded(l net.Listener, connections int) *bounded {
	closed := make(chan struct{})
	return &bounded{Listener: l, slots: make(chan struct{}, connections), closed: closed,
		close: sync.OnceFunc(func() { close(closed) }), open: map[*slotted]struct{}{}}
}

// Accept waits for a slot and then for a connection.
func (l *bounded) Accept() (net.Conn, error) {
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

func (l *bounded) enter(c net.Conn) *slotted {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &slotted{Conn: c, listener: l, until: l.until}
	l.open[s] = struct{}{}
	return s
}

// hurry has every request that is still being received come by then, or its connection's reads fail.
func (l *bounded) hurry(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	for c := range l.open {
		c.hurry(until)
	}
}

// changed is told by the server how its connections stand. The deadlines of one that a handler took over are its own.
func (l *bounded) changed(c net.Conn, state http.ConnState) {
	if state != http.StateHijacked {
		return
	}
	s := c.(*slotted)
	l.forget(s)
	s.hurry(time.Time{})
}

func (l *bounded) forget(c *slotted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// Close ends the waiting of Accept.
func (l *bounded) Close() error {
	l.close()
	return l.Listener.Close()
}

// slotted is a connection that frees its slot when it is closed, whoever closes it: the server, or a handler that took
// it over. The server has set a deadline for reads when, and only when, it waits for a request or a part of one.
type slotted struct {
	net.Conn
	listener *bounded
	once     sync.Once

	mu       sync.Mutex
	deadline time.Time // of reads, as it was set; zero is none
	until    time.Time // what no deadline of reads is later than; zero is no such time
}

// Close frees the slot at the first call.
func (c *slotted) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.listener.forget(c)
		<-c.listener.slots
	})
	return err
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *slotted) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// SetReadDeadline sets an earlier deadline where the server stops.
func (c *slotted) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.apply()
}

func (c *slotted) hurry(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	_ = c.apply() // its error is that of a connection that is closed
}

func (c *slotted) apply() error {
	if !c.until.IsZero() && c.deadline.After(c.until) {
		return c.Conn.SetReadDeadline(c.until)
	}
	return c.Conn.SetReadDeadline(c.deadline)
}

// ReadFrom lets the system send files without copying them.
func (c *slotted) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite lets the server end an answer whose request was not read whole, so that the client still receives it.
func (c *slotted) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
