package standin

import (
	"context"
	"net"
	"sync"
)

// Network is a [net.Listener] whose connections are pipes in memory, for tests in a bubble of virtual time: time passes
// only while both sides of its connections wait. Make one with [NewNetwork]. It is safe for concurrent use.
type Network struct {
	conns chan net.Conn
	down  chan struct{}

	mu   sync.Mutex
	open []net.Conn
}

// NewNetwork returns a network whose server is up until Close.
func NewNetwork() *Network { return &Network{conns: make(chan net.Conn), down: make(chan struct{})} }

// Accept implements [net.Listener].
func (n *Network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.conns:
		return conn, nil
	case <-n.down:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (n *Network) Close() error { close(n.down); return nil }

// Addr implements [net.Listener].
func (n *Network) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// Dial is for the DialContext of an http.Transport: every address leads to the server.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case n.conns <- there:
	case <-n.down:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = append(n.open, there)
	return here, nil
}

// HangUp cuts every connection.
func (n *Network) HangUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.open {
		_ = conn.Close()
	}
	n.open = nil
}
