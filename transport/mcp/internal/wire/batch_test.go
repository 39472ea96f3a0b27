package wire_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

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
