package server

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// limitedListener bounds the number of open connections. A new one takes the place of one that has no request in
// hand, so that nobody keeps others out by holding connections.
type limitedListener struct {
	net.Listener
	most int

	mu    sync.Mutex
	count int                       // of those open, taken over or not
	open  map[*limitedConn]struct{} // without those that handlers took over
	of    map[netip.Addr]int        // those in open, by their callers' addresses
	until time.Time                 // when requests must have come; zero before the server stops
}

func newLimitedListener(l net.Listener, connections int) *limitedListener {
	return &limitedListener{Listener: l, most: connections, open: map[*limitedConn]struct{}{}, of: map[netip.Addr]int{}}
}

// busy is the answer to a connection for which there is no place.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// Accept waits for a connection, and for a place for it if the server does.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if s := l.enter(c); s != nil {
			return s, nil
		}
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(c, busy) // it fits the socket's buffer
		_ = c.Close()
	}
}

// enter returns nil if there is no place.
func (l *limitedListener) enter(c net.Conn) *limitedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count >= l.most {
		unused := l.unused()
		if unused == nil {
			return nil
		}
		l.leave(unused)
		defer unused.Conn.Close()
	}
	s := &limitedConn{Conn: c, listener: l, until: l.until, from: auth.AddressOf(c.RemoteAddr().String()), began: time.Now()}
	l.count++
	l.of[s.from]++
	l.open[s] = struct{}{}
	return s
}

// looked is how many connections unused looks at.
const looked = 256

// unused returns a connection without a request in hand: of those that it looks at, one of the address with most
// connections, and the oldest.
func (l *limitedListener) unused() (first *limitedConn) {
	n := 0
	for c := range l.open { // in no order
		if n++; n > looked && first != nil {
			break
		}
		if c.requests.Load() > 0 {
			continue
		}
		if first == nil || l.of[c.from] > l.of[first.from] || c.from == first.from && c.began.Before(first.began) {
			first = c
		}
	}
	return first
}

// leave gives the connection's place to others. mu must be held.
func (l *limitedListener) leave(c *limitedConn) {
	if !c.left {
		c.left = true
		l.count--
	}
	l.drop(c)
}

// drop takes the connection out of open.
func (l *limitedListener) drop(c *limitedConn) {
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if l.of[c.from]--; l.of[c.from] == 0 {
		delete(l.of, c.from)
	}
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
	l.drop(c)
}

// limitedConn frees its slot when it is closed, by the server or by a handler that hijacked it. The server sets a
// read deadline only while it waits for a request or a part of one.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	from     netip.Addr
	began    time.Time
	requests atomic.Int32 // in hand
	left     bool         // by the listener's mu

	mu       sync.Mutex
	deadline time.Time // of reads, as it was set; zero is none
	until    time.Time // what no deadline of reads is later than; zero is no such time
}

// Close frees the slot once.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.leave(c)
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
