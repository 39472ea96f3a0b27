package dial_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed889630bf/lastword/internal/dial"
)

// names is a name server on loopback. Each name has the addresses of its first
// answer, then of its second, and so on; the last one stays.
type names struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr
	asked   map[string]int // questions for IPv4 addresses
}

// serveNames starts a name server; a line is "name a,b c": the first answer is a and b, all later ones c.
func serveNames(t *testing.T, lines ...string) (*names, *net.Resolver) {
	t.Helper()
	n := &names{answers: map[string][][]netip.Addr{}, asked: map[string]int{}}
	for _, line := range lines {
		n.define(strings.Fields(line))
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve(conn)
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return n, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) define(fields []string) {
	for _, answer := range fields[1:] {
		var addrs []netip.Addr
		for text := range strings.SplitSeq(answer, ",") {
			addrs = append(addrs, netip.MustParseAddr(text))
		}
		n.answers[fields[0]+"."] = append(n.answers[fields[0]+"."], addrs)
	}
}

func (n *names) questions(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name+"."]
}

func (n *names) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		if reply, err := n.reply(m); err == nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func (n *names) reply(m dnsmessage.Message) ([]byte, error) {
	q := m.Questions[0]
	addrs, found := n.answer(q)
	m.Response, m.Authoritative, m.RecursionAvailable = true, true, true
	m.Additionals = nil
	if !found {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return m.Pack()
}

func (n *names) answer(q dnsmessage.Question) ([]netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name := strings.ToLower(q.Name.String())
	all, found := n.answers[name]
	if !found {
		return nil, false
	}
	turn := n.asked[name]
	if q.Type == dnsmessage.TypeA {
		n.asked[name]++
	}
	return all[min(turn, len(all)-1)], true
}

// wires carries every connection to one place and notes where it was meant to go.
type wires struct {
	mu    sync.Mutex
	to    string
	dials []string
}

func (w *wires) connect(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, address)
	w.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, w.to)
}

func (w *wires) dialed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dials
}

// listener accepts connections and closes them at once.
func listener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

var _ dial.Connect = (*wires)(nil).connect
