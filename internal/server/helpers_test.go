package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door reads what it is sent.
func door() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
}

// serve serves the handler at a real socket until the test ends, and returns its address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, handler, server.Limits{}) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

type answer struct {
	*http.Response
	body string
}

func send(t *testing.T, addr string, lines ...string) answer {
	t.Helper()
	resp, body := testkit.SendLines(t, addr, lines...)
	return answer{resp, body}
}

func receive(t *testing.T, c io.Reader) answer {
	t.Helper()
	resp, body := testkit.ReadAnswer(t, c)
	return answer{resp, body}
}

func wantCode(t *testing.T, err error, code messages.Code, part string) {
	t.Helper()
	if messages.CodeOf(err) != code || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want the code %s and %q", err, code, part)
	}
}

func closedNow(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestLimitAndClose(t *testing.T) {
	var c server.Count
	for range 2 {
		if !c.Begin(2) {
			t.Error("the second of two is refused")
		}
	}
	if c.Begin(2) {
		t.Error("the third of two is accepted")
	}
	if !c.Begin(0) {
		t.Error("it is refused without a limit")
	}
	c.End()
	c.End()
	if !c.Begin(2) {
		t.Error("the freed place is refused")
	}
	c.Close()
	if c.Begin(0) {
		t.Error("a closed count accepts")
	}
}

// More may begin while somebody waits. Idle is closed for all who wait; a later call waits for the next time.
func TestIdle(t *testing.T) {
	var c server.Count
	if !closedNow(c.Idle()) {
		t.Error("nothing is in flight, but Idle waits")
	}
	c.Begin(0)
	first, second := c.Idle(), c.Idle()
	c.Begin(0)
	c.End()
	if closedNow(first) || closedNow(second) {
		t.Error("Idle is closed while one is in flight")
	}
	c.End()
	if !closedNow(first) || !closedNow(second) {
		t.Error("Idle is still open at the end")
	}
	c.Begin(0)
	if closedNow(c.Idle()) {
		t.Error("Idle is closed while another is in flight")
	}
}
