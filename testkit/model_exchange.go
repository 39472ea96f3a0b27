package testkit

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// Exchange is one request of a [Model] and its answer. Its methods may be called before the request has come: they
// wait for it, for half a minute at most.
type Exchange struct {
	stepped bool
	started chan struct{}
	ended   chan struct{}
	gone    chan struct{}
	orders  chan order

	request ModelRequest // once it has started
	whole   bool         // once it has ended

	script []Piece
	rest   []Piece // what is still to come; the server's goroutine owns it
}

// order is what a test tells a stepped answer to do.
type order struct {
	play, all bool // the pieces; all that is left; or else the next one
	pieces    []Piece
	done      chan error
}

// ErrClientGone says that a client has closed the connection.
var ErrClientGone = errors.New("the client has closed the connection")

const patience = 30 * time.Second

func newExchange(pieces []Piece, stepped bool) *Exchange {
	pieces = slices.Clone(pieces)
	return &Exchange{stepped: stepped, script: pieces, rest: pieces, started: make(chan struct{}),
		ended: make(chan struct{}), gone: make(chan struct{}), orders: make(chan order)}
}

// Started is closed when the request has come whole.
func (x *Exchange) Started() <-chan struct{} { return x.started }

// Gone is closed when the server sees that the client has closed the connection, during the answer or after it. It
// stays open where the server has closed the connection itself, by Reset or [Model.Close].
func (x *Exchange) Gone() <-chan struct{} { return x.gone }

// Ended is closed when the server is done with the answer.
func (x *Exchange) Ended() <-chan struct{} { return x.ended }

// Whole waits for the end of the answer and reports whether all of it was sent: not, where the client left before.
func (x *Exchange) Whole() bool { return x.wait(x.ended, "the end of the answer") == nil && x.whole }

// Request waits for the request. It is the zero value where none came.
func (x *Exchange) Request() ModelRequest {
	if x.wait(x.started, "a request") != nil {
		return ModelRequest{}
	}
	return x.request
}

// Next does the next piece, and past the last one ends the answer as its framing says. It returns when the bytes are
// written. The error is [ErrClientGone] where the client has left.
func (x *Exchange) Next() error { return x.order(order{}) }

// Play does the pieces now, before the next ones of the script.
func (x *Exchange) Play(pieces ...Piece) error { return x.order(order{play: true, pieces: pieces}) }

// Rest does all that is left, the end included.
func (x *Exchange) Rest() error { return x.order(order{all: true}) }

func (x *Exchange) order(o order) error {
	if !x.stepped {
		return errors.New("the answer was not scripted with Step")
	}
	o.done = make(chan error, 1)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case x.orders <- o:
		return <-o.done
	case <-x.ended:
		return x.over()
	case <-timer.C:
		return errors.New("no request came for the scripted answer")
	}
}

// over is why an answer that has ended takes no more orders.
func (x *Exchange) over() error {
	select {
	case <-x.gone:
		return ErrClientGone
	default:
		return errors.New("the answer has ended")
	}
}

func (x *Exchange) wait(c <-chan struct{}, what string) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c:
		return nil
	case <-timer.C:
		return fmt.Errorf("waited %v for %s", patience, what)
	}
}

// run gives the answer.
func (x *Exchange) run(w *answerWriter) {
	defer close(x.ended)
	if !x.stepped {
		x.whole = w.play(x.rest...) == nil && w.end() == nil
		return
	}
	for !w.over {
		select {
		case o := <-x.orders:
			o.done <- x.obey(w, o)
		case <-w.conn.dead:
			return
		case <-w.conn.model.closing.Done():
			return
		}
	}
	x.whole = w.ended
}

func (x *Exchange) obey(w *answerWriter, o order) error {
	switch {
	case o.play:
		return w.play(o.pieces...)
	case o.all || len(x.rest) == 0:
		rest := x.rest
		x.rest = nil
		if err := w.play(rest...); err != nil {
			return err
		}
		return w.end()
	}
	next := x.rest[0]
	x.rest = x.rest[1:]
	return w.play(next)
}

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
