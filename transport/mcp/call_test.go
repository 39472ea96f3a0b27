package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// busy says something of every sort.
func busy() faultplan.Script {
	return faultplan.Script{
		Fetch: []faultplan.Step{{Do: faultplan.Report, Done: 1, Total: 3}, {Do: faultplan.Log, Text: "looking", Times: 5}},
		Analyze: []faultplan.Step{
			{Do: faultplan.Say, Text: "word ", Times: 200},
			{Do: faultplan.Said, Text: strings.Repeat("word ", 200)},
		},
		Write: []faultplan.Step{{Do: faultplan.Emit, Text: "wrote a.md", Body: messages.ArtifactWritten{
			Artifact: messages.Artifact{Name: "notes/a b.md", Bytes: 3, SHA256: messages.Digest("abc")}}}},
	}
}

// eventsTold are the events that the exchange's progress told, with the terminal of its result.
func eventsTold(t *testing.T, all []message) []messages.Event {
	t.Helper()
	var events []messages.Event
	last := 0.0
	for _, m := range all[:len(all)-1] {
		p := m.progress(t)
		if p.Progress <= last || p.Total != nil || p.Message == "" || string(p.Token) != `"tok"` {
			t.Fatalf("after %v came %s", last, m.Params)
		}
		if last = p.Progress; p.Meta.Event == nil {
			continue
		}
		if p.Progress != float64(p.Meta.Event.Seq) {
			t.Fatalf("event %d is progress %v", p.Meta.Event.Seq, p.Progress)
		}
		events = append(events, *p.Meta.Event)
	}
	r := all[len(all)-1].toolResult(t)
	if r.Meta.Event == nil {
		t.Fatalf("there is no terminal in %s", all[len(all)-1].Result)
	}
	return append(events, *r.Meta.Event)
}

// over returns the State of the run once it has ended.
func over(t *testing.T, system *actors.System, id messages.RunID) messages.State {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	var state messages.State
	for e, err := range system.Events(ctx, id, 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
	}
	return state
}

// quiet fails where something comes for the exchange after its result.
func quiet(t *testing.T, c *client, x *exchange) {
	t.Helper()
	if !c.how.stdio {
		if m, ok := x.may(); ok {
			t.Errorf("after the result came %s %s", m.Method, m.Params)
		}
		return
	}
	c.do("ping", nil)
	select {
	case m := <-x.inbox:
		t.Errorf("after the result came %s %s", m.Method, m.Params)
	case m := <-c.inbox:
		t.Errorf("nobody's message: %s %s", m.Method, m.Params)
	default:
	}
}

// gated is a job that waits for its gate.
func gated() (actors.Definition, chan struct{}) {
	gate := make(chan struct{})
	return scripted(faultplan.Script{Analyze: []faultplan.Step{{Do: faultplan.Await, Gate: gate}}}), gate
}

// Without a token a call has its one result alone; with one it is told every event once, in order, before that.
func TestACallIsItsEventsAndOneResult(t *testing.T) {
	for _, crash := range []faultplan.Action{"", faultplan.Panic, faultplan.NilMap, faultplan.Goexit, faultplan.PanicInGo} {
		inEachEra(t, func(t *testing.T, how era) {
			script := busy()
			if crash != "" {
				script.Analyze = append(script.Analyze, faultplan.Step{Do: crash, Text: "oh dear"})
			}
			c := dial(t, serving(t, []actors.Definition{scripted(script)}, mcp.JobTool{Job: "script", Name: "work"}), how)
			for _, token := range []any{nil, "tok"} {
				x := c.callTool("work", nil, token)
				all := x.until()
				r := all[len(all)-1].toolResult(t)
				is, crashed := r.Structured, crash != ""
				if r.IsError != crashed || (is.Status == messages.Completed) == crashed ||
					crashed && (is.Status != messages.Failed || is.Cause != messages.CausePanic || is.Error == nil) {
					t.Errorf("%s: the result is %s", crash, all[len(all)-1].Result)
				}
				if token == nil && len(all) != 1 {
					t.Errorf("%d messages came without a token", len(all))
				} else if token != nil && (testkit.CheckLog(0, eventsTold(t, all)) != nil || is.Seq != r.Meta.Event.Seq) {
					t.Errorf("%v, the result at %d is %s", testkit.CheckLog(0, eventsTold(t, all)), is.Seq, all[len(all)-1].Result)
				}
				quiet(t, c, x)
			}
		})
	}
}

// runOf is the run whose first event the exchange tells.
func runOf(t *testing.T, x *exchange) messages.RunID {
	t.Helper()
	e := x.take().progress(t).Meta.Event
	if e == nil {
		t.Fatal("the first progress has no event")
	}
	return e.RunID
}

// The first event comes at once, and anyone who leaves then cancels attached runs alone.
func TestWhoLeavesCancelsAttachedRunsAlone(t *testing.T) {
	for mode, survives := range map[messages.Mode]func(era) bool{
		"":                func(how era) bool { return !how.modern },
		messages.Attached: func(era) bool { return false },
		messages.Detached: func(era) bool { return true },
	} {
		inEachEra(t, func(t *testing.T, how era) {
			job, gate := gated()
			job.Mode = mode
			s, system := doorTo(t, mcp.Config{}, []actors.Definition{job}, mcp.JobTool{Job: "script"})
			c := dial(t, s, how)
			x := c.callTool("script", nil, "tok")
			id := runOf(t, x)
			c.hangUp(x)
			if survives(how) {
				time.AfterFunc(50*time.Millisecond, func() { close(gate) }) // a cancel would be there by then
			}
			want := messages.Canceled
			if survives(how) {
				want = messages.Completed
			}
			if state := over(t, system, id); state.Status != want {
				t.Errorf("mode %q: the run is %s, want %s", mode, state.Status, want)
			}
		})
	}
}

func TestHeartbeatsFillSilence(t *testing.T) {
	job, gate := gated()
	s, _ := doorTo(t, mcp.Config{Heartbeat: time.Millisecond}, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	x := dial(t, s, legacyStdio).callTool("script", nil, "tok")
	seq, last, beats := 0.0, 0.0, 0
	for beats < 100 {
		p := x.take().progress(t)
		if p.Progress <= last || p.Message == "" {
			t.Fatalf("after %v came %+v", last, p)
		}
		last = p.Progress
		if p.Meta.Event != nil {
			seq = p.Progress
			continue
		}
		if beats++; p.Progress >= seq+1 {
			t.Fatalf("the heartbeat %v is beyond the event after %v", p.Progress, seq)
		}
	}
	close(gate)
	for _, m := range x.until() {
		if m.Method != "" && m.progress(t).Progress <= last {
			t.Errorf("after %v came %s", last, m.Params)
		}
	}
}

// unread calls "script" with the request's id 100, and reads no more of the stream than its first event. What was
// read comes again.
func unread(t *testing.T, c *client) (*http.Response, messages.RunID) {
	t.Helper()
	params := map[string]any{"name": "script", "_meta": map[string]any{"progressToken": "tok"}}
	body := c.message("tools/call", params)
	body["id"] = 100
	response, err := c.http.Do(c.request(t.Context(), "tools/call", params, body))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	first := make([]byte, 1<<10)
	n, err := response.Body.Read(first)
	must(t, err)
	start := bytes.Index(first[:n], []byte("r_"))
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:n]), response.Body), response.Body}
	return response, messages.RunID(first[start : start+28])
}

func TestASlowReaderIsGivenMergedEvents(t *testing.T) {
	const words = 60000
	job := scripted(faultplan.Script{Analyze: []faultplan.Step{
		{Do: faultplan.Say, Text: strings.Repeat("word ", 20), Times: words}}})
	s, system := doorTo(t, mcp.Config{}, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	c := dial(t, s, legacyHTTP)
	response, id := unread(t, c)
	if state := over(t, system, id); state.Status != messages.Completed {
		t.Fatalf("the run is %s", state.Status)
	}
	inbox := make(chan message, 1<<17)
	c.read(response, inbox)
	close(inbox)
	var all []message
	for m := range inbox {
		all = append(all, m)
	}
	events := eventsTold(t, all)
	must(t, testkit.CheckLog(0, events))
	if len(events) >= words {
		t.Errorf("%d events came: nothing was merged", len(events))
	}
}

func TestArgumentsAreHeldToTheSchema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"item":{"type":"string"}},"required":["item"],` +
		`"additionalProperties":false}`)
	job := actors.Func("order", func(_ context.Context, _ *actors.TaskContext, in struct {
		Item string `json:"item"`
	}) (string, error) {
		return in.Item, nil
	})
	loose := job
	loose.Name, job.Input, loose.Input = "loose", jsonOf(string(schema)), nil
	s := serving(t, []actors.Definition{job, loose}, mcp.JobTool{Job: "order"}, mcp.JobTool{Job: "loose"})
	c := dial(t, s, modernHTTP)
	for name, test := range map[string]struct {
		tool, says string
		arguments  any
	}{
		"another field":     {"order", "colour", map[string]any{"item": "tea", "colour": 1}},
		"another type":      {"order", "item: this is a number; write a text", map[string]any{"item": 1}},
		"nothing":           {"order", "item", nil},
		"the job's own say": {"loose", "colour", map[string]any{"colour": 1}},
	} {
		r := c.callTool(test.tool, test.arguments, nil).response().toolResult(t)
		e := r.Meta.Error
		if !r.IsError || e == nil || e.Code != "invalid_input" || !strings.Contains(e.Message, test.says) ||
			r.Content[0].Text != e.Message {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r := c.callTool("order", map[string]any{"item": "tea"}, nil).response().toolResult(t)
	if string(r.Structured.Result) != `"tea"` {
		t.Errorf("the result is %s", r.Structured.Result)
	}
}

// What the caller wishes of a run goes before what its tool says, and the tool's limits are the run's.
func TestWhatARunIsStartedWith(t *testing.T) {
	limits, jobs := messages.Limits{StallMS: 12_345}, testJobs()
	for name, mode := range map[string]messages.Mode{"any": "", "stays": messages.Detached, "leaves": messages.Attached} {
		jobs = append(jobs, knownAs(name, messages.JobSpec{Mode: mode, Limits: limits}))
	}
	s, _ := doorTo(t, mcp.Config{}, jobs)
	for _, name := range []string{"any", "stays", "leaves"} {
		add(t, s, mcp.JobTool{Job: name})
	}
	for _, test := range []struct {
		tool         string
		wished, want messages.Mode
	}{
		{"any", "", messages.Detached}, {"any", messages.Attached, messages.Attached},
		{"leaves", "", messages.Attached}, {"leaves", messages.Detached, messages.Detached},
		{"stays", messages.Attached, messages.Attached},
	} {
		state, err := s.Start(t.Context(), test.tool, nil, mcp.StartOptions{Mode: test.wished})
		must(t, err)
		if q := state.Queued; q.Mode != test.want || q.Limits.StallMS != limits.StallMS {
			t.Errorf("%s, %q: %s with %+v", test.tool, test.wished, q.Mode, q.Limits)
		}
	}
}

// A client that reads nothing is heard all the same: the run ends though nobody takes what it said.
func TestACancelFromAClientThatDoesNotRead(t *testing.T) {
	job := scripted(faultplan.Script{Analyze: []faultplan.Step{{Do: faultplan.Say, Text: "word ", Times: 1000},
		{Do: faultplan.Await, Gate: make(chan struct{})}}})
	s, system := doorTo(t, mcp.Config{}, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	in, ours := io.Pipe()
	_, full := io.Pipe() // nobody takes a byte of it
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(t.Context(), in, full) }()
	c := &client{t: t, how: modernStdio, in: ours, open: map[string]*exchange{}}
	x := c.callTool("script", nil, "tok")
	var runs []messages.Summary
	for deadline := time.Now().Add(patience); len(runs) == 0 && time.Now().Before(deadline); {
		var err error
		runs, err = system.List(t.Context(), messages.Query{})
		must(t, err)
	}
	c.cancel(x)
	if state := over(t, system, runs[0].RunID); state.Status != messages.Canceled {
		t.Errorf("the run is %s", state.Status)
	}
	full.Close()
	ours.Close()
	<-served
}

// Over HTTP what is not read is somewhere on its way, until there is no more room: then too a cancel is heard at
// once.
func TestACancelBesideAStreamThatIsNotRead(t *testing.T) {
	job := scripted(faultplan.Script{Analyze: []faultplan.Step{
		{Do: faultplan.Say, Text: strings.Repeat("word ", 20_000), Times: 300},
		{Do: faultplan.Emit, Body: messages.ArtifactWritten{Artifact: messages.Artifact{Name: "a", SHA256: messages.Digest("")}}},
		{Do: faultplan.Await, Gate: make(chan struct{})}}})
	s, system := doorTo(t, mcp.Config{}, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	c := dial(t, s, legacyHTTP)
	_, id := unread(t, c)
	for e, err := range system.Events(t.Context(), id, 0) {
		must(t, err)
		if e.Kind() == messages.KindArtifactWritten {
			break
		}
	}
	c.tell("notifications/cancelled", map[string]any{"requestId": 100})
	if state := over(t, system, id); state.Status != messages.Canceled {
		t.Errorf("the run is %s", state.Status)
	}
}

var must = fatal.IfError

// eventsIn are the events that progress told.
func eventsIn(t *testing.T, all []message) []messages.Event {
	t.Helper()
	var events []messages.Event
	for _, m := range all {
		if p := m.progress(t); p.Meta.Event != nil {
			events = append(events, *p.Meta.Event)
		}
	}
	return events
}

// A client that cannot ask its user gets the question. Its progress and its later reads together are the whole log, each
// event once.
func TestAQuestionCutsTheStreamOnce(t *testing.T) {
	job := actors.Func("ask", func(ctx context.Context, t *actors.TaskContext, _ any) (any, error) {
		if err := t.AppendText("answer", "Before. "); err != nil {
			return nil, err
		}
		value, err := t.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "Really?"})
		if err != nil {
			return nil, err
		}
		return value, t.AppendText("answer", "After.")
	})
	inEachEra(t, func(t *testing.T, how era) {
		job.Mode = messages.Detached
		s := serving(t, []actors.Definition{job}, mcp.JobTool{Job: "ask"})
		c := dial(t, s, how)
		all := c.callTool("ask", nil, "tok").until()
		r, events := all[len(all)-1].toolResult(t), eventsIn(t, all[:len(all)-1])
		if r.IsError || r.Structured.Status != "waiting" || r.Structured.Seq != events[len(events)-1].Seq {
			t.Fatalf("after event %d the result is %s", events[len(events)-1].Seq, all[len(all)-1].Result)
		}
		c.callTool("run_answer", map[string]any{"run_id": r.Structured.RunID, "request": "q", "value": true}, nil).response()
		rest := c.callTool("run_attach", map[string]any{"run_id": r.Structured.RunID, "after": r.Structured.Seq}, "tok").until()
		must(t, testkit.CheckLog(0, append(events, eventsTold(t, rest)...)))
		if r := rest[len(rest)-1].toolResult(t); r.Structured.Status != messages.Completed || string(r.Structured.Result) != "true" {
			t.Errorf("the result is %s", rest[len(rest)-1].Result)
		}
	})
}

func TestProgressIsShort(t *testing.T) {
	job := scripted(faultplan.Script{Fetch: []faultplan.Step{
		{Do: faultplan.Say, Text: strings.Repeat("ü€", 100)}, {Do: faultplan.Emit, Text: "ask", Body: messages.ToolStarted{Call: "c", Tool: "t"}},
		{Do: faultplan.Report, Done: 3, Total: 10}, {Do: faultplan.Emit, Text: "tell", Body: messages.ToolCompleted{Call: "c"}},
		{Do: faultplan.Report, Done: 4}, {Do: faultplan.Emit, Text: "end", Body: messages.ToolStarted{Call: "d", Tool: "t"}},
		{Do: faultplan.Log, Text: "a line"},
	}})
	s := serving(t, []actors.Definition{job}, mcp.JobTool{Job: "script"})
	var said []string
	all := dial(t, s, modernStdio).callTool("script", nil, "tok").until()
	for _, m := range all[:len(all)-1] {
		p := m.progress(t)
		if len(p.Message) > 130 || !utf8.ValidString(p.Message) {
			t.Errorf("the message is %q", p.Message)
		}
		said = append(said, p.Message)
	}
	for _, want := range []string{"ask", "fetch: 3/10 steps", "tell", "fetch: 4 steps", "end", "a line"} {
		if !slices.Contains(said, want) {
			t.Errorf("%q is not among %q", want, said)
		}
	}
	if !slices.ContainsFunc(said, func(m string) bool { return strings.HasPrefix(m, "ü€ü€") && strings.HasSuffix(m, "…") }) {
		t.Errorf("the long text is not among %q", said)
	}
}
