package wire_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// open opens a stream of the session.
func (c *client) open(ctx context.Context) *stream {
	c.t.Helper()
	response := c.send(ctx, http.MethodGet, "")
	if response.StatusCode != http.StatusOK || !isStream(response) || response.Header.Get("Mcp-Session-Id") != c.session {
		c.t.Fatalf("%s %v", response.Status, response.Header)
	}
	return newStream(c.t, response.Body)
}

// isLost checks that there is no such session for anything, in the same words.
func (c *client) isLost() {
	c.t.Helper()
	for method, body := range map[string]string{
		"request": toolCall("2", "echo", `{}`, ""), http.MethodGet: "", http.MethodDelete: "",
		"cancellation": `{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + cancel1 + `}`,
	} {
		kind := method
		if body != "" {
			method = http.MethodPost
		}
		response := c.send(c.t.Context(), method, body)
		text, _ := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusNotFound || string(text) != "there is no such session: initialize a new one\n" {
			c.t.Errorf("%s: %s %s", kind, response.Status, text)
		}
	}
}

// inside returns the session as handlers have it.
func (c *client) inside(f *fixture) *wire.Session {
	c.t.Helper()
	came := c.start(c.t.Context(), toolCall("1", "wait", `{}`, ""))
	session := soon(c.t, f.entered).Session()
	c.notify("notifications/cancelled", cancel1)
	soon(c.t, came)
	return session
}

// A client whose network went away without a word opens a new stream while the old one still looks open, and is sent
// what comes from then on there. When it closes it, the other is as good as before.
func TestNewestStream(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	session, old := c.inside(f), c.open(t.Context())
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	renewed := c.open(ctx)
	must(t, session.Notify("notifications/a", nil))
	if m, _ := renewed.next(); m.Method != "notifications/a" {
		t.Errorf("%+v", m)
	}
	leave()
	got := make(chan message, 1)
	go func() { m, _ := old.next(); got <- m }()
	for { // until the server knows
		_ = session.Notify("notifications/c", nil)
		select {
		case m := <-got:
			if m.Method != "notifications/c" {
				t.Errorf("%+v", m)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// Streams that are left behind do not add up.
func TestStreamsAreBounded(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	var open []*stream
	for range 7 {
		open = append(open, c.open(t.Context()))
	}
	for i, s := range open[:3] {
		if m, ok := s.next(); ok {
			t.Errorf("%d: %+v", i, m)
		}
	}
	f.wire.Broadcast("notifications/all")
	if m, _ := open[6].next(); m.Method != "notifications/all" {
		t.Errorf("%+v", m)
	}
	c.send(t.Context(), http.MethodDelete, "")
	for i, s := range open[3:] {
		if m, ok := s.next(); ok {
			t.Errorf("%d: %+v", i+3, m)
		}
	}
}

// A session that nobody uses makes room for a new one: the one used longest ago, of the principal that has the most.
func TestSessionsMakeRoom(t *testing.T) {
	f := newFixture(t, wire.Config{Sessions: 4})
	url := f.serveHTTP(t)
	guest := sessionClientAs(t, url, "guest", `{}`)
	var many []*client
	for range 3 {
		many = append(many, sessionClientAs(t, url, "many", `{}`))
	}
	lives := func(c *client) {
		t.Helper()
		if status, _ := c.ask(ping); status != http.StatusOK {
			t.Error(status)
		}
	}
	lives(many[0])
	for range 2 { // of their own, the third of them for a guest
		many = append(many, sessionClientAs(t, url, "many", `{}`))
	}
	other := sessionClientAs(t, url, "other", `{}`)
	for _, c := range append(many, guest, other) { // those that made room come back
		lives(c)
	}
}

// A token that is revoked takes with it what was opened by it: the stream of a session, the stream of a request, and the
// request itself.
func TestRevokedTokenEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{Door: door.New(door.Config{Heartbeat: 10 * time.Second})})
		path := filepath.Join(t.TempDir(), "tokens")
		good, revoked := newToken(t, "mia"), newToken(t, "tom")
		write := func(lines string) { // at once: a file that is being written is, for a moment, one without tokens
			must(t, os.WriteFile(path+".new", []byte(lines), 0o600))
			must(t, os.Rename(path+".new", path))
		}
		write(good.line + revoked.line)
		tokens, err := auth.LoadTokens(path)
		must(t, err)
		entrance, err := auth.New(auth.Config{Tokens: tokens, Hosts: []string{"host"}})
		must(t, err)
		dial, end := f.bubbleBehind(t, entrance.Wrap(f.wire))
		defer end()
		var ended []<-chan error
		for _, who := range []token{revoked, good} {
			get, call := dial(), dial()
			get.token, call.token = who.token, who.token
			session := call.initialize()
			for _, response := range []*http.Response{
				get.do(http.MethodGet, session, ""),
				call.do(http.MethodPost, session, toolCall("1", "wait", `{"begin":true}`, `"progressToken":1`)),
			} {
				over := make(chan error, 1)
				ended = append(ended, over)
				go func() { _, err := io.Copy(io.Discard, response.Body); over <- err }()
			}
		}
		plain := dial() // takes no stream, and waits all the same
		plain.token, plain.accept = revoked.token, "application/json"
		session, answered := plain.initialize(), make(chan int, 1)
		go func() { answered <- plain.status(http.MethodPost, session, toolCall("1", "hold", `{}`, "")) }()
		time.Sleep(time.Minute)
		none(t, f.causes, "before")
		write(good.line)
		time.Sleep(2 * time.Second)
		for _, over := range ended[:2] {
			if len(over) == 0 {
				t.Error("a stream outlived its token by 2 s")
			}
		}
		close(f.release)
		if status := soon(t, answered); status != http.StatusAccepted {
			t.Errorf("an answer: %d", status)
		}
		for _, over := range ended[:2] {
			if err := soon(t, over); err != nil {
				t.Error(err)
			}
		}
		if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrDisconnected) {
			t.Error(cause)
		}
		time.Sleep(time.Minute)
		none(t, f.causes, "of another token")
		none(t, ended[2], "of another token")
		none(t, ended[3], "of another token")
	})
}

// A token of an issuer ends what it opened. Half a minute before, the stream has a comment. The session goes on with
// another token of the same caller.
func TestExpiredTokenEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{Door: door.New(door.Config{Heartbeat: time.Hour})})
		begin := time.Now()
		entrance, err := auth.New(auth.Config{Hosts: []string{"host"}, Issued: func(_ context.Context, token string) (auth.Principal, time.Time, error) {
			life, err := time.ParseDuration(strings.SplitN(token, ".", 2)[0])
			if err == nil && time.Since(begin) >= life {
				err = messages.Errorf(auth.CodeUnauthorized, "it has expired")
			}
			return auth.Principal{Name: "mia", Scopes: []auth.Scope{auth.ReadRuns}}, begin.Add(life), err
		}})
		must(t, err)
		dial, end := f.bubbleBehind(t, entrance.Wrap(f.wire))
		defer end()
		late := dial()
		late.token = "10s." + strings.Repeat("x", 32) + ".y"
		if line, err := bufio.NewReader(late.do(http.MethodGet, late.initialize(), "").Body).ReadString('\n'); !strings.HasPrefix(line, ": the token expires in 10 s") {
			t.Errorf("of a token that ends sooner: %q, %v", line, err)
		}
		c, get := dial(), dial()
		c.token = "10m." + strings.Repeat("x", 32) + ".y"
		get.token = c.token
		session := c.initialize()
		lines := bufio.NewReader(get.do(http.MethodGet, session, "").Body)
		line, err := lines.ReadString('\n')
		if waited := time.Since(begin); !strings.HasPrefix(line, ": the token expires in 30 s") || waited != 10*time.Minute-30*time.Second {
			t.Errorf("after %s: %q, %v", waited, line, err)
		}
		_, _ = io.Copy(io.Discard, lines)
		if waited := time.Since(begin); waited < 10*time.Minute || waited > 10*time.Minute+time.Second {
			t.Errorf("the stream ended after %s", waited)
		}
		if status := c.status(http.MethodPost, session, ping); status != http.StatusUnauthorized {
			t.Errorf("a token that has expired: %d", status)
		}
		again := dial()
		again.token = "20m." + strings.Repeat("z", 32) + ".y"
		if status := again.status(http.MethodPost, session, ping); status != http.StatusOK {
			t.Errorf("another token: %d", status)
		}
	})
}

type token struct{ token, line string }

func newToken(t *testing.T, name string) token {
	t.Helper()
	secret, digest := auth.NewToken()
	line, err := auth.Line(name, []auth.Scope{auth.Admin}, digest)
	must(t, err)
	return token{secret, line + "\n"}
}
