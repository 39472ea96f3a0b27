package wire_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// newResuming returns a server whose tool "steps" notifies of 1 to 5, a step at each receive from step, and whose calls
// can be resumed at any number.
func newResuming(t testing.TB, step <-chan struct{}) *fixture {
	steps := func(ctx context.Context, from int) error {
		x := wire.From(ctx)
		x.At(strconv.Itoa(from))
		for i := from + 1; i <= 5; i++ {
			select {
			case <-step:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := x.NotifyAt(strconv.Itoa(i), "notifications/progress", progress(x, i, "t")); err != nil {
				return err
			}
		}
		return nil
	}
	f := newFixture(t, wire.Config{Resume: func(ctx context.Context, x *wire.Exchange) (any, error) {
		from, err := strconv.Atoi(x.Place())
		if err != nil {
			return nil, &wire.Error{Code: mcp.INVALID_PARAMS, Message: "there is no such place"}
		}
		return mcp.NewToolResultText("t"), steps(ctx, from)
	}})
	f.mcp.AddTool(mcp.NewTool("steps"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("t"), steps(ctx, 0)
	})
	return f
}

// A client whose stream broke goes on with the id of the last event: in its session, or at a server that has none.
func TestResume(t *testing.T) {
	for name, restarted := range map[string]bool{"the same server": false, "another server": true} {
		t.Run(name, func(t *testing.T) {
			step := make(chan struct{})
			c := sessionClient(t, newResuming(t, step).serveHTTP(t))
			ctx, cut := context.WithCancel(t.Context())
			events := newStream(t, c.send(ctx, http.MethodPost, toolCall(`"é"`, "steps", `{}`, `"progressToken":"p"`)).Body)
			var got []message
			for range 3 {
				step <- struct{}{}
				m, _ := events.next()
				got = append(got, m)
			}
			cut()
			if restarted {
				c.url = newResuming(t, step).serveHTTP(t)
			}
			c.headers["Last-Event-ID"] = events.ids[len(events.ids)-1]
			again := newStream(t, c.send(t.Context(), http.MethodGet, "").Body)
			for range 2 {
				step <- struct{}{}
			}
			for m, ok := again.next(); ok; m, ok = again.next() {
				got = append(got, m)
			}
			whole(t, got, 5, `"é"`, "t")
		})
	}
}

// A call that has nothing to say yet tells its client where to go on before a cut is likely.
func TestPriming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{}, 5)
		dial, end := newResuming(t, step).bubble(t)
		defer end()
		c := dial()
		session := c.initialize()
		begin := time.Now()
		response := c.do(http.MethodPost, session, toolCall("1", "steps", `{}`, ""))
		if took := time.Since(begin); took != time.Second || !isStream(response) {
			t.Errorf("after %v there is %v", took, response.Header)
		}
		for range 5 {
			step <- struct{}{}
		}
		events := newStream(t, response.Body)
		if m, _ := events.next(); m.Params.Progress != 1 || len(events.ids) != 2 || events.ids[0] != "0;MQ;" {
			t.Errorf("%+v follows the ids %q", m, events.ids)
		}
	})
}

// What no server gave is a stream that does not exist, and a place that is gone is the call's error.
func TestResumeOfWhatIsNot(t *testing.T) {
	c := sessionClient(t, newResuming(t, nil).serveHTTP(t))
	for _, id := range []string{"7", "7;;", "7;!;", "7;bnVsbA;", ";"} {
		c.headers["Last-Event-ID"] = id
		if r := c.send(t.Context(), http.MethodGet, ""); r.StatusCode != http.StatusNotFound {
			t.Errorf("%q: %s", id, r.Status)
		}
	}
	c.headers["Last-Event-ID"] = "nowhere;MQ;"
	response := c.send(t.Context(), http.MethodGet, "")
	if got := drain(t, response); !isStream(response) || len(got) != 1 || got[0].Error == nil || string(got[0].ID) != "1" {
		t.Errorf("%+v", got)
	}
}
