package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// chunky is a job whose result is what its input says, once its gate is open.
func chunky(gate <-chan struct{}) actors.NewJob {
	return actors.Func("chunky", func(ctx context.Context, _ *actors.TaskContext, in struct {
		Value any    `json:"value"`
		Crash string `json:"crash"`
	}) (any, error) {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch in.Crash {
		case "panic":
			panic("oh dear")
		case "error":
			return nil, errors.New("oh dear")
		}
		return in.Value, nil
	})
}

func opened() <-chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

func chunkTool(t *testing.T, gate <-chan struct{}) (*mcp.Server, *actors.System) {
	t.Helper()
	s, system := doorTo(t, mcp.Config{}, map[string]actors.NewJob{"chunky": chunky(gate)})
	add(t, s, mcp.JobTool{Job: "chunky", Chunked: true})
	add(t, s, mcp.JobTool{Job: "chunky", Name: "whole"})
	return s, system
}

// askFor sends a call for a stream, the wish beside the arguments.
func askFor(c *client, arguments map[string]any, wish, token any) *exchange {
	params := map[string]any{"name": "chunky", "arguments": arguments, "stream": wish}
	if token != nil {
		params["_meta"] = map[string]any{"progressToken": token}
	}
	return c.start("tools/call", params)
}

// streamed is what a stream was told.
type streamed struct {
	id         string
	resultType string   // of the reply
	chunks     []string // the data of each
	status     string
	err        *mcp.RunError
}

// follow reads a stream from the reply to its end and holds it to its rules.
func follow(t *testing.T, x *exchange, token string) streamed {
	t.Helper()
	reply := x.take()
	r := reply.toolResult(t)
	if r.StreamID == "" || r.Structured.StreamID != r.StreamID || !r.Meta.Streaming || len(r.Content) == 0 || r.IsError {
		t.Fatalf("the reply is %s", reply.Result)
	}
	s := streamed{id: r.StreamID, resultType: r.ResultType}
	if token == "" {
		token = fmt.Sprintf("%q", s.id)
	}
	if string(r.Meta.Token) != token {
		t.Fatalf("the reply's token is %s, want %s", r.Meta.Token, token)
	}
	last := -1.0
	for s.status == "" {
		p := x.take().progress(t)
		if string(p.Token) != token || p.Progress <= last {
			t.Fatalf("after %v came %+v", last, p)
		}
		if last < 0 && (p.Progress != 0 || p.Message != "started" || p.Meta.Chunk != nil) {
			t.Fatalf("the stream begins with %+v", p)
		}
		last = p.Progress
		if chunk := p.Meta.Chunk; chunk != nil {
			s.chunks = append(s.chunks, string(chunk.Data))
			if chunk.Number != len(s.chunks) || chunk.StreamID != s.id || p.Progress != float64(chunk.Number) ||
				p.Total == nil || *p.Total != float64(chunk.Total) || chunk.Number > chunk.Total {
				t.Fatalf("chunk %d is %+v", len(s.chunks), p)
			}
		}
		if end := p.Meta.Stream; end != nil {
			s.status, s.err = end.Status, end.Error
			if (p.Total != nil) != (end.Status == "completed") || p.Total != nil && *p.Total != p.Progress {
				t.Fatalf("a stream that ends %s has %+v", end.Status, p)
			}
			if end.StreamID != s.id || (end.Total != nil) != (end.Status == "completed") ||
				end.Total != nil && *end.Total != len(s.chunks) {
				t.Fatalf("after %d chunks the end is %+v", len(s.chunks), end)
			}
		}
	}
	return s
}

func TestChunksFollowTheReply(t *testing.T) {
	for given, want := range map[string][]string{
		`["a", {"data": "b"}, 3, null]`:       {`"a"`, `{"data":"b"}`, `3`, `null`},
		`{"chunks": ["a", "b"]}`:              {`"a"`, `"b"`},
		`"only one"`:                          {`"only one"`},
		`{"chunks": "not a list", "x": true}`: {`{"chunks":"not a list","x":true}`},
		`[]`:                                  nil,
	} {
		inEachEra(t, func(t *testing.T, how era) {
			s, _ := chunkTool(t, opened())
			c := dial(t, s, how)
			arguments := map[string]any{"value": json.RawMessage(given)}
			for _, token := range []string{"", `"tok"`} {
				var given any
				if token != "" {
					given = "tok"
				}
				x := askFor(c, arguments, true, given)
				got := follow(t, x, token)
				if how.modern != (got.resultType == "complete") {
					t.Errorf("the reply's type is %q", got.resultType)
				}
				if got.status != "completed" || strings.Join(got.chunks, " ") != strings.Join(want, " ") {
					t.Errorf("%s: %+v", want, got)
				}
				quiet(t, c, x)
			}
		})
	}
}

func TestTheReplyDoesNotWaitForTheHandler(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		gate := make(chan struct{})
		s, _ := chunkTool(t, gate)
		x := askFor(dial(t, s, how), map[string]any{"value": []int{1}}, map[string]any{"chunkDelayMs": 0}, nil)
		if r := x.take().toolResult(t); r.StreamID == "" {
			t.Errorf("the reply is %+v", r)
		}
		if p := x.take().progress(t); p.Progress != 0 {
			t.Errorf("the stream begins with %+v", p)
		}
		close(gate)
		if p := x.take().progress(t); p.Meta.Chunk == nil {
			t.Errorf("the first chunk is %+v", p)
		}
	})
}

func TestChunksKeepTheirDistance(t *testing.T) {
	s, _ := chunkTool(t, opened())
	begin := time.Now()
	x := askFor(dial(t, s, legacyStdio), map[string]any{"value": []int{1, 2, 3, 4}}, map[string]any{"chunkDelayMs": 20}, nil)
	got := follow(t, x, "")
	if d := time.Since(begin); got.status != "completed" || d < 60*time.Millisecond {
		t.Errorf("%+v took %v", got, d)
	}
}

func TestTheWishForAStreamMayStandAmongTheArguments(t *testing.T) {
	s, _ := chunkTool(t, opened())
	c := dial(t, s, modernHTTP)
	within := c.callTool("chunky", map[string]any{"value": []int{1}, "stream": map[string]any{"chunkDelayMs": 1}}, nil)
	if got := follow(t, within, ""); got.status != "completed" || len(got.chunks) != 1 {
		t.Errorf("among the arguments: %+v", got)
	}
	for name, x := range map[string]*exchange{
		"false beside true":  askFor(c, map[string]any{"value": []int{1}, "stream": true}, false, nil),
		"false":              c.callTool("chunky", map[string]any{"value": []int{1}, "stream": false}, nil),
		"none":               c.callTool("chunky", map[string]any{"value": []int{1}}, nil),
		"false, not chunked": c.callTool("whole", map[string]any{"value": []int{1}, "stream": false}, nil),
	} {
		r := x.response().toolResult(t)
		if string(r.Structured.Result) != `[1]` || r.StreamID != "" || r.Structured.Status != mcp.Completed {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestAWishForAStreamThatIsNone(t *testing.T) {
	s, _ := chunkTool(t, opened())
	c := dial(t, s, legacyHTTP)
	for _, wish := range []string{`1`, `"true"`, `[]`, `{"chunkDelayMs":-1}`, `{"chunkDelayMs":60001}`,
		`{"chunkDelayMs":"1"}`, `{"delay":1}`} {
		r := askFor(c, nil, json.RawMessage(wish), nil).response().toolResult(t)
		e := r.Meta.Error
		if !r.IsError || e.Code != "invalid_input" || !strings.Contains(e.Message, "chunkDelayMs") {
			t.Errorf("%s: %+v", wish, r)
		}
	}
	r := c.callTool("whole", map[string]any{"stream": true}, nil).response().toolResult(t)
	if !r.IsError || !strings.Contains(r.Meta.Error.Message, "progress token") {
		t.Errorf("a tool without chunks: %+v", r)
	}
	r = askFor(c, map[string]any{"colour": 1}, true, nil).response().toolResult(t)
	if !r.IsError || !strings.Contains(r.Meta.Error.Message, "colour") || r.StreamID != "" {
		t.Errorf("bad arguments: %+v", r)
	}
}

func TestAStreamWinsOverATask(t *testing.T) {
	s, _ := chunkTool(t, opened())
	for _, how := range []era{legacyStdio, modernStdio} {
		c := dialAs(t, s, how, as{capabilities: map[string]any{"tasks": map[string]any{},
			"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}})
		x := c.start("tools/call", map[string]any{"name": "chunky", "arguments": map[string]any{"value": []int{1}},
			"stream": true, "task": map[string]any{"ttl": 1000}})
		if got := follow(t, x, ""); got.status != "completed" {
			t.Errorf("%v: %+v", how, got)
		}
	}
}

func TestAHandlerThatCrashesIsOneFailedEnd(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, _ := chunkTool(t, opened())
		c := dial(t, s, how)
		for crash, code := range map[string]messages.Code{"panic": "panic", "error": "error"} {
			x := askFor(c, map[string]any{"crash": crash}, true, "tok")
			got := follow(t, x, `"tok"`)
			if got.status != "failed" || len(got.chunks) != 0 || got.err == nil || got.err.Code != code ||
				!strings.Contains(got.err.Message, "oh dear") {
				t.Errorf("%s: %+v, %+v", crash, got, got.err)
			}
			quiet(t, c, x)
		}
		if m := c.do("tools/list", nil); m.Error != nil {
			t.Errorf("the server is no more: %+v", m.Error)
		}
	})
}

// Who cancels the request, or the run, before the handler has returned, or between two chunks, gets one end.
func TestACanceledStream(t *testing.T) {
	ways := map[string]func(c *client, x *exchange, id messages.RunID){
		"by request": func(c *client, x *exchange, _ messages.RunID) { c.cancel(x) },
		"by run": func(c *client, _ *exchange, id messages.RunID) {
			c.callTool("run_cancel", map[string]any{"run_id": id}, nil).response()
		},
	}
	for way, cancel := range ways {
		for _, early := range []bool{true, false} {
			inEachEra(t, func(t *testing.T, how era) {
				gate := make(chan struct{})
				if !early {
					close(gate)
				}
				s, system := chunkTool(t, gate)
				c := dial(t, s, how)
				x := askFor(c, map[string]any{"value": []int{1, 2, 3}}, map[string]any{"chunkDelayMs": 30000}, nil)
				id := messages.RunID(x.take().toolResult(t).StreamID)
				x.take() // started
				if !early && x.take().progress(t).Meta.Chunk == nil {
					t.Fatal("there is no first chunk")
				}
				cancel(c, x, id)
				if way == "by run" || how != modernHTTP { // there, to cancel is to close the stream
					if p := x.take().progress(t); p.Meta.Stream == nil || p.Meta.Stream.Status != "canceled" {
						t.Errorf("%s, early %v: the end is %+v", way, early, p)
					}
					quiet(t, c, x)
				}
				if early && how != modernHTTP {
					if state := over(t, system, id); state.Status != messages.Canceled {
						t.Errorf("%s: the run is %s", way, state.Status)
					}
				}
			})
		}
	}
}

// A client that is gone is told nothing more, and the run goes on.
func TestAStreamWithoutItsClient(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		gate := make(chan struct{})
		s, system := chunkTool(t, gate)
		c := dial(t, s, how)
		x := askFor(c, map[string]any{"value": []int{1, 2, 3}}, true, nil)
		id := messages.RunID(x.take().toolResult(t).StreamID)
		c.hangUp(x)
		time.AfterFunc(50*time.Millisecond, func() { close(gate) }) // a cancel that comes would be there by then
		if state := over(t, system, id); state.Status != messages.Completed {
			t.Errorf("the run is %s", state.Status)
		}
	})
}

func TestAnUnknownTool(t *testing.T) {
	s, _ := chunkTool(t, opened())
	x := dial(t, s, legacyHTTP).start("tools/call", map[string]any{"name": "nobody", "stream": true})
	if m := x.response(); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("%s, %+v", m.Result, m.Error)
	}
}

// A cancel ends a stream between any two chunks, also where they follow each other without a pause.
func TestACanceledStreamWithoutPauses(t *testing.T) {
	const chunks = 300
	s, _ := chunkTool(t, opened())
	in, ours := io.Pipe()
	theirs, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(t.Context(), in, out)
	}()
	c := &client{t: t, how: modernStdio, in: ours, open: map[string]*exchange{}}
	askFor(c, map[string]any{"value": slices.Repeat([]string{strings.Repeat("x", 4<<10)}, chunks)}, true, "tok")
	lines := bufio.NewScanner(theirs) // what is not read is not written
	next := func() (m message) {
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &m) != nil {
			t.Fatalf("%q, %v", lines.Bytes(), lines.Err())
		}
		return m
	}
	id := next().toolResult(t).StreamID
	next() // started
	if next().progress(t).Meta.Chunk == nil {
		t.Fatal("there is no first chunk")
	}
	dial(t, s, modernHTTP).call("run_cancel", map[string]any{"run_id": id})
	told := 1
	for p := next().progress(t); p.Meta.Stream == nil; p = next().progress(t) {
		told++
	}
	if told > chunks/2 { // more than were on their way
		t.Errorf("%d chunks were told", told)
	}
	ours.Close()
	<-served
}
