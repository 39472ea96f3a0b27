package gate

import (
	"io"
	"net"
	"sync"
)

// bounded is a listener that accepts a connection only when fewer than its slots are open.
type bounded struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	close  func()
}

func newBounded(l net.Listener, connections int) *bounded {
	closed := make(chan struct{})
	return &bounded{Listener: l, slots: make(chan struct{}, connections), closed: closed,
		close: sync.OnceFunc(func() { close(closed) })}
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
	return &slotted{Conn: c, slots: l.slots}, nil
}

// Close ends the waiting of Accept.
func (l *bounded) Close() error {
	l.close()
	return l.Listener.Close()
}

// slotted is a connection that frees its slot when it is closed, whoever closes it: the server, or a handler that took
// it over.
type slotted struct {
	net.Conn
	slots chan struct{}
	once  sync.Once
}

// Close frees the slot at the first call.
func (c *slotted) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.slots })
	return err
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
