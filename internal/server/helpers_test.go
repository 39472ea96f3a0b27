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
