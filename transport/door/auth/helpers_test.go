package auth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newMiddleware(t testing.TB, c auth.Config) *auth.Middleware {
	t.Helper()
	g, err := auth.New(c)
	must(t, err)
	return g
}

// door says who calls and what came with the request.
func door() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		_ = json.NewEncoder(w).Encode(seen{Name: auth.From(r.Context()).Name, Header: r.Header, Body: text(err)})
	})
}

type seen struct {
	Name   string
	Header http.Header
	Body   string // the error of reading the body
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// serve serves the handler at a real socket until the test ends, and returns its address.
func serve(t testing.TB, handler http.Handler) string {
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
	body  string
	Seen  seen
	Error auth.Problem
}

func send(t testing.TB, addr string, lines ...string) answer {
	t.Helper()
	resp, body := testkit.SendLines(t, addr, lines...)
	a := answer{Response: resp, body: body}
	switch {
	case resp.StatusCode == http.StatusOK:
		_ = json.Unmarshal([]byte(body), &a.Seen)
	case resp.Header.Get("Content-Type") == "application/problem+json":
		_ = json.Unmarshal([]byte(body), &a.Error)
	}
	return a
}

// tokenFile writes lines to a file that its owner alone may read.
func tokenFile(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

func load(t testing.TB, path string) *auth.Tokens {
	t.Helper()
	tokens, err := auth.LoadTokens(path)
	must(t, err)
	return tokens
}

// newLine returns a token and its line.
func newLine(t testing.TB, name string, scopes ...auth.Scope) (token, line string) {
	t.Helper()
	token, digest := auth.NewToken()
	line, err := auth.Line(name, scopes, digest)
	must(t, err)
	return token, line
}

// logged collects log lines.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func wantCode(t testing.TB, err error, code messages.Code, parts ...string) {
	t.Helper()
	if messages.CodeOf(err) != code {
		t.Errorf("error %v, want the code %s", err, code)
		return
	}
	fatal.IfLacking(t, err.Error(), parts...)
}

var must = fatal.IfError
