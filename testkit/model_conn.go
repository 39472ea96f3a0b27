package testkit

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"time"
)

// modelConn is a connection. One goroutine reads its requests, and so sees at any time that the client has left;
// another answers them.
type modelConn struct {
	model  *Model
	conn   *net.TCPConn
	number int
	dead   chan struct{} // closed when nothing more can be read
	shut   bool          // this side has ended it: nothing more is answered

	// The model's lock is for these.
	exchanges []*Exchange
	lost      bool // the client has closed it
}

func (c *modelConn) serve() {
	defer c.model.forget(c)
	defer func() { _ = c.conn.Close() }()
	requests := make(chan ModelRequest)
	c.model.group.Go(func() { c.read(requests) })
	for r := range requests {
		if !c.shut {
			c.answer(r)
		}
	}
}

func (c *modelConn) answer(r ModelRequest) {
	x := c.model.take(c, r)
	w := newAnswerWriter(c, x)
	x.run(w)
	if !w.ended || w.closes {
		c.hangUp()
	}
}

// hangUp ends this side of the connection. The other is read on, so that nothing unread turns the FIN into an RST.
func (c *modelConn) hangUp() {
	c.shut = true
	_ = c.conn.CloseWrite()
}

// reset ends the connection by an RST, once what was written has arrived.
func (c *modelConn) reset() {
	c.shut = true
	c.drain()
	_ = c.conn.SetLinger(0)
	_ = c.conn.Close()
}

// drain waits for what was written to arrive: acknowledgements take up to 40 ms, and tell nobody when they come.
func (c *modelConn) drain() {
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for unsent(c.conn) > 0 {
		select {
		case <-tick.C:
		case <-c.dead:
			return
		case <-c.model.closing.Done():
			return
		}
	}
}

func (c *modelConn) read(out chan<- ModelRequest) {
	defer close(out)
	defer close(c.dead)
	in := bufio.NewReader(c.conn)
	for {
		r, err := c.next(in)
		if err != nil {
			c.left(err)
			return
		}
		select {
		case out <- r:
		case <-c.model.closing.Done():
			return
		}
	}
}

func (c *modelConn) next(in *bufio.Reader) (ModelRequest, error) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return ModelRequest{}, err
	}
	if r.Header.Get("Expect") != "" {
		if _, err := c.conn.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return ModelRequest{}, err
		}
	}
	return c.model.decode(r)
}

// left tells the exchanges that the client is gone, unless it was this side that closed the connection.
func (c *modelConn) left(err error) {
	if !errors.Is(err, net.ErrClosed) && c.model.closing.Err() == nil {
		c.model.lost(c)
	}
}
