package wire_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

func TestEndOfASession(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	get := c.send(t.Context(), http.MethodGet, "")
	came := c.start(t.Context(), toolCall("1", "wait", `{"begin":true}`, ""))
	session := soon(t, f.entered).Session()
	if s := c.send(t.Context(), http.MethodDelete, ""); s.StatusCode != http.StatusOK {
		t.Error(s.Status)
	}
	<-session.Life().Done()
	if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrDisconnected) || errors.Is(cause, wire.ErrCanceled) {
		t.Error(cause)
	}
	drain(t, get)
	drain(t, soon(t, came))
	if session.Notify("notifications/x", nil) == nil {
		t.Error("a notification was taken")
	}
	c.isLost()
}

func TestClose(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	c, modern, stdio := sessionClient(t, url), modernClient(t, url), f.serveStdio(t)
	stdio.begin(`{}`)
	get := c.send(t.Context(), http.MethodGet, "")
	for _, c := range []*client{c, modern} {
		c.start(t.Context(), toolCall("1", "wait", `{"begin":true}`, c.meta()))
	}
	for range 2 {
		<-f.entered
	}
	f.wire.Close()
	f.wire.Close()
	for range 2 {
		if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrDisconnected) {
			t.Error(cause)
		}
	}
	drain(t, get)
	must(t, soon(t, stdio.ended))
	if status, _ := modern.call("2", "echo", `{}`); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
	if status, _ := modern.ask(initialize(`{}`)); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
}

func TestBounds(t *testing.T) {
	f := newFixture(t, wire.Config{Sessions: 2, Requests: 1, Message: 2000})
	url := f.serveHTTP(t)
	c := sessionClient(t, url)
	sessionClient(t, url).send(t.Context(), http.MethodGet, "")
	came := c.start(t.Context(), toolCall("1", "wait", `{}`, ""))
	<-f.entered
	third := modernClient(t, url)
	response := third.send(t.Context(), http.MethodPost, initialize(`{}`))
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("with two sessions in use: %s %v", response.Status, response.Header)
	}
	if status, got := c.call("2", "echo", `{}`); status != http.StatusServiceUnavailable || got[0].Error.Code != -32000 {
		t.Errorf("%d %+v", status, got)
	}
	c.notify("notifications/cancelled", cancel1)
	soon(t, came)
	long := toolCall("3", "echo", `{"tag":"`+strings.Repeat("x", 3000)+`"}`, "")
	if status, _ := c.ask(long); status != http.StatusRequestEntityTooLarge {
		t.Error(status)
	}
	// A session makes room for another.
	c.send(t.Context(), http.MethodDelete, "")
	if status, _ := third.ask(initialize(`{}`)); status != http.StatusOK {
		t.Error(status)
	}

	stdio := f.begunStdio(t)
	stdio.send(long)
	if m := stdio.next(); m.Error == nil || m.Error.Code != -32600 || string(m.ID) != "null" {
		t.Errorf("%+v", m)
	}
	stdio.send(toolCall("1", "echo", `{"tag":"t"}`, ""))
	whole(t, []message{stdio.next()}, 0, "1", "t")
}

// bubbleConn is a client's connection to a server, both in memory, for tests of time.
type bubbleConn struct {
	t      *testing.T
	conn   net.Conn
	in     *bufio.Reader
	token  string
	accept string // in place of both
}

// bubble serves the fixture in memory; dial opens a connection.
func (f *fixture) bubble(t *testing.T) (dial func() *bubbleConn, end func()) {
	return f.bubbleBehind(t, f.wire)
}

func (f *fixture) bubbleBehind(t *testing.T, handler http.Handler) (dial func() *bubbleConn, end func()) {
	network, s := standin.NewNetwork(), &http.Server{Handler: handler}
	go s.Serve(network)
	return func() *bubbleConn {
			conn, err := network.Dial(t.Context(), "", "")
			must(t, err)
			return &bubbleConn{t: t, conn: conn, in: bufio.NewReader(conn)}
		}, func() {
			f.wire.Close()
			network.HangUp()
			s.Close()
			synctest.Wait()
		}
}

func (c *bubbleConn) do(method, session, body string) *http.Response {
	c.t.Helper()
	r, _ := http.NewRequest(method, "http://host/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.accept != "" {
		r.Header.Set("Accept", c.accept)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	must(c.t, r.Write(c.conn))
	response, err := http.ReadResponse(c.in, r)
	must(c.t, err)
	return response
}

func (c *bubbleConn) initialize() string {
	response := c.do(http.MethodPost, "", initialize(`{}`))
	_, _ = io.Copy(io.Discard, response.Body)
	return response.Header.Get("Mcp-Session-Id")
}

func (c *bubbleConn) status(method, session, body string) int {
	response := c.do(method, session, body)
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`

// A session that is idle leaves memory, and its client does not notice, at another node either. It lives for a day after its
// last request, and as long as a stream is open.
func TestSessionsLiveForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := wire.Config{Idle: time.Hour, Keys: seal.New(nil), Rows: rows(true)}
		dial, end := newFixture(t, config).bubble(t)
		defer end()
		dialOther, endOther := newFixture(t, config).bubble(t)
		defer endOther()
		c, other := dial(), dialOther()
		used, asleep, moved, left, streamed := c.initialize(), c.initialize(), c.initialize(), c.initialize(), c.initialize()
		stream := dial()
		stream.do(http.MethodGet, streamed, "")
		go io.Copy(io.Discard, stream.in)
		status := func(session string) int { return c.status(http.MethodPost, session, ping) }
		for hour := range 72 {
			time.Sleep(time.Hour)
			if status(used) != 200 || hour == 8 && status(asleep) != 200 || hour < 30 && status(moved) != 200 ||
				hour == 38 && other.status(http.MethodPost, moved, ping) != 200 { // it slept for 8 hours
				t.Fatalf("a session is gone after %d h", hour)
			}
		}
		for session, want := range map[string]int{used: 200, asleep: 404, left: 404, streamed: 200} {
			if got := status(session); got != want {
				t.Errorf("%d, not %d", got, want)
			}
		}
		stream.conn.Close()
		time.Sleep(26 * time.Hour)
		for _, session := range []string{used, streamed} {
			if got := status(session); got != 404 {
				t.Errorf("after its time: %d", got)
			}
		}
	})
}

// Who watches a session is told of its end, whether it was idle for too long or made room for another.
func TestSessionsThatGoAreEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{Idle: time.Hour, Sessions: 1})
		gone := make(chan (<-chan struct{}), 1)
		f.mcp.AddTool(mcp.NewTool("session"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			gone <- wire.From(ctx).Session().Life().Done()
			return mcp.NewToolResultText(""), nil
		})
		dial, end := f.bubble(t)
		defer end()
		c := dial()
		begin := func() <-chan struct{} {
			c.status(http.MethodPost, c.initialize(), toolCall("1", "session", `{}`, ""))
			time.Sleep(time.Second)
			return <-gone
		}
		wantEnded := func(what string, done <-chan struct{}) {
			t.Helper()
			select {
			case <-done:
			default:
				t.Errorf("a session that %s is not ended", what)
			}
		}
		displaced, idle := begin(), begin()
		wantEnded("made room", displaced)
		time.Sleep(2 * time.Hour)
		wantEnded("was idle", idle)
	})
}

// An open stream is never silent for longer than a heartbeat: a GET's, and a request's whose handler is.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{Door: door.New(door.Config{Heartbeat: 10 * time.Second})})
		dial, end := f.bubble(t)
		defer end()
		c, get := dial(), dial()
		session, begin := c.initialize(), time.Now()
		silent := get.do(http.MethodGet, session, "")
		call := c.do(http.MethodPost, session, toolCall("1", "hold", `{}`, ""))
		if waited := time.Since(begin); waited != 10*time.Second || !isStream(call) {
			t.Errorf("the request's stream began after %v: %v", waited, call.Header)
		}
		var both sync.WaitGroup
		for _, response := range []*http.Response{silent, call} {
			both.Go(func() {
				lines := bufio.NewReader(response.Body)
				for i := range 3 {
					line, err := lines.ReadString('\n')
					if line != ": keep-alive\n" || err != nil || time.Since(begin) != time.Duration(i+1)*10*time.Second {
						t.Errorf("comment %d after %v: %q %v", i+1, time.Since(begin), line, err)
					}
					_, _ = lines.ReadString('\n')
				}
			})
		}
		both.Wait()
		close(f.release)
	})
}

// A client that takes nothing of what it is sent counts as gone after the timeout of a write.
func TestStalledClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{Door: door.New(door.Config{WriteTimeout: 20 * time.Second})})
		failed := make(chan error, 1)
		f.mcp.AddTool(mcp.NewTool("flood"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			x := wire.From(ctx)
			for {
				if err := x.Notify("notifications/progress", progress(x, 1, strings.Repeat("x", 1000))); err != nil {
					failed <- err
					return nil, err
				}
			}
		})
		dial, end := f.bubble(t)
		defer end()
		c := dial()
		session, begin := c.initialize(), time.Now()
		c.do(http.MethodPost, session, toolCall("1", "flood", `{}`, ""))
		if err := <-failed; !errors.Is(err, wire.ErrDisconnected) {
			t.Error(err)
		}
		if waited := time.Since(begin); waited > 21*time.Second {
			t.Error(waited)
		}
	})
}

// A session that nothing happens in is small.
func TestMemoryOfIdleSessions(t *testing.T) {
	f := newFixture(t, wire.Config{})
	h := f.wire
	const sessions = 1000
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	begin := func() {
		r, _ := http.NewRequest(http.MethodPost, "/", strings.NewReader(initialize(`{"elicitation":{},"roots":{}}`)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Header().Get("Mcp-Session-Id") == "" {
			t.Fatal("no session")
		}
	}
	begin()
	before, goroutines := heap(), runtime.NumGoroutine()
	for range sessions {
		begin()
	}
	each := int64(heap()-before) / sessions
	t.Logf("%d bytes per session", each)
	if each > 2048 {
		t.Errorf("a session takes %d bytes", each)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines more", n-goroutines)
	}
}

// Over HTTP/2 a stream that is silent for longer than the timeout of a write is not a client that takes nothing.
func TestSilentStreamOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{Door: door.New(door.Config{Heartbeat: 10 * time.Second, WriteTimeout: 20 * time.Second})})
		network := standin.NewNetwork()
		var h2 http.Protocols
		h2.SetUnencryptedHTTP2(true)
		s := &http.Server{Handler: f.wire, Protocols: &h2}
		go s.Serve(network)
		transport := &http.Transport{Protocols: &h2, DialContext: network.Dial}
		c := &client{t: t, url: "http://host/", headers: map[string]string{}, http: &http.Client{Transport: transport}}
		response := c.send(t.Context(), http.MethodPost, toolCall("1", "pace", `{}`, modernMeta))
		if response.ProtoMajor != 2 {
			t.Fatal(response.Proto)
		}
		if got := drain(t, response); len(got) != 3 || got[2].text() != "paced" {
			t.Errorf("%+v", got)
		}
		transport.CloseIdleConnections()
		s.Close()
		synctest.Wait()
	})
}
