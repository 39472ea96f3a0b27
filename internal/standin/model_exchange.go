package standin

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// Exchange is one request to a [Model] and its answer. Its methods wait for the request, at most 30 s.
type Exchange struct {
	stepped bool
	started chan struct{}
	ended   chan struct{}
	gone    chan struct{}
	orders  chan order

	request ModelRequest // once it has started
	whole   bool         // once it has ended

	script []Piece
	rest   []Piece // pieces not done yet; only the server's goroutine touches it
}

// order is what the test orders a stepped answer to do.
type order struct {
	all  bool // send all remaining pieces; otherwise the next one
	done chan error
}

// ErrClientGone says that a client has closed the connection.
var ErrClientGone = errors.New("the client has closed the connection")

const patience = 30 * time.Second

func newExchange(pieces []Piece, stepped bool) *Exchange {
	pieces = slices.Clone(pieces)
	return &Exchange{stepped: stepped, script: pieces, rest: pieces, started: make(chan struct{}),
		ended: make(chan struct{}), gone: make(chan struct{}), orders: make(chan order)}
}

// Started returns a channel that is closed when the whole request has arrived.
func (x *Exchange) Started() <-chan struct{} { return x.started }

// Gone returns a channel that is closed when the server sees that the client has closed the connection, during the
// answer or after it. It stays open if the server itself closes the connection, with Reset or [Model.Close].
func (x *Exchange) Gone() <-chan struct{} { return x.gone }

// Ended returns a channel that is closed when the server is done with the answer.
func (x *Exchange) Ended() <-chan struct{} { return x.ended }

// Whole waits for the end of the answer and reports whether the client stayed until then.
func (x *Exchange) Whole() bool { return x.wait(x.ended, "the end of the answer") == nil && x.whole }

// Request waits for the request. It returns the zero value if none arrives.
func (x *Exchange) Request() ModelRequest {
	if x.wait(x.started, "a request") != nil {
		return ModelRequest{}
	}
	return x.request
}

// Next sends the next piece. After the last piece it ends the answer with its framing. It returns when the bytes are
// written. The error is [ErrClientGone] if the client has left.
func (x *Exchange) Next() error { return x.order(order{}) }

// Rest sends all remaining pieces and ends the answer.
func (x *Exchange) Rest() error { return x.order(order{all: true}) }

// order hands an order to the connection, and waits until it was obeyed.
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
		select {
		case <-x.gone:
			return ErrClientGone
		default:
			return errors.New("the answer has ended")
		}
	case <-timer.C:
		return errors.New("no request came for the scripted answer")
	}
}

// wait waits until c is closed. what says in the error for what.
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

// run sends the answer.
func (x *Exchange) run(w *answerWriter) {
	defer close(x.ended)
	if !x.stepped {
		x.whole = w.play(x.rest...) == nil && w.end() == nil
		return
	}
	for !w.over {
		select {
		case o := <-x.orders:
			o.done <- x.execute(w, o)
		case <-w.conn.dead:
			return
		case <-w.conn.model.closing.Done():
			return
		}
	}
	x.whole = w.ended
}

// execute writes the next piece, or all that are left.
func (x *Exchange) execute(w *answerWriter, o order) error {
	if o.all || len(x.rest) == 0 {
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

// modelConn is a connection. One goroutine reads its requests, so that it always notices when the client leaves;
// another goroutine answers them.
type modelConn struct {
	model  *Model
	conn   *net.TCPConn
	number int
	dead   chan struct{} // closed when nothing more can be read
	shut   bool          // this side has ended the connection, and answers nothing more

	// The model's lock guards these.
	exchanges []*Exchange
	lost      bool // the client has closed the connection
}

// serve answers the requests in order. After this side has ended the connection, it only reads them.
func (c *modelConn) serve() {
	defer func() {
		_ = c.conn.Close()
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		delete(c.model.conns, c)
	}()
	requests := make(chan ModelRequest)
	c.model.group.Go(func() { c.read(requests) })
	for r := range requests {
		if !c.shut {
			c.answer(r)
		}
	}
}

// answer answers a request. It hangs up after an answer that broke off, or that closes the connection.
func (c *modelConn) answer(r ModelRequest) {
	x := c.model.take(c, r)
	w := newAnswerWriter(c, x)
	x.run(w)
	if !w.ended || w.closes {
		c.hangUp()
	}
}

// hangUp closes this side of the connection. It keeps reading, because unread bytes would turn the FIN into an RST.
func (c *modelConn) hangUp() {
	c.shut = true
	_ = c.conn.CloseWrite()
}

// reset ends the connection with an RST, after all written bytes have arrived.
func (c *modelConn) reset() {
	c.shut = true
	c.drain()
	_ = c.conn.SetLinger(0)
	_ = c.conn.Close()
}

// drain polls until all written bytes have arrived: acknowledgements take up to 40 ms.
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

// read reads requests until the client hangs up. It closes dead then, which ends an answer that is being written.
func (c *modelConn) read(out chan<- ModelRequest) {
	defer close(out)
	defer close(c.dead)
	in := bufio.NewReader(c.conn)
	for {
		r, err := c.next(in)
		if err != nil {
			if !errors.Is(err, net.ErrClosed) && c.model.closing.Err() == nil {
				c.model.lost(c) // this side has not closed the connection
			}
			return
		}
		select {
		case out <- r:
		case <-c.model.closing.Done():
			return
		}
	}
}

// next reads a request. A client with an Expect header waits for permission to send the body.
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
