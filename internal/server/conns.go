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

// limitedListener limits the number of open connections. If the limit is reached, a new connection replaces one without
// a request in flight, so that nobody can lock others out by holding connections. mu guards the fields below it.
type limitedListener struct {
	net.Listener
	most int

	mu    sync.Mutex
	count int                       // open connections, including those that handlers took over
	open  map[*limitedConn]struct{} // connections that no handler has taken over
	of    map[netip.Addr]int        // the number of connections in open, by remote address
	until time.Time                 // deadline for reading requests while the server stops; zero before that
}

func newLimitedListener(l net.Listener, connections int) *limitedListener {
	return &limitedListener{Listener: l, most: connections, open: map[*limitedConn]struct{}{}, of: map[netip.Addr]int{}}
}

// busy is the response to a connection that exceeds the limit.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// Accept waits for a connection. It closes those for which there is no place.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if s := l.enter(c); s != nil {
			bound(c)
			return s, nil
		}
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(c, busy) // fits the socket's buffer, so it cannot block
		_ = c.Close()
	}
}

// enter counts the connection. It returns nil if there is no place for it.
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
	l.count, l.of[s.from], l.open[s] = l.count+1, l.of[s.from]+1, struct{}{}
	return s
}

// looked is how many connections unused examines.
const looked = 256

// unused returns a connection without a request in flight, or nil. Among those that it examines, it prefers the address
// with the most connections, and then the oldest connection.
func (l *limitedListener) unused() (first *limitedConn) {
	n := 0
	for c := range l.open { // in random order
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

// leave frees the connection's place. mu must be held.
func (l *limitedListener) leave(c *limitedConn) {
	if !c.left {
		c.left = true
		l.count--
	}
	l.drop(c)
}

// drop removes the connection from open. mu must be held.
func (l *limitedListener) drop(c *limitedConn) {
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if l.of[c.from]--; l.of[c.from] == 0 {
		delete(l.of, c.from)
	}
}

// limitReads sets a deadline for reading the requests that are arriving.
func (l *limitedListener) limitReads(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	for c := range l.open {
		c.limitReads(until)
	}
}

// connState is the http.Server's hook. It removes the deadlines of a connection that a handler has taken over.
func (l *limitedListener) connState(c net.Conn, state http.ConnState) {
	if state != http.StateHijacked {
		return
	}
	s := c.(*limitedConn)
	l.mu.Lock()
	l.drop(s) // it may not be replaced any more
	l.mu.Unlock()
	s.limitReads(time.Time{})
}

// limitedConn is a connection that frees its place when it is closed, either by the server or by the handler that took
// it over. The server sets a read deadline only while it waits for a request or a part of one.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	from     netip.Addr
	began    time.Time
	requests atomic.Int32 // in flight
	left     bool         // its place is free; guarded by the listener's mu
	link     link

	mu       sync.Mutex
	deadline time.Time // the read deadline that was set; zero is none
	until    time.Time // no read deadline is later than this; zero is no limit
}

// Write writes to the client. It waits while more than the client takes in half a second is unsent.
func (c *limitedConn) Write(data []byte) (int, error) { return c.link.write(c.Conn, data) }

// Close closes the connection and frees its place.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.leave(c)
	return err
}

// SetDeadline sets the read and the write deadline.
func (c *limitedConn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// SetReadDeadline sets the read deadline, or an earlier one while the server stops.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.apply()
}

// limitReads bounds the current and all later read deadlines.
func (c *limitedConn) limitReads(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	_ = c.apply() // an error means that the connection is closed
}

// apply sets the earlier of deadline and until. mu must be held.
func (c *limitedConn) apply() error {
	if !c.until.IsZero() && c.deadline.After(c.until) {
		return c.Conn.SetReadDeadline(c.until)
	}
	return c.Conn.SetReadDeadline(c.deadline)
}

// ReadFrom lets the operating system send files without copying (sendfile).
func (c *limitedConn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite lets a client receive a response even if its request was not read completely.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
