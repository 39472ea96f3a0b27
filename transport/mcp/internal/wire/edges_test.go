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
	c := f.serveStdio(t)
	c.begin(`{}`)
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
	const n = 1000
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{})
		f.mcp.AddTool(mcp.NewTool("burst"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range n {
				x := wire.From(ctx)
				err := x.Notify("notifications/progress", progress(x, i+1, strings.Repeat("x", 1000)))
				if err != nil {
					return nil, err
				}
			}
			return mcp.NewToolResultText("sent"), nil
		})
		c := f.serveStdio(t)
		c.begin(`{}`)
		c.send(toolCall("1", "burst", `{}`, `"progressToken":"p"`))
		synctest.Wait()
		for i := range n {
			if m := c.next(); m.Params.Progress != i+1 {
				t.Fatalf("%+v, and not notification %d", m, i+1)
			}
		}
		if m := c.next(); m.text() != "sent" {
			t.Errorf("%+v", m)
		}
		c.in.Close()
		<-c.ended
	})
}

// Who pipes requests in, and reads the answers later, has longer than a client that is left.
func TestPipedAnswersAreReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{})
		c := f.serveStdio(t)
		c.send(initialize(`{}`))
		c.in.Close()
		time.Sleep(4 * time.Second)
		if m := c.next(); string(m.ID) != "0" {
			t.Errorf("%+v", m)
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
