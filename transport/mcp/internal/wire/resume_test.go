package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
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
		session, begin := c.initialize(), time.Now()
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

// rows returns a store of rows for the servers of a test. Shared ones check revisions, as the stores of several nodes do.
func rows(shared bool) seal.Rows {
	type kept struct {
		row      []byte
		revision uint64
	}
	var mu sync.Mutex
	all := map[string]kept{}
	return seal.Rows{Shared: shared,
		Get: func(_ context.Context, name string) ([]byte, uint64, error) {
			mu.Lock()
			defer mu.Unlock()
			return bytes.Clone(all[name].row), all[name].revision, nil
		},
		Set: func(_ context.Context, name string, row []byte, revision uint64) error {
			mu.Lock()
			defer mu.Unlock()
			if shared && all[name].revision != revision {
				return messages.Errorf(messages.CodeConflict, "it was changed")
			}
			all[name] = kept{bytes.Clone(row), revision + 1}
			return nil
		}}
}

// addKnown adds a tool that tells what the server knows of its client.
func addKnown(f *fixture) {
	f.mcp.AddTool(mcp.NewTool("known"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := wire.From(ctx)
		return mcp.NewToolResultText(fmt.Sprint(x.Version(), x.Elicits(), x.Extension("long"))), nil
	})
}

// A session goes on at another process with the same key, for its principal with its scopes alone. Anyone who has the id
// has nothing more by that.
func TestSessionOutlivesItsServer(t *testing.T) {
	keys, kept := seal.New(nil), rows(true)
	start := func(keys seal.Keys) string {
		f := newFixture(t, wire.Config{Keys: keys, Rows: kept})
		addKnown(f)
		return f.serveHTTP(t)
	}
	first, second, other := start(keys), start(seal.Keys{seal.New(nil)[0], keys[0]}), start(nil)
	long := `{"elicitation":{},"extensions":{"long":{"x":"` + strings.Repeat("y", 2000) + `"}}}`
	for capabilities, want := range map[string]string{`{"elicitation":{}}`: "2025-11-25true false", long: "2025-11-25true true"} {
		c := sessionClientAs(t, first, "ann", capabilities)
		if len(c.session) > 1<<10 {
			t.Errorf("the id has %d bytes", len(c.session))
		}
		for _, step := range []struct {
			url, caller, scopes string
			want                int
		}{
			{first, "ann", "", 200}, {second, "ann", "", 200}, {other, "ann", "", 404}, {first, "bob", "", 404},
			{second, "bob", "", 404}, {second, "ann", "admin", 404}, {second, "", "", 404},
		} {
			c.url, c.headers["Caller"], c.headers["Scopes"] = step.url, step.caller, step.scopes
			r := c.send(t.Context(), http.MethodPost, toolCall("7", "known", `{}`, ""))
			if r.StatusCode != step.want {
				t.Errorf("%+v: %s", step, r.Status)
			} else if step.want == 200 {
				if got := drain(t, r); got[0].text() != want {
					t.Errorf("%+v: %s", step, got[0].text())
				}
			}
		}
	}
}

// What a client does to its session holds after a restart: the level of logs, and its end.
func TestChangesOutliveTheServer(t *testing.T) {
	keys, kept := seal.New(nil), rows(false)
	broken := kept
	broken.Get = func(context.Context, string) ([]byte, uint64, error) { return nil, 0, errors.New("the disk is full") }
	start := func(rows seal.Rows) string {
		f := newFixture(t, wire.Config{Keys: keys, Rows: rows})
		f.mcp.AddTool(mcp.NewTool("level"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(server.ClientSessionFromContext(ctx).(server.SessionWithLogging).GetLogLevel())), nil
		})
		return f.serveHTTP(t)
	}
	c := sessionClient(t, start(kept))
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}`)
	c.url = start(kept)
	if _, got := c.call("2", "level", `{}`); len(got) != 1 || got[0].text() != "error" {
		t.Errorf("%+v", got)
	}
	c.url = start(broken)
	if status, _ := c.call("3", "level", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("a store that does not answer: %d", status)
	}
	c.url = start(kept)
	if r := c.send(t.Context(), http.MethodDelete, ""); r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
	c.url = start(kept)
	c.isLost()
}
