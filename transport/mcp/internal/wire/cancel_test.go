package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

const cancel1 = `{"requestId":1,"reason":"enough"}`

// soon returns what comes, or fails the test.
func soon[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func none[T any](t testing.TB, from <-chan T, what string) {
	t.Helper()
	select {
	case v := <-from:
		t.Fatalf("%s: %v", what, v)
	default:
	}
}

// start calls a tool and returns its response once it is there.
func (c *client) start(ctx context.Context, body string) <-chan *http.Response {
	came := make(chan *http.Response, 1)
	go func() {
		response, err := c.try(ctx, http.MethodPost, body)
		if err == nil {
			c.t.Cleanup(func() { response.Body.Close() })
			came <- response
		}
		close(came)
	}()
	return came
}

func TestCancelOverHTTP(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	for _, begin := range []string{"false", "true"} {
		came := c.start(t.Context(), toolCall("1", "wait", `{"begin":`+begin+`}`, ""))
		<-f.entered
		if status := c.notify("notifications/cancelled", cancel1); status != http.StatusAccepted {
			t.Error(status)
		}
		if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrCanceled) || !strings.HasSuffix(cause.Error(), ": enough") {
			t.Errorf("%v", cause)
		}
		response := soon(t, came)
		got := drain(t, response)
		switch {
		case begin == "false" && (response.StatusCode != http.StatusAccepted || len(got) > 0):
			t.Errorf("%s %+v", response.Status, got)
		case begin == "true" && (len(got) != 1 || got[0].Method == ""):
			t.Errorf("%+v", got)
		}
	}
}

// Up to 2025-11-25 a client that is gone has cancelled nothing; from 2026-07-28 on it has.
func TestDisconnect(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	for want, c := range map[error]*client{wire.ErrDisconnected: sessionClient(t, url), wire.ErrCanceled: modernClient(t, url)} {
		for id, begin := range []string{"false", "true"} {
			ctx, leave := context.WithCancel(t.Context())
			c.start(ctx, toolCall(fmt.Sprint(id), "wait", `{"begin":`+begin+`}`, c.meta()))
			<-f.entered
			leave()
			cause := soon(t, f.causes)
			if !errors.Is(cause, want) || errors.Is(cause, wire.ErrCanceled) != (want == wire.ErrCanceled) {
				t.Errorf("%v, not %v", cause, want)
			}
		}
	}
}

// The ids 1 and "1" are two requests; nobody else's cancellation reaches one.
func TestCancelReachesItsOwn(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	c, other, modern := sessionClient(t, url), sessionClient(t, url), modernClient(t, url)
	mine := c.start(t.Context(), toolCall("1", "wait", `{}`, ""))
	<-f.entered
	other.notify("notifications/cancelled", cancel1)
	modern.headers["Mcp-Protocol-Version"] = "2026-07-28"
	modern.notify("notifications/cancelled", cancel1)
	c.notify("notifications/cancelled", `{"requestId":"1"}`)
	c.notify("notifications/cancelled", `{"requestId":2}`)
	c.notify("notifications/cancelled", `{}`)
	none(t, f.causes, "it was cancelled")
	c.notify("notifications/cancelled", cancel1)
	soon(t, f.causes)
	soon(t, mine)
}

func TestSameIDTwice(t *testing.T) {
	f, c := inSession(t, wire.Config{})
	first := c.start(t.Context(), toolCall("1", "hold", `{}`, ""))
	<-f.entered
	if status, got := c.call("1", "echo", `{}`); status != http.StatusBadRequest || got[0].Error.Code != -32600 {
		t.Errorf("%d %+v", status, got)
	}
	if _, got := c.call(`"1"`, "echo", `{"tag":"t"}`); got[0].text() != "t" {
		t.Errorf("%+v", got)
	}
	close(f.release)
	whole(t, drain(t, soon(t, first)), 0, "1", "held")
	if _, got := c.call("1", "echo", `{"tag":"t"}`); got[0].text() != "t" {
		t.Errorf("%+v", got)
	}
}

func TestCancelOnStdio(t *testing.T) {
	f := newFixture(t, wire.Config{Requests: 2})
	c := f.begunStdio(t)
	c.send(toolCall("1", "wait", `{}`, ""))
	<-f.entered
	c.send(toolCall("2", "wait", `{}`, modernMeta))
	<-f.entered
	// Beyond the bound a request is refused at once, and a cancellation still gets through.
	c.send(toolCall("3", "wait", `{}`, ""))
	if m := c.next(); m.Error == nil || m.Error.Code != -32000 || string(m.ID) != "3" {
		t.Errorf("%+v", m)
	}
	for _, id := range []string{"1", "2"} {
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrCanceled) {
			t.Error(cause)
		}
	}
	for { // until the two have left: they get no answer
		c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
		m := c.next()
		if string(m.ID) != "4" {
			t.Fatalf("%+v", m)
		}
		if m.Error == nil {
			break
		}
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	f := newFixture(t, wire.Config{})
	ctx, stop := context.WithCancel(t.Context())
	in, toServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- f.wire.ServeStdio(ctx, in, io.Discard) }()
	_, _ = io.WriteString(toServer, toolCall("1", "wait", `{}`, "")+"\n")
	<-f.entered
	stop()
	if cause := soon(t, f.causes); !errors.Is(cause, wire.ErrDisconnected) {
		t.Error(cause)
	}
	if err := soon(t, ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	toServer.Close()
}

// A client that neither reads nor says more is left, whoever writes to it.
func TestEndBehindFullStdout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, wire.Config{})
		c := f.begunStdio(t)
		c.send(toolCall("1", "count", `{"n":1000000}`, ""))
		c.send(toolCall("2", "hold", `{}`, ""))
		<-f.entered
		synctest.Wait()
		f.wire.Broadcast("notifications/x")
		synctest.Wait()
		c.in.Close()
		must(t, <-c.ended)
		close(f.release)
	})
}

// When the context ends, the server drops a client that reads nothing within 2 s. A client that reads slowly gets its
// answer.
func TestLeavingAClientThatDoesNotRead(t *testing.T) {
	for name, test := range map[string]struct {
		tag  int           // bytes of the answer that the client begins to read
		read time.Duration // how long it takes for each 64 KiB; 0 for a client that reads nothing
		took time.Duration
	}{
		"an answer that nobody reads":  {1, 0, 2 * time.Second},
		"more than waits for a client": {1 << 20, 0, 2 * time.Second},
		"read slowly":                  {50 << 10, 1500 * time.Millisecond, 4500 * time.Millisecond},
		"read too slowly":              {1 << 20, 3 * time.Second, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, wire.Config{})
				ctx, stop := context.WithCancel(t.Context())
				in, toServer := io.Pipe()
				out, toClient := io.Pipe()
				ended := make(chan error, 1)
				go func() { ended <- f.wire.ServeStdio(ctx, in, toClient) }()
				for id := range 3 {
					_, _ = io.WriteString(toServer, toolCall(strconv.Itoa(id), "echo",
						`{"tag":"`+strings.Repeat("x", test.tag)+`"}`, "")+"\n")
				}
				synctest.Wait()
				began := time.Now()
				stop()
				var reading sync.WaitGroup
				reading.Go(func() {
					for err := error(nil); test.read > 0 && err == nil; {
						time.Sleep(test.read)
						_, err = io.CopyN(io.Discard, out, 64<<10)
					}
				})
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("left after %v, want %v", took, test.took)
				}
				toServer.Close()
				out.Close()
				reading.Wait()
			})
		})
	}
}

func TestStdoutGone(t *testing.T) {
	f := newFixture(t, wire.Config{})
	in, toServer := io.Pipe()
	out, w := io.Pipe()
	out.Close()
	ended := make(chan error, 1)
	go func() { ended <- f.wire.ServeStdio(t.Context(), in, w) }()
	_, _ = io.WriteString(toServer, initialize(`{}`)+"\n")
	if err := soon(t, ended); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	toServer.Close()
}

// A client that stops in the middle of a message, which it writes or reads, does not hold the server. One that says nothing does.
func TestHalfAMessageEndsStdio(t *testing.T) {
	for message, want := range map[string]string{initialize(`{}`) + "\n": "has not read the rest of a message for 1m0s", `{"jsonrpc":`: "has written half a message"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, wire.Config{})
			in, toServer := io.Pipe()
			out, toClient := io.Pipe()
			ended, began := make(chan error, 1), time.Now()
			go func() { ended <- f.wire.ServeStdio(t.Context(), in, toClient) }()
			time.Sleep(time.Hour)
			_, _ = io.WriteString(toServer, message)
			if err := <-ended; err == nil || !strings.Contains(err.Error(), want) || time.Since(began) > time.Hour+2*time.Minute {
				t.Errorf("after %s the server says %v after %s, not %q", message, err, time.Since(began), want)
			}
			toServer.Close()
			out.Close()
		})
	}
}
