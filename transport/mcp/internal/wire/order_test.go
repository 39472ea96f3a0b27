package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// whole fails the test unless the messages are the tag's events 1 to n, in order, and the result, and nothing else.
func whole(t testing.TB, got []message, n int, id, tag string) {
	t.Helper()
	if len(got) != n+1 {
		t.Errorf("%s: %d messages for %d events and a result", tag, len(got), n)
		return
	}
	for i, m := range got[:n] {
		if m.Method != "notifications/progress" || m.Params.Progress != i+1 || m.Params.Message != tag {
			t.Errorf("%s: message %d is %+v", tag, i+1, m)
			return
		}
	}
	if last := got[n]; string(last.ID) != id || last.Error != nil || last.text() != tag {
		t.Errorf("%s: the last message is %+v", tag, last)
	}
}

// A client that does not read holds up its own call and no other.
func TestSlowReader(t *testing.T) {
	c := sessionClient(t, newFixture(t, wire.Config{}).serveHTTP(t))
	tag := strings.Repeat("slow", 4<<10) // more in all than sockets hold
	slow := c.send(t.Context(), http.MethodPost, toolCall("1", "count", `{"n":2000,"tag":"`+tag+`"}`, `"progressToken":"p"`))
	for i := range 50 {
		id := fmt.Sprint(i + 2)
		_, got := c.call(id, "count", `{"tag":"quick"}`)
		whole(t, got, 5, id, "quick")
	}
	whole(t, drain(t, slow), 2000, "1", tag)
}

// A handler can have another result or error written than the one it returns.
func TestInstead(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	for name, c := range map[string]*client{"session": sessionClient(t, url), "modern": modernClient(t, url)} {
		t.Run(name, func(t *testing.T) {
			_, got := c.call("1", "instead", `{}`)
			if r := string(got[0].Result); !strings.Contains(r, `"taskId":"t1"`) || !strings.Contains(r, `"resultType":"task"`) ||
				strings.Contains(r, "serverInfo") != (name == "modern") {
				t.Error(r)
			}
			status, got := c.call("2", "refused", `{}`)
			if e := got[0].Error; e == nil || e.Code != -32021 || string(e.Data) != `{"requiredCapabilities":{"sampling":{}}}` {
				t.Errorf("%+v", got)
			}
			if want := map[string]int{"session": 200, "modern": 400}[name]; status != want {
				t.Error(status)
			}
			status, got = c.call("3", "refused", `{"begin":true}`)
			if status != 200 || len(got) != 2 || got[1].Error == nil {
				t.Errorf("%d %+v", status, got)
			}
		})
	}
}

// A caller that lacks a scope is answered with status 403 and the scope, unless its stream has begun.
func TestMissingScope(t *testing.T) {
	lacks := func(_ context.Context, x *wire.Exchange) (any, error) {
		if x.ProgressToken() != nil {
			_ = x.Notify("notifications/progress", progress(x, 1, ""))
		}
		x.Fail(&wire.Error{Code: -32600, Message: "no", Scope: auth.WriteRuns})
		x.Fail(&wire.Error{Code: -32602, Message: "a later error"})
		return nil, nil
	}
	url := newFixture(t, wire.Config{Methods: map[string]wire.Method{"x/write": lacks}}).serveHTTP(t)
	const request = `{"jsonrpc":"2.0","id":1,"method":"x/write","params":{"_meta":{`
	for _, c := range []struct {
		client *client
		body   string
		status int
	}{
		{sessionClient(t, url), request + `}}}`, http.StatusForbidden},
		{modernClient(t, url), modernRequest("x/write", ""), http.StatusForbidden},
		{sessionClient(t, url), request + `"progressToken":"p"}}}`, http.StatusOK},
	} {
		response := c.client.send(t.Context(), http.MethodPost, c.body)
		got := drain(t, response)
		if e := got[len(got)-1].Error; response.StatusCode != c.status || e == nil || e.Code != -32600 {
			t.Errorf("%s: %s %+v", c.body, response.Status, got)
		}
		challenge := response.Header.Get("WWW-Authenticate")
		want := `Bearer realm="lastword", error="insufficient_scope", scope="run:write"`
		if c.status == http.StatusForbidden && challenge != want {
			t.Errorf("%s: %s", c.body, challenge)
		}
	}
}

// Nothing can be said on a request's stream once it has its answer.
func TestNothingAfterTheAnswer(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	answered := make(chan []message)
	go func() { _, got := c.call("1", "hold", `{}`); answered <- got }()
	x := <-f.entered
	close(f.release)
	whole(t, <-answered, 0, "1", "held")
	if err := x.Notify("notifications/progress", nil); err == nil {
		t.Error("a notification was taken")
	}
}

// A panic costs its client an internal error that does not say what happened.
func TestPanic(t *testing.T) {
	f := newFixture(t, wire.Config{})
	_, got := sessionClient(t, f.serveHTTP(t)).call("1", "panic", `{}`)
	stdio := f.begunStdio(t)
	stdio.send(toolCall("1", "panic", `{}`, ""))
	for _, m := range []message{got[0], stdio.next()} {
		if m.Error == nil || m.Error.Code != -32603 || m.Error.Message != "internal error" || string(m.ID) != "1" {
			t.Errorf("%+v", m)
		}
	}
}

// On stdio the result comes a moment after the last event, for clients that forget the events of a chunk that ends in
// the result; where there was no event it comes at once, and what is asked meanwhile does not wait.
func TestBreath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, begin := newFixture(t, wire.Config{}).begunStdio(t), time.Now()
		c.send(toolCall("1", "count", `{"tag":"t"}`, ""))
		for range 5 {
			c.next()
		}
		c.send(toolCall("2", "echo", `{}`, ""))
		if m := c.next(); string(m.ID) != "2" || time.Since(begin) > 0 {
			t.Errorf("%+v after %v", m, time.Since(begin))
		}
		if m := c.next(); string(m.ID) != "1" || time.Since(begin) < 2*time.Millisecond {
			t.Errorf("%+v after %v", m, time.Since(begin))
		}
		c.in.Close()
		<-c.ended
	})
}

// What no client is to read is in no message: neither in a notification, however it was sent, nor in a result, over
// either transport.
func TestRedact(t *testing.T) {
	const said, want = "say hunter2 twice: hunter2", "say [token] twice: [token]"
	f := newFixture(t, wire.Config{Door: door.New(door.Config{Redact: func(message []byte) []byte {
		return bytes.ReplaceAll(message, []byte("hunter2"), []byte("[token]"))
	}})})
	url := f.serveHTTP(t)
	for _, c := range []*client{modernClient(t, url), sessionClient(t, url)} {
		_, got := c.call("1", "count", `{"n":5,"tag":"`+said+`"}`)
		whole(t, got, 5, "1", want)
	}
	c := f.begunStdio(t)
	c.send(toolCall("1", "count", `{"n":5,"tag":"`+said+`"}`, `"progressToken":"p"`))
	whole(t, c.take(6), 5, "1", want)
}

const (
	oldVersion = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26",` +
		`"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func batchOf(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

func readBatch(t *testing.T, text []byte) []message {
	t.Helper()
	var all []message
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return all
}

// A batch is answered by an array: the requests' answers in their order, after what each of them told before.
func TestBatch(t *testing.T) {
	f := newFixture(t, wire.Config{})
	mixed := batchOf(initialized, toolCall("1", "count", `{"n":2,"tag":"a"}`, `"progressToken":"p"`), oldVersion, `7`,
		toolCall(`"1"`, "echo", `{"tag":"b"}`, ""), toolCall("2", "echo", `{}`, modernMeta))
	judge := func(t *testing.T, told []message, answers []byte) {
		for i, m := range told {
			if m.Params.Progress != i+1 || m.Params.Message != "a" {
				t.Errorf("%+v", m)
			}
		}
		got := readBatch(t, answers)
		if len(told) != 2 || len(got) != 5 || got[0].text() != "a" || string(got[0].ID) != "1" ||
			got[3].text() != "b" || string(got[3].ID) != `"1"` {
			t.Fatalf("%d notifications, %s", len(told), answers)
		}
		for _, i := range []int{1, 2, 4} { // initialize, no object, another protocol
			if e := got[i].Error; e == nil || e.Code != -32600 {
				t.Errorf("%d: %s", i, answers)
			}
		}
	}
	t.Run("stdio", func(t *testing.T) {
		c := f.serveStdio(t)
		c.send(mixed)
		if m := c.next(); m.Error == nil || m.Error.Code != -32600 { // no version was negotiated
			t.Errorf("%+v", m)
		}
		c.send(oldVersion)
		c.next()
		c.send(mixed)
		judge(t, []message{c.next(), c.next()}, c.line())
		c.send(batchOf(toolCall("1", "wait", `{}`, ""), toolCall("2", "echo", `{}`, "")))
		<-f.entered
		c.send(batchOf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrCanceled) {
			t.Error(cause)
		}
		if got := readBatch(t, c.line()); len(got) != 1 || string(got[0].ID) != "2" {
			t.Errorf("a cancelled request is answered: %+v", got)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		c := modernClient(t, f.serveHTTP(t))
		c.session = c.send(t.Context(), http.MethodPost, oldVersion).Header.Get("Mcp-Session-Id")
		response := c.send(t.Context(), http.MethodPost, mixed)
		body, _ := io.ReadAll(response.Body)
		var told []message
		var last []byte
		for line := range strings.Lines(string(body)) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			if last = []byte(data); data[0] != '[' {
				told = append(told, read(t, last))
			}
		}
		judge(t, told, last)
		one := c.send(t.Context(), http.MethodPost, batchOf(toolCall("1", "echo", `{"tag":"t"}`, "")))
		if body, _ = io.ReadAll(one.Body); isStream(one) || readBatch(t, body)[0].text() != "t" {
			t.Errorf("%s %s", one.Header, body)
		}
		if status, _ := c.ask(batchOf(initialized, initialized)); status != http.StatusAccepted {
			t.Error(status)
		}
		echo := toolCall("1", "echo", `{}`, "")
		for _, bad := range []string{`[]`, batchOf(strings.Split(strings.Repeat(echo+"\n", 100)+echo, "\n")...), `[1,]`} {
			if status, got := c.ask(bad); status != http.StatusBadRequest || got[0].Error == nil {
				t.Errorf("%.40s: %d %+v", bad, status, got)
			}
		}
		newer := sessionClient(t, c.url)
		if status, got := newer.ask(batchOf(echo)); status != http.StatusBadRequest || got[0].Error.Code != -32600 {
			t.Errorf("a batch of 2025-11-25: %d %+v", status, got)
		}
	})
}

// The requests of a batch end with their client.
func TestBatchOfAClientThatLeft(t *testing.T) {
	f := newFixture(t, wire.Config{})
	c := f.serveStdio(t)
	c.send(oldVersion)
	c.next()
	c.send(batchOf(toolCall("1", "wait", `{}`, ""), toolCall("2", "wait", `{}`, "")))
	<-f.entered
	<-f.entered
	f.wire.Close()
	for range 2 {
		if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrDisconnected) {
			t.Error(cause)
		}
	}
}
