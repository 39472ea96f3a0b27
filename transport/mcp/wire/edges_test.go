package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// A body that does not say how long it is ends at the same limit as one that does.
func TestBodyOfUnknownLengthIsBounded(t *testing.T) {
	f := newFixture(t, wire.Config{Message: 1000})
	c := sessionClient(t, f.serveHTTP(t))
	for size, want := range map[int]int{800: http.StatusOK, 1200: http.StatusRequestEntityTooLarge} {
		text := ping + strings.Repeat(" ", size-len(ping))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, io.MultiReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", c.session)
		response, err := c.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if r.ContentLength != 0 || response.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", size, response.Status, want)
		}
	}
}

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

// A call whose client reads nothing ends when that client cancels it.
func TestCancelOfACallThatWaitsForItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{})
		told := make(chan error, 1)
		f.mcp.AddTool(mcp.NewTool("flood"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var err error
			for x := wire.From(ctx); err == nil; {
				err = x.Notify("notifications/progress", progress(x, 1, strings.Repeat("x", 1000)))
			}
			told <- err
			return nil, err
		})
		c := f.serveStdio(t)
		c.begin(`{}`)
		c.send(toolCall("1", "flood", `{}`, `"progressToken":"p"`))
		synctest.Wait()
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + cancel1 + `}`)
		synctest.Wait()
		select {
		case err := <-told:
			if !errors.Is(err, wire.ErrCanceled) {
				t.Error(err)
			}
		default:
			t.Error("the call goes on")
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

// A server that ends its requests is no client that leaves: the handler is told why, and whoever still reads gets the
// answer.
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
