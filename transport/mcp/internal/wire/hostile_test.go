package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// What routes a request is said once: whoever stands before the server may have read the other value.
func TestHeadersThatAreThereTwice(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	session, modern := sessionClient(t, url), modernClient(t, url)
	for name, c := range map[string]*client{
		"Mcp-Session-Id": session, "Mcp-Protocol-Version": modern, "Mcp-Method": modern, "Mcp-Name": modern,
	} {
		for _, other := range []string{"other", ""} {
			c.twice = name + ": " + other
			if status, got := c.call("1", "echo", `{}`); status != http.StatusBadRequest || got[0].Error.Code != -32020 {
				t.Errorf("%s: %d %+v", c.twice, status, got)
			}
		}
	}
}

func TestAccept(t *testing.T) {
	_, c := inSession(t, wire.Config{})
	for accept, want := range map[string]struct{ events, json bool }{
		"application/json, text/event-stream":        {true, true},
		"Application/JSON; q=0.5, TEXT/event-stream": {true, true},
		"text/event-stream":                          {true, false},
		"text/*;q=0.1":                               {true, false},
		"application/json":                           {false, true},
		"application/*":                              {false, true},
		"text/event-streams, application/jsonp":      {false, true}, // who takes neither gets JSON
		"*/*":                                        {true, true},
		"text/html, */*;q=0.8":                       {true, true},
		"":                                           {true, true},
		"-":                                          {true, true},
	} {
		c.headers["Accept"] = accept
		response := c.send(t.Context(), http.MethodPost, toolCall("1", "count", `{"n":1}`, ""))
		if isStream(response) != want.events {
			t.Errorf("%q: events in %v", accept, response.Header)
		}
		h := response.Header
		if want.events && (h.Get("Cache-Control") != "no-cache, no-store" || h.Get("X-Accel-Buffering") != "no") {
			t.Errorf("%q: events may be held back: %v", accept, h)
		}
		whole(t, drain(t, response), map[bool]int{true: 1}[want.events], "1", "")
		response = c.send(t.Context(), http.MethodPost, toolCall("1", "echo", `{}`, ""))
		if isStream(response) == want.json {
			t.Errorf("%q: an answer in %v", accept, response.Header)
		}
		drain(t, response)
		status := http.StatusNotAcceptable
		if want.events && accept != "-" {
			status = http.StatusOK
		}
		if got := c.send(t.Context(), http.MethodGet, ""); got.StatusCode != status {
			t.Errorf("%q: a stream: %s", accept, got.Status)
		}
	}
}

// Long answers have a bound together, until they are written.
func TestLongAnswersAtATime(t *testing.T) {
	f, c := inSession(t, wire.Config{Message: 1000})
	var came []<-chan *http.Response
	held := func(id string) *wire.Exchange {
		came = append(came, c.start(t.Context(), toolCall(id, "hold", `{}`, "")))
		return soon(t, f.entered)
	}
	first, second := held("1"), held("2")
	for _, want := range []bool{true, true, false} {
		if got := first.Hold(8000); got != want {
			t.Fatal(got)
		}
	}
	if second.Hold(1) {
		t.Error("there was more room")
	}
	close(f.release)
	for _, came := range came {
		drain(t, soon(t, came))
	}
	for held := held("3"); !held.Hold(16_000); { // the answer has come a moment before it is known to be written
		runtime.Gosched()
	}
	drain(t, soon(t, came[2]))
}

type crashing struct{}

func (crashing) MarshalJSON() ([]byte, error) { panic("the secret is 42") }

// A value that panics on its way to JSON costs one message, wherever it is made, and never the process.
func TestValuesThatPanic(t *testing.T) {
	f := newFixture(t, wire.Config{})
	f.mcp.AddTool(mcp.NewTool("bad"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x, bad := wire.From(ctx), map[string]any{"k": crashing{}}
		if x.Notify("notifications/bad", bad) == nil {
			t.Error("it was written")
		}
		if r.GetBool("answer", false) {
			return mcp.NewToolResultText("fine"), nil
		}
		return &mcp.CallToolResult{StructuredContent: crashing{}}, nil
	})
	c, stdio := sessionClient(t, f.serveHTTP(t)), f.serveStdio(t)
	c.open(t.Context())
	stdio.begin(`{}`)
	for _, answer := range []bool{false, true} {
		call := toolCall("1", "bad", fmt.Sprintf(`{"answer":%t}`, answer), "")
		_, got := c.ask(call)
		stdio.send(call)
		for _, m := range append(got, stdio.next()) {
			if answer && m.text() != "fine" || !answer && (m.Error == nil || m.Error.Message != "internal error") {
				t.Errorf("%+v", m)
			}
		}
		if len(got) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// A token of progress comes back as it came. What is none is not taken for one.
func TestTokensOfProgress(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	for token, want := range map[string]string{
		`"p"`: `"p"`, `"\u0041/\n"`: `"\u0041/\n"`, `7`: `7`, `1.50`: `1.50`, `-1E+3`: `-1E+3`, `""`: `""`,
		`12345678901234567890123456789`: `12345678901234567890123456789`,
		`null`:                          "", `{}`: "", `true`: "", `[1]`: "",
	} {
		came := c.start(t.Context(), toolCall("1", "wait", `{}`, `"progressToken":`+token))
		if got := string(soon(t, f.entered).ProgressToken()); got != want {
			t.Errorf("%s: %q, not %q", token, got, want)
		}
		c.notify("notifications/cancelled", cancel1)
		soon(t, came)
	}
	for _, token := range []string{`"\u0041/"`, `1.50`, `12345678901234567890123456789`} {
		body := c.send(t.Context(), http.MethodPost, toolCall("1", "count", `{"n":1}`, `"progressToken":`+token)).Body
		if text, _ := io.ReadAll(body); !bytes.Contains(text, []byte(`"progressToken":`+token)) {
			t.Errorf("%s: %s", token, text)
		}
	}
}

// After a cancellation nothing more is said of the request, whatever its handler still tries.
func TestNothingIsToldAfterACancellation(t *testing.T) {
	f, told := newFixture(t, wire.Config{}), make(chan error, 1)
	f.mcp.AddTool(mcp.NewTool("late"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := wire.From(ctx)
		f.entered <- x
		<-ctx.Done()
		told <- x.Notify("notifications/progress", progress(x, 1, "too late"))
		return mcp.NewToolResultText("ended"), nil
	})
	c := f.begunStdio(t)
	c.send(toolCall("1", "late", `{}`, `"progressToken":"p"`))
	<-f.entered
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + cancel1 + `}`)
	if err := soon(t, told); !errors.Is(err, wire.ErrCanceled) {
		t.Errorf("a notification after the cancellation: %v", err)
	}
	c.send(ping)
	if m := c.next(); string(m.ID) != "9" {
		t.Errorf("%+v", m)
	}
}

// What a handler sends waits for a client that does not read, and is not dropped.
func TestHandlersWaitForSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tag := newFixture(t, wire.Config{}).begunStdio(t), strings.Repeat("x", 1000)
		c.send(toolCall("1", "count", `{"n":1000,"tag":"`+tag+`"}`, `"progressToken":"p"`))
		synctest.Wait()
		whole(t, c.take(1001), 1000, "1", tag)
		c.in.Close()
		<-c.ended
	})
}

// A script that pipes requests in gets its answers, and has longer to read them than a client that is left.
func TestPipedAnswersAreReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFixture(t, wire.Config{}).serveStdio(t)
		c.send(initialize(`{}`) + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + toolCall("2", "count", `{"n":3}`, ""))
		c.in.Close()
		time.Sleep(4 * time.Second)
		ids := map[string]int{}
		for _, m := range c.take(6) {
			ids[string(m.ID)]++
		}
		if ids["0"] != 1 || ids["1"] != 1 || ids["2"] != 1 {
			t.Errorf("there are answers to %v", ids)
		}
		<-c.ended
	})
}

// An initialize that fails gives no session, which would be one that is not there.
func TestFailedInitializeNamesNoSession(t *testing.T) {
	f := newFixture(t, wire.Config{})
	c := modernClient(t, f.serveHTTP(t))
	response := c.send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":[]}`)
	if got := drain(t, response); len(got) != 1 || got[0].Error == nil {
		t.Fatalf("%+v", got)
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		t.Errorf("it names the session %s", id)
	}
}

// If the server ends a request, the handler learns why, and a client that still reads gets the answer.
func TestServerThatEndsItsRequests(t *testing.T) {
	f, shutdown := newFixture(t, wire.Config{}), errors.New("the server stops")
	stopping, stop := context.WithCancelCause(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.wire.ServeHTTP(w, r.WithContext(stopping))
	}))
	t.Cleanup(s.Close)
	c := modernClient(t, s.URL)
	came := c.start(t.Context(), toolCall("1", "wait", `{}`, c.meta()))
	<-f.entered
	stop(shutdown)
	if cause := soon(t, f.causes); cause != shutdown {
		t.Errorf("the handler was told: %v", cause)
	}
	if got := drain(t, soon(t, came)); len(got) != 1 || got[0].text() != "ended" {
		t.Errorf("%+v", got)
	}
}
