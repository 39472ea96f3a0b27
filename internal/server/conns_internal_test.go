package server

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
)

// listening is a limitedListener at a real socket.
func listening(t *testing.T) *limitedListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.IfError(t, err)
	b := newLimitedListener(l, 8)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// accepted is the server's end of a new connection over which a byte comes, to be read but for a deadline.
func accepted(t *testing.T, l *limitedListener) net.Conn {
	t.Helper()
	client, err := net.Dial("tcp", l.Addr().String())
	fatal.IfError(t, err)
	_, err = client.Write([]byte("x"))
	fatal.IfError(t, err)
	c, err := l.Accept()
	fatal.IfError(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		_ = c.Close()
	})
	return c
}

func wantTooLate(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// A server that lives for years keeps nothing of the connections that it had.
func TestClosedConnectionsAreForgotten(t *testing.T) {
	l := listening(t)
	for range 3 {
		c := accepted(t, l)
		_, _ = c.Close(), c.Close()
	}
	if len(l.open) != 0 {
		t.Errorf("%d of 3 closed connections are kept", len(l.open))
	}
}

// A connection that was in the listener's queue when the server stopped has no more time than the others.
func TestConnectionsAcceptedWhileItStops(t *testing.T) {
	l := listening(t)
	l.limitReads(time.Now())
	c := accepted(t, l)
	_ = c.SetReadDeadline(time.Now().Add(time.Hour))
	wantTooLate(t, c)
}

// A deadline that is nearer than the server's stays: by one in the past the server takes a request's connection back
// from whoever reads it.
func TestNearerDeadlinesStayWhileItStops(t *testing.T) {
	l := listening(t)
	before := accepted(t, l)
	_ = before.SetReadDeadline(time.Unix(1, 0))
	l.limitReads(time.Now().Add(time.Hour))
	wantTooLate(t, before)
	after := accepted(t, l)
	_ = after.SetReadDeadline(time.Unix(1, 0))
	wantTooLate(t, after)
}
