package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// A client of 2025-11-25 that is cut off after any event goes on with the last one's id, at a server that knows neither
// its session nor its call: each event comes once, the texts as well however the journal merged them meanwhile, and the
// result answers the first request. This holds for every request that streams a run.
func TestStreamGoesOnAfterACut(t *testing.T) {
	call := func(name string, arguments map[string]any) (string, map[string]any) {
		return "tools/call", map[string]any{"name": name, "arguments": arguments}
	}
	start := func(c *client) messages.RunID {
		return c.callTool("run_start", map[string]any{"job": "talk"}, nil).response().toolResult(t).Structured.RunID
	}
	for name, request := range map[string]func(c *client) (method string, params map[string]any){
		"a call":   func(*client) (string, map[string]any) { return call("talk", map[string]any{}) },
		"run_wait": func(c *client) (string, map[string]any) { return call("run_wait", map[string]any{"run_id": start(c)}) },
		"run_attach": func(c *client) (string, map[string]any) {
			return call("run_attach", map[string]any{"run_id": start(c)})
		},
		"run_attach with options": func(c *client) (string, map[string]any) {
			return call("run_attach", map[string]any{"run_id": start(c), "level": "delta", "rate": 1000})
		},
		"AddStream": func(c *client) (string, map[string]any) { return call("own", map[string]any{"run_id": start(c)}) },
		"a task":    func(c *client) (string, map[string]any) { return "tasks/result", map[string]any{"taskId": start(c)} },
	} {
		t.Run(name, func(t *testing.T) { goesOn(t, request) })
	}
}

// ownStream adds a tool that streams a run in its own way.
func ownStream(t *testing.T, s *mcp.Server) {
	stream := s.AddStream("own", func(state messages.State) (*mcp.Result, error) { return s.Result(t.Context(), state), nil })
	type arguments struct {
		RunID messages.RunID `json:"run_id"`
	}
	must(t, mcp.AddTool(s, mcp.Tool{Name: "own", ReadOnly: true}, func(ctx context.Context, a arguments) (*mcp.Result, error) {
		return stream(ctx, a.RunID)
	}))
}

func goesOn(t *testing.T, request func(c *client) (method string, params map[string]any)) {
	const words = 300
	next := make(chan struct{}, words)
	talk := func(_ context.Context, task *actors.TaskContext, _ noInput) (string, error) {
		for i := range words {
			<-next
			if err := task.AppendText("answer", fmt.Sprint("word ", i, " ")); err != nil {
				return "", err
			}
			if i%50 == 30 {
				if err := task.Emit(messages.ToolStarted{Call: fmt.Sprint(i), Tool: "t"}, ""); err != nil {
					return "", err
				}
			}
		}
		return "said", nil
	}
	first, system := doorTo(t, mcp.Config{}, []actors.Definition{actors.Func("talk", talk)}, mcp.JobTool{Job: "talk"})
	ownStream(t, first)
	c := dialAs(t, first, legacyHTTP, as{principal: "ann"})
	var text, last string
	var seq uint64
	read := func(response *http.Response, events int) (m message, ended bool) {
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for n := 0; n < events && lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				last = id
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok || data == "" {
				continue
			}
			n++
			next <- struct{}{}
			m = message{}
			must(t, json.Unmarshal([]byte(data), &m))
			if m.Method == "" {
				return m, true
			}
			e := m.progress(t).Meta.Event
			if seq == 0 { // what was before the request
				seq = max(e.From, 1) - 1
			}
			if e.From > seq+1 || e.Seq <= seq {
				t.Fatalf("event %d..%d comes after %d", e.From, e.Seq, seq)
			}
			seq = e.Seq
			text += said(e.Body)
		}
		return m, false
	}
	method, params := request(c)
	params["_meta"] = map[string]any{"progressToken": 7}
	post := c.request(t.Context(), method, params, map[string]any{"jsonrpc": "2.0", "id": "call", "method": method,
		"params": params})
	response, err := c.http.Do(post)
	must(t, err)
	for range 20 {
		next <- struct{}{}
	}
	m, ended := read(response, 10)
	for cuts := 0; !ended; cuts++ {
		get, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		get.Header = post.Header.Clone()
		get.Header.Set("Accept", "text/event-stream")
		get.Header.Set("Last-Event-ID", last)
		if cuts == 3 { // as after a restart
			again := serverOf(t, mcp.Config{Runs: system, Name: "lastword", Version: "test"})
			ownStream(t, again)
			c = dialAs(t, again, legacyHTTP, as{principal: "ann"})
		}
		get.URL.Host = strings.TrimPrefix(c.url, "http://")
		if response, err = c.http.Do(get); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("cut %d: %v, %v", cuts, response, err)
		}
		m, ended = read(response, 20)
	}
	var want strings.Builder
	for i := range words {
		fmt.Fprint(&want, "word ", i, " ")
	}
	if text != want.String() {
		t.Errorf("the client has %d bytes, want %d", len(text), want.Len())
	}
	r := m.toolResult(t)
	if string(m.ID) != `"call"` || string(r.Structured.Result) != `"said"` {
		t.Errorf("the answer is %s", m.Result)
	}
	bob := dialAs(t, first, legacyHTTP, as{principal: "bob"})
	response = testkit.OpenURL(t.Context(), t, http.MethodGet, bob.url, "", "Accept", "text/event-stream", "Last-Event-ID", last)
	if m, _ := read(response, 1); m.Error == nil || string(m.ID) != `"call"` {
		t.Errorf("another principal gets %+v", m)
	}
}

// said is what a delta adds to texts.
func said(body messages.Body) string {
	switch b := body.(type) {
	case messages.TextDelta:
		return b.Text
	case messages.Merged:
		var all strings.Builder
		for _, part := range b.Parts {
			all.WriteString(said(part))
		}
		return all.String()
	}
	return ""
}

// A session goes on after a restart. Its subscriptions tell of what may have changed meanwhile. A question whose stream
// broke is asked again on the stream that goes on, and a late answer to the first one answers nothing.
func TestSessionGoesOnAfterARestart(t *testing.T) {
	rows := map[string][]byte{}
	config := mcp.Config{Keys: seal.New(nil), Sessions: seal.Rows{
		Get: func(_ context.Context, name string) ([]byte, uint64, error) { return rows[name], 0, nil },
		Set: func(_ context.Context, name string, row []byte, _ uint64) error { rows[name] = row; return nil }}}
	first, system := doorTo(t, config, testJobs(), mcp.JobTool{Job: "confirm"})
	c := dialAs(t, first, legacyHTTP, as{principal: "ann", capabilities: asks})
	for _, uri := range []string{"notes://kept", "notes://left"} {
		c.do("resources/subscribe", map[string]any{"uri": uri}).result(t)
	}
	c.do("resources/unsubscribe", map[string]any{"uri": "notes://left"}).result(t)

	asks := func(response *http.Response, err error) (last string, question message, lines *bufio.Scanner) {
		must(t, err)
		t.Cleanup(func() { response.Body.Close() })
		lines = bufio.NewScanner(response.Body)
		for question.Method == "" && lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				last = id
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: {"); ok {
				must(t, json.Unmarshal([]byte("{"+data), &question))
			}
		}
		return last, question, lines
	}
	params := map[string]any{"name": "confirm", "arguments": map[string]any{}}
	post := c.request(t.Context(), "tools/call", params, map[string]any{"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params})
	last, before, _ := asks(c.http.Do(post))
	first.Close()

	config.Runs, config.Name, config.Version = system, "lastword", "test"
	second := serverOf(t, config, mcp.JobTool{Job: "confirm"})
	c.dialHTTP(second)
	get, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
	get.Header = post.Header.Clone()
	get.Header.Set("Last-Event-ID", last)
	_, again, lines := asks(c.http.Do(get))
	if again.Method != "elicitation/create" || string(again.ID) == string(before.ID) {
		t.Fatalf("%+v follows %+v", again, before)
	}
	c.respond(before.ID, accepted(map[string]any{"value": false}))
	c.respond(again.ID, accepted(map[string]any{"value": true}))
	for lines.Scan() && !strings.Contains(lines.Text(), "answered true") {
	}
	if !strings.Contains(lines.Text(), `"id":"call"`) {
		t.Errorf("the call has no answer: %v", lines.Err())
	}
	openStream(t, c)
	if uri := uriIn(t, c.hears(t, updated)); uri != "notes://kept" {
		t.Errorf("told of %s", uri)
	}
}

// The end of a call, and of a session, reaches their runs from any server.
func TestEndsReachOtherServers(t *testing.T) {
	job, _ := gated()
	config := mcp.Config{Keys: seal.New(nil), Name: "lastword", Version: "test"}
	first, system := doorTo(t, config, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	config.Runs = system
	c := dial(t, first, legacyHTTP)
	x := c.callTool("script", nil, "tok")
	runs := []messages.RunID{runOf(t, x), c.call("run_start", map[string]any{"job": "script", "detached": false}).Structured.RunID}
	c.dialHTTP(serverOf(t, config, mcp.JobTool{Job: "script"}))
	c.cancel(x)
	end, _ := http.NewRequestWithContext(t.Context(), http.MethodDelete, c.url, nil)
	end.Header.Set("Mcp-Session-Id", c.session)
	response, err := c.http.Do(end)
	must(t, err)
	response.Body.Close()
	for _, id := range runs {
		if state := over(t, system, id); state.Status != messages.Canceled {
			t.Errorf("the run is %s", state.Status)
		}
	}
}
