package wire_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// After a cancellation nothing more is said of the request, whatever its handler still tries.
func TestNothingIsToldAfterACancellation(t *testing.T) {
	f := newFixture(t, wire.Config{})
	told := make(chan error, 1)
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
	f := newFixture(t, wire.Config{})
	shutdown := errors.New("the server stops")
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
