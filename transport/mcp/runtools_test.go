package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// work is what the job "work" is asked for.
type work struct {
	Lines int    `json:"lines,omitempty"` // to log
	Text  string `json:"text,omitempty"`  // to say
	Ask   bool   `json:"ask,omitempty"`
	Fail  string `json:"fail,omitempty"`
	Wait  bool   `json:"wait,omitempty"` // for the gate
}

// working serves the job "work", which may wait for the gate, and write files.
func working(t *testing.T, files map[string]string) (s *mcp.Server, open func(), system *actors.System) {
	gate := make(chan struct{})
	do := func(ctx context.Context, task *actors.TaskContext, in work) (any, error) {
		for i := range in.Lines {
			if err := task.Log(messages.LogInfo, fmt.Sprint("line ", i)); err != nil {
				return nil, err
			}
		}
		if in.Text != "" {
			if err := task.FinishText("answer", in.Text); err != nil {
				return nil, err
			}
		}
		for _, name := range slices.Sorted(keys(files)) {
			a := messages.Artifact{Name: name, Path: "out/" + name, Bytes: int64(len(files[name])), SHA256: strings.Repeat("0", 64)}
			if err := task.Emit(messages.ArtifactWritten{Artifact: a}, name+" written"); err != nil {
				return nil, err
			}
		}
		var result any = "done"
		if in.Ask {
			answer, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "Really?"})
			if err != nil {
				return nil, err
			}
			result = answer
		}
		if in.Wait {
			select {
			case <-gate:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if in.Fail != "" {
			return nil, errors.New(in.Fail)
		}
		return result, nil
	}
	config, hears := mcp.Config{Open: opening(files)}, actors.Func("work", do)
	hears.Messages = true
	s, system = doorTo(t, config, []actors.Definition{hears}, mcp.JobTool{Job: "work"})
	return s, func() { close(gate) }, system
}

// call calls a tool and reads its result.
func (c *client) call(name string, arguments any) toolResult {
	c.t.Helper()
	return c.callTool(name, arguments, nil).response().toolResult(c.t)
}

// begin starts the job "work" and returns its run.
func (c *client) begin(in work) messages.RunID {
	c.t.Helper()
	r := c.call("run_start", map[string]any{"job": "work", "input": in})
	if r.IsError || r.Structured.RunID == "" {
		c.t.Fatalf("run_start: %+v", r)
	}
	return r.Structured.RunID
}

func of(id messages.RunID, more ...any) map[string]any {
	arguments := map[string]any{"run_id": id}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	return arguments
}

// page is what run_events answers.
type page struct {
	RunID  messages.RunID `json:"run_id"`
	Events []struct {
		Seq     uint64          `json:"seq"`
		From    uint64          `json:"from"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
		Part    string          `json:"payload_part"`
		Offset  int             `json:"offset"`
		Bytes   int             `json:"bytes"`
	} `json:"events"`
	Next   cursor `json:"next"`
	Status string `json:"status"`
	Done   bool   `json:"done"`
}

// cursor is one that a page gave, as it came: a number or a text.
type cursor string

func (c *cursor) UnmarshalJSON(text []byte) error { *c = cursor(text); return nil }
func (c cursor) MarshalJSON() ([]byte, error)     { return []byte(cmp.Or(c, "0")), nil }

func (c cursor) seq() uint64 {
	n, _ := strconv.ParseUint(string(c), 10, 64)
	return n
}

func at(seq uint64) cursor { return cursor(strconv.FormatUint(seq, 10)) }

func (c *client) events(id messages.RunID, more ...any) page {
	c.t.Helper()
	m := c.callTool("run_events", of(id, more...), nil).response()
	var r struct {
		IsError    bool `json:"isError"`
		Structured page `json:"structuredContent"`
		Content    []struct{ Text string }
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || r.IsError {
		c.t.Fatalf("run_events: %v %s", err, m.Result)
	}
	if len(m.Result) > 256<<10 {
		c.t.Errorf("the answer has %d bytes", len(m.Result))
	}
	return r.Structured
}

// fails checks that the call fails for the code.
func (c *client) fails(code, name string, arguments any) string {
	c.t.Helper()
	r := c.call(name, arguments)
	if !r.IsError || r.Meta.Error == nil || string(r.Meta.Error.Code) != code {
		c.t.Errorf("%s answers %+v, want the error %s", name, r.Structured, code)
		return ""
	}
	return r.Meta.Error.Message
}

func TestARunFromItsStartToItsEnd(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, open, _ := working(t, map[string]string{"a.txt": "A"})
		c := dial(t, s, how)
		r := c.call("run_start", map[string]any{"job": "work", "input": work{Wait: true}, "labels": map[string]string{"a": "b"}})
		id := r.Structured.RunID
		if r.IsError || r.Structured.Status != "working" || r.Structured.Job != "work" {
			t.Fatalf("run_start: %+v", r.Structured)
		}
		if r = c.call("run_wait", of(id, "wait_ms", 10)); r.IsError || r.Structured.Status != "working" {
			t.Errorf("a wait that is over: %+v", r.Structured)
		}
		open()
		r = c.call("run_wait", of(id))
		if r.IsError || r.Structured.Status != messages.Completed || string(r.Structured.Result) != `"done"` || len(r.Structured.Artifacts) != 1 {
			t.Errorf("run_wait: %+v", r.Structured)
		}
		if again := c.call("run_get", of(id)); again.IsError || again.Structured.Seq != r.Structured.Seq {
			t.Errorf("run_get: %+v, want %+v", again.Structured, r.Structured)
		}
		if attached := c.call("run_attach", of(id)); attached.IsError || attached.Structured.Seq != r.Structured.Seq {
			t.Errorf("run_attach after the end: %+v", attached.Structured)
		}
	})
}

// To say that a run failed is no failure; to wait for what it comes to is one.
func TestAFailedRun(t *testing.T) {
	s, _, _ := working(t, nil)
	c := dial(t, s, modernStdio)
	id := c.begin(work{Fail: "no tea"})
	for i, tool := range []string{"run_wait", "run_attach", "run_get", "run_wait"} { // the last one waits for no time
		r, failed := c.call(tool, of(id, []any{"wait_ms", 0}[:i/3*2]...)), tool != "run_get"
		if r.IsError != failed || r.Structured.Status != messages.Failed || !strings.Contains(r.Structured.Error.Message, "no tea") {
			t.Errorf("%s: isError %t, %+v", tool, r.IsError, r.Structured)
		}
	}
}

func TestEventsThatAreStillToCome(t *testing.T) {
	s, open, _ := working(t, nil)
	c := dial(t, s, legacyHTTP)
	id, p := c.begin(work{Wait: true}), page{}
	for len(p.Events) == 0 || p.Events[len(p.Events)-1].Type != "task.started" {
		p = c.events(id, "after", p.Next, "wait_ms", 5000)
	}
	if none := c.events(id, "after", p.Next); len(none.Events) != 0 || none.Next != p.Next || none.Done || none.Status != "working" {
		t.Errorf("without waiting: %+v", none)
	}
	if none := c.events(id, "after", p.Next, "wait_ms", 20); len(none.Events) != 0 || none.Next != p.Next || none.Done {
		t.Errorf("when the time is over: %+v", none)
	}
	if some := c.events(id, "max", 1); len(some.Events) != 1 || some.Next != "1" || some.Done {
		t.Errorf("what is there already: %+v", some)
	}
	x := c.callTool("run_events", of(id, "after", p.Next, "wait_ms", 20_000), nil)
	open()
	var r struct {
		Structured page `json:"structuredContent"`
	}
	if err := json.Unmarshal(x.response().Result, &r); err != nil || len(r.Structured.Events) == 0 {
		t.Errorf("waiting gave %+v, %v", r.Structured, err)
	}
	for p = r.Structured; !p.Done; { // the page with the last word says that it is the last
		if p = c.events(id, "after", p.Next, "wait_ms", 5000); len(p.Events) == 0 {
			t.Fatalf("an empty page: %+v", p)
		}
		last := p.Events[len(p.Events)-1].Type
		if (last == "run.completed") != p.Done || p.Done && p.Status != "completed" {
			t.Errorf("after %s: %s, done %v", last, p.Status, p.Done)
		}
	}
}

// Anyone who appends the texts of the pages has the run's texts and nothing twice, whenever it asks: with deltas from
// these, whose last word then has no text, and without from that word alone.
func TestPagesHaveEachTextOnce(t *testing.T) {
	for _, deltas := range []bool{true, false} {
		read := make(chan struct{})
		answer := actors.Func("talk", func(_ context.Context, task *actors.TaskContext, _ any) (any, error) {
			var all strings.Builder
			for i := range 400 {
				word := fmt.Sprintf("word %d ", i)
				all.WriteString(word)
				if err := task.AppendText("answer", word); err != nil {
					return nil, err
				}
				if i%100 == 50 {
					<-read // has what the journal merges now with what follows
				}
				if i%100 == 99 {
					if err := task.Emit(messages.ToolStarted{Call: fmt.Sprint(i), Tool: "t"}, ""); err != nil {
						return nil, err
					}
				}
			}
			return nil, task.FinishText("answer", all.String())
		})
		s := serving(t, []actors.Definition{answer}, mcp.JobTool{Job: "talk"})
		c := dial(t, s, modernStdio)
		id := c.call("run_start", map[string]any{"job": "talk"}).Structured.RunID
		var got, want strings.Builder
		for i := range 400 {
			fmt.Fprintf(&want, "word %d ", i)
		}
		for next, done := cursor(""), false; !done; {
			p := c.events(id, "after", next, "deltas", deltas, "wait_ms", 20)
			select {
			case read <- struct{}{}:
			default:
			}
			for _, e := range p.Events {
				var parts struct {
					Text  string
					Parts []struct{ Text string }
				}
				must(t, json.Unmarshal(e.Payload, &parts))
				got.WriteString(parts.Text)
				for _, part := range parts.Parts {
					got.WriteString(part.Text)
				}
			}
			next, done = p.Next, p.Done
		}
		if got.String() != want.String() {
			t.Errorf("deltas %v: %d bytes, want %d: %.200q", deltas, got.Len(), want.Len(), got.String())
		}
	}
}

// A page costs a model little, and says the run's id once.
func TestPagesAreShort(t *testing.T) {
	s, _, _ := working(t, nil)
	c := dial(t, s, modernHTTP)
	id := c.begin(work{Lines: 500, Text: strings.Repeat("said ", 500)})
	c.call("run_wait", of(id))
	for _, deltas := range []bool{true, false} {
		for next, done := cursor(""), false; !done; {
			m := c.callTool("run_events", of(id, "after", next, "deltas", deltas), nil).response()
			var r struct {
				Content    []struct{ Text string }
				Structured json.RawMessage `json:"structuredContent"`
			}
			must(t, json.Unmarshal(m.Result, &r))
			for _, seen := range []string{r.Content[0].Text, string(r.Structured)} {
				if len(seen)/4 >= 1500 || strings.Count(seen, string(id)) != 1 {
					t.Errorf("%d tokens, the id %d times", len(seen)/4, strings.Count(seen, string(id)))
				}
			}
			var p page
			must(t, json.Unmarshal(r.Structured, &p))
			next, done = p.Next, p.Done
		}
	}
}

// run_read gives a file in parts that end between characters, each alone as text and as structured content.
func TestReadAFile(t *testing.T) {
	text := strings.Repeat("wörter und €uro\n", 1000)
	s, _, _ := working(t, map[string]string{"a.txt": text, "logo.png": "\x89PNG\xff", "empty.txt": ""})
	c := dial(t, s, legacyHTTP)
	id := c.begin(work{})
	c.call("run_wait", of(id))
	read := func(arguments map[string]any) (part struct {
		Text, Base64        string
		Offset, Next, Total int64
	}, said string) {
		m := c.callTool("run_read", arguments, nil).response()
		var r struct {
			Content    []struct{ Text string }
			Structured json.RawMessage `json:"structuredContent"`
		}
		if err := errors.Join(json.Unmarshal(m.Result, &r), json.Unmarshal(r.Structured, &part)); err != nil {
			t.Fatalf("%v: %s", err, m.Result)
		}
		return part, r.Content[0].Text
	}
	var got strings.Builder
	for offset := int64(0); ; {
		p, said := read(of(id, "name", "a.txt", "offset", offset, "limit", 999))
		got.WriteString(p.Text)
		if !strings.HasPrefix(said, p.Text) || (p.Next > 0) != strings.Contains(said, fmt.Sprintf("offset %d]", p.Next)) {
			t.Fatalf("%+v, but %q", p, said)
		}
		if offset = p.Next; offset == 0 {
			break
		}
	}
	if got.String() != text {
		t.Errorf("the parts have %d bytes, want %d", got.Len(), len(text))
	}
	if p, _ := read(of(id, "name", "a.txt")); len(p.Text) > 10_000 || len(p.Text) < 9990 || p.Total != int64(len(text)) {
		t.Errorf("by default %d bytes of %d", len(p.Text), p.Total)
	}
	if p, said := read(of(id, "name", "logo.png")); p.Base64 != "iVBORw/8=" && !strings.Contains(said, p.Base64) {
		t.Errorf("bytes come as %+v", p)
	}
	if p, said := read(of(id, "name", "empty.txt")); p.Text != "" || p.Next != 0 || said != "" {
		t.Errorf("nothing comes as %+v", p)
	}
	c.fails("not_found", "run_read", of(id, "name", "none.txt"))
	c.fails("not_found", "run_read", of("r_nobodys", "name", "a.txt"))
}

// Events that are big together come in several pages, none of them empty.
func TestManyMiddlingEvents(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%03d%s", i, strings.Repeat("x", 200))] = ""
	}
	s, _, _ := working(t, files)
	c := dial(t, s, modernHTTP)
	id := c.begin(work{})
	c.call("run_wait", of(id))
	for next, done := cursor(""), false; !done; {
		p, size := c.events(id, "after", next, "max", 1000), 0
		for _, e := range p.Events {
			size += len(e.Payload)
		}
		if len(p.Events) == 0 || size > 32<<10 {
			t.Fatalf("after %s: %d events of %d bytes", next, len(p.Events), size)
		}
		next, done = p.Next, p.Done
	}
}

// A long text comes over several pages, and so does any other event: none is left out, and whoever appends the parts has
// each exactly, however short a page is.
func TestLongEvents(t *testing.T) {
	big := strings.Repeat(`big "ü" `, 10<<10)
	for _, deltas := range []bool{true, false} {
		for _, more := range [][]any{nil, {"max", 3}} {
			s, _, system := working(t, nil)
			c := dial(t, s, modernHTTP)
			id := c.begin(work{Text: big})
			c.call("run_wait", of(id))
			texts, parts, pages := "", map[string]string{}, 0
			for next, done := cursor(""), false; !done; pages++ {
				p := c.events(id, append([]any{"after", next, "deltas", deltas}, more...)...)
				for _, e := range p.Events {
					if len(e.Payload) > 40<<10 {
						t.Fatalf("%s has %d bytes", e.Type, len(e.Payload))
					}
					var payload struct{ Text string }
					if e.Payload != nil && json.Unmarshal(e.Payload, &payload) != nil {
						t.Fatalf("%s", e.Payload)
					}
					if texts += payload.Text; e.Part != "" && len(parts[e.Type]) != e.Offset {
						t.Fatalf("%s: the part at %d comes after %d bytes", e.Type, e.Offset, len(parts[e.Type]))
					}
					parts[e.Type] += e.Part
				}
				next, done = p.Next, p.Done
			}
			if texts != big || pages < 5 {
				t.Errorf("deltas %v, %v: %d bytes in %d pages, want %d", deltas, more, len(texts), pages, len(big))
			}
			for e, err := range system.Events(t.Context(), id, 0) {
				if payload, _ := json.Marshal(e.Body); err != nil || parts[string(e.Kind())] != "" && parts[string(e.Kind())] != string(payload) {
					t.Errorf("the parts of %s are another payload, %v", e.Kind(), err)
				}
			}
			if !strings.Contains(parts["run.queued"], "big") {
				t.Error("the input is not there")
			}
		}
	}
}

func TestCursorsThatCannotBeServed(t *testing.T) {
	s, open, _ := working(t, nil)
	c := dial(t, s, legacyStdio)
	id := c.begin(work{Wait: true})
	c.fails("reset", "run_events", of(id, "after", 10*messages.Reserve))
	for _, tool := range []string{"run_events", "run_attach"} {
		c.fails("reset", tool, of(id, "after", math.MaxInt64))
	}
	open()
	end := c.call("run_wait", of(id)).Structured.Seq
	c.fails("reset", "run_events", of(id, "after", end+1))
	c.fails("not_found", "run_events", of("r_nobodys"))
}

// run_attach streams what comes past the cursor; leaving it leaves the run.
func TestAttach(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, open, _ := working(t, nil)
		c := dial(t, s, how)
		id := c.begin(work{Lines: 3, Wait: true})
		left := c.callTool("run_attach", of(id), "left")
		left.take()
		c.cancel(left)
		p := c.events(id, "wait_ms", 5000)
		x := c.callTool("run_attach", of(id, "after", p.Next), "again")
		open()
		all, last := x.until(), p.Next.seq()
		for _, m := range all[:len(all)-1] {
			e := m.progress(t).Meta.Event
			if e == nil {
				continue // a heartbeat
			}
			if e.Seq <= last || e.From > last+1 {
				t.Errorf("event %d..%d after %d", e.From, e.Seq, last)
			}
			last = e.Seq
		}
		r := all[len(all)-1].toolResult(t)
		if r.IsError || r.Structured.Status != messages.Completed || at(last) == p.Next {
			t.Errorf("%d events, %+v", len(all)-1, r.Structured)
		}
	})
}

// Seed: "Inputs: repo URL, output_dir, cache flags, stream options."
func TestAttachOptions(t *testing.T) {
	s, open, _ := working(t, nil)
	open()
	c := dial(t, s, modernHTTP)
	id := c.begin(work{Lines: 3})
	c.call("run_wait", of(id))
	for option, value := range map[string]any{"level": "milestone", "kinds": []string{"log", "task.started"}} {
		shown, all := 0, c.callTool("run_attach", of(id, option, value), "p").until()
		for _, m := range all[:len(all)-1] {
			e := m.progress(t).Meta.Event
			if e == nil {
				continue // a heartbeat
			}
			if shown++; option == "level" && e.IsDelta() || option == "kinds" && e.Kind() != messages.KindLog && e.Kind() != messages.KindTaskStarted {
				t.Errorf("with %s a client gets %s", option, e.Kind())
			}
		}
		if end := all[len(all)-1].toolResult(t); shown == 0 || end.Structured.Status != messages.Completed {
			t.Errorf("%s: %d events, %+v", option, shown, end)
		}
	}
	c.fails("invalid_input", "run_attach", of(id, "kinds", []string{"moon.rose"}))
}

// Clients complete the ids of runs, the jobs and the labels of their caller. They know if older runs may have more.
func TestCompletion(t *testing.T) {
	s, open, system := working(t, nil)
	open()
	c := dial(t, s, legacyHTTP)
	var jobs struct{ Completion struct{ Values []string } }
	started := c.call("run_start", map[string]any{"job": "work", "input": map[string]any{}, "labels": map[string]string{"color": "red"}}).Structured
	prompt, resource := map[string]string{"type": "ref/prompt", "name": "explain_run"}, map[string]string{"type": "ref/resource", "uri": "run://{run_id}"}
	for _, q := range []struct {
		ref               map[string]string
		name, value, want string
	}{{prompt, "run_id", "r_", string(started.RunID)}, {resource, "run_id", string(started.RunID)[:5], string(started.RunID)},
		{prompt, "run_id", "x", ""}, {prompt, "job", "wo", "work"}, {prompt, "label", "col", "color:red"}, {prompt, "moon", "", ""}} {
		m := c.do("completion/complete", map[string]any{"ref": q.ref, "argument": map[string]string{"name": q.name, "value": q.value}})
		if err := json.Unmarshal(m.Result, &jobs); err != nil || strings.Join(jobs.Completion.Values, " ") != q.want {
			t.Errorf("%s %q: %s, %v, want %q", q.name, q.value, m.Result, err, q.want)
		}
	}
	ask := func(c *client, name string, value any) message {
		ref := map[string]string{"type": map[bool]string{false: "ref/prompt", true: "ref/resource"}[name == "run://moon"], "name": name, "uri": name}
		return c.do("completion/complete", map[string]any{"ref": ref, "argument": map[string]any{"name": "label", "value": value}})
	}
	for range 200 {
		id, err := system.Submit(t.Context(), messages.Request{Job: "work", Input: []byte(`{}`), Principal: "bob", Labels: map[string]string{"of": "bob"}})
		must(t, err)
		for range system.Events(t.Context(), id, 0) { // at most 32 may work
		}
	}
	bob := dialAs(t, s, legacyHTTP, as{principal: "bob"})
	for who, want := range map[*client]string{c: `{"values":["color:red","mcp.tool:work"],"total":2}`, bob: `{"values":["of:bob"],"hasMore":true}`} {
		if got := string(ask(who, "explain_run", "").Result); got != `{"completion":`+want+`}` {
			t.Errorf("%s, want %s", got, want)
		}
	}
	writer := dialAs(t, s, modernHTTP, as{principal: "ann", scopes: []auth.Scope{auth.WriteRuns}})
	for what, m := range map[string]message{"-32602 invalid_input": ask(c, "moon", ""), "-32602": ask(c, "explain_run", 7),
		"-32602 invalid_input ": ask(c, "run://moon", ""), "-32600 forbidden": ask(writer, "explain_run", "")} {
		if code, data, _ := strings.Cut(what, " "); m.Error == nil || fmt.Sprint(m.Error.Code) != code || !strings.Contains(string(m.Error.Data), strings.TrimSpace(data)) {
			t.Errorf("want %s: %+v", what, m.Error)
		}
	}
}

// A call that is piped in, and whose input ends before its run, is told so: nothing is wrong with the server.
func TestACallWhoseInputEnds(t *testing.T) {
	s, _, _ := working(t, nil)
	c := dial(t, s, legacyStdio)
	id := c.begin(work{Wait: true})
	x := c.callTool("run_attach", of(id), nil)
	c.in.Close()
	e := x.response().toolResult(t).Meta.Error
	if e == nil || e.Code != messages.CodeUnavailable || !strings.Contains(e.Message, "keep standard input open") {
		t.Errorf("the call was answered with %+v", e)
	}
}

func TestCancelingARun(t *testing.T) {
	s, _, system := working(t, nil)
	c := dial(t, s, legacyHTTP)
	id := c.begin(work{Wait: true})
	for range 2 {
		if r := c.call("run_cancel", of(id, "reason", "no time")); r.IsError || r.Structured.RunID != id ||
			r.Structured.Status == "working" && !strings.Contains(r.Content[0].Text, "is being canceled") {
			t.Fatalf("run_cancel: %+v", r)
		}
	}
	if r := c.call("run_wait", of(id)); r.Structured.Status != messages.Canceled {
		t.Fatalf("after the cancel: %+v", r.Structured)
	}
	if r := c.call("run_cancel", of(id)); r.IsError || r.Structured.Status != messages.Canceled {
		t.Errorf("after the end: %+v", r)
	}
	for e := range system.Events(t.Context(), id, 0) {
		if b, ok := e.Body.(messages.RunCanceling); ok && b.Reason != "no time" {
			t.Errorf("the reason is %q", b.Reason)
		}
	}
}

func TestAnsweringARun(t *testing.T) {
	s, open, _ := working(t, nil)
	c := dial(t, s, modernHTTP)
	id := c.begin(work{Ask: true, Wait: true})
	r := c.call("run_wait", of(id))
	if r.IsError || r.Structured.Status != "waiting" || len(r.Structured.Questions) != 1 {
		t.Fatalf("waiting: %+v", r.Structured)
	}
	if p := c.events(id); p.Status != "waiting" {
		t.Errorf("the events' status is %s", p.Status)
	}
	c.fails("not_found", "run_answer", of(id, "request", "another", "value", 1))
	if r = c.call("run_answer", of(id, "request", "q", "value", map[string]any{"n": 9007199254740993})); r.IsError {
		t.Fatalf("run_answer: %+v", r.Structured)
	}
	open()
	if r = c.call("run_wait", of(id)); string(r.Structured.Result) != `{"n":9007199254740993}` {
		t.Errorf("the answer is %s", r.Structured.Result)
	}
}

func TestListingRuns(t *testing.T) {
	s, open, _ := working(t, nil)
	c := dial(t, s, legacyHTTP)
	active := c.begin(work{Wait: true})
	for p := c.events(active); len(p.Next) == 1 && p.Next < "3"; { // queued, started, its task started
		p = c.events(active, "after", p.Next, "wait_ms", 5000)
	}
	ended := c.begin(work{})
	c.call("run_wait", of(ended))
	stranger := dialAs(t, s, modernHTTP, as{principal: "stranger"})
	theirs := stranger.begin(work{})
	for _, test := range []struct {
		who       *client
		arguments map[string]any
		want      []messages.RunID
	}{
		{c, map[string]any{}, []messages.RunID{ended, active}},
		{c, map[string]any{"limit": 1}, []messages.RunID{ended}},
		{c, map[string]any{"status": "working"}, []messages.RunID{active}},
		{c, map[string]any{"status": "completed", "job": "work"}, []messages.RunID{ended}},
		{c, map[string]any{"job": "other"}, nil},
		{stranger, map[string]any{}, []messages.RunID{theirs}},
	} {
		var r struct {
			Structured struct {
				Runs []struct {
					RunID     messages.RunID `json:"run_id"`
					Principal string         `json:"principal"`
				} `json:"runs"`
			} `json:"structuredContent"`
		}
		must(t, json.Unmarshal(test.who.callTool("run_list", test.arguments, nil).response().Result, &r))
		var got []messages.RunID
		for _, run := range r.Structured.Runs {
			got = append(got, run.RunID)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("run_list %v: %v, want %v", test.arguments, got, test.want)
		}
	}
	open()
}

// For everybody but its principal a run does not exist.
func TestRunsOfOthers(t *testing.T) {
	s, open, _ := working(t, map[string]string{"a.txt": "A"})
	id := dialAs(t, s, legacyHTTP, as{principal: "owner"}).begin(work{Wait: true})
	inEachEra(t, func(t *testing.T, how era) {
		stranger := dialAs(t, s, how, as{principal: "stranger"})
		for tool, arguments := range map[string]map[string]any{
			"run_get": of(id), "run_events": of(id), "run_wait": of(id), "run_attach": of(id), "run_cancel": of(id),
			"run_answer": of(id, "request", "q", "value", 1),
		} {
			mine := stranger.fails("not_found", tool, arguments)
			arguments["run_id"] = "r_nobodys"
			if nobodys := stranger.fails("not_found", tool, arguments); strings.ReplaceAll(nobodys, "r_nobodys", string(id)) != mine {
				t.Errorf("%s tells a foreign run from none: %q, %q", tool, mine, nobodys)
			}
		}
		for _, uri := range []string{mcp.RunURI(id), mcp.RunURI(id) + "/events", mcp.ArtifactURI(id, "a.txt")} {
			stranger.missing(uri)
		}
	})
	open()
}

// Every tool asks for the scope that it needs.
func TestScopes(t *testing.T) {
	s, open, _ := working(t, map[string]string{"a.txt": "A"})
	open()
	writer := dialAs(t, s, legacyHTTP, as{principal: "reader"})
	id := writer.begin(work{})
	writer.call("run_wait", of(id))
	var challenge atomic.Value
	for _, test := range []struct {
		scopes []auth.Scope
		denied map[string]map[string]any
	}{
		{[]auth.Scope{auth.ReadRuns}, map[string]map[string]any{"run_start": {"job": "work"}, "run_cancel": of(id),
			"run_answer": of(id, "request", "q", "value", 1)}},
		{[]auth.Scope{auth.WriteRuns}, map[string]map[string]any{"run_get": of(id), "run_events": of(id), "run_wait": of(id),
			"run_attach": of(id), "run_list": {}}},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := auth.Principal{Name: "reader", Scopes: test.scopes}
			s.ServeHTTP(w, r.WithContext(auth.With(r.Context(), p)))
			challenge.Store(w.Header().Get("WWW-Authenticate"))
		}))
		defer web.Close()
		c := &client{t: t, how: modernHTTP, url: web.URL, http: web.Client(), inbox: make(chan message, 1)}
		for tool, arguments := range test.denied {
			m := c.callTool(tool, arguments, nil).response()
			if m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, "run:") ||
				!strings.Contains(challenge.Load().(string), `error="insufficient_scope", scope="run:`) {
				t.Errorf("%s does not say which scope it needs: %+v, %s", tool, m.Error, challenge.Load())
			}
		}
		mayRead := slices.Contains(test.scopes, auth.ReadRuns)
		c.as.capabilities = tasks
		for method, mayCall := range map[string]bool{"tasks/get": mayRead, "tasks/cancel": !mayRead} {
			m := c.do(method, about(id))
			refused := m.Error != nil && m.Error.Code == -32600 && string(m.Error.Data) == `{"code":"forbidden"}`
			if refused == mayCall || mayCall && m.Error != nil {
				t.Errorf("%s with %v: %+v", method, test.scopes, m.Error)
			}
		}
		list := string(c.do("resources/list", nil).result(t))
		if listed := strings.Contains(list, mcp.RunURI(id)); listed != mayRead {
			t.Errorf("with %v there are %s", test.scopes, list)
		}
		m := c.do("resources/read", map[string]any{"uri": mcp.RunURI(id)})
		if refused := m.Error != nil && strings.Contains(m.Error.Message, "run:read"); refused == mayRead {
			t.Errorf("with %v the run's resource answers %+v", test.scopes, m.Error)
		}
	}
}

func TestStartsThatAreRepeated(t *testing.T) {
	s, _, _ := working(t, nil)
	c := dial(t, s, modernHTTP)
	same := func(key string, in work) toolResult {
		return c.call("run_start", map[string]any{"job": "work", "input": in, "key": key})
	}
	first, again, other := same("k", work{Lines: 1}), same("k", work{Lines: 1}), same("l", work{Lines: 1})
	if first.Structured.RunID != again.Structured.RunID || first.Structured.RunID == other.Structured.RunID {
		t.Errorf("runs %s, %s and %s", first.Structured.RunID, again.Structured.RunID, other.Structured.RunID)
	}
	if r := same("k", work{Lines: 2}); !r.IsError || r.Meta.Error.Code != messages.CodeConflict {
		t.Errorf("the same key with other input: %+v", r.Structured)
	}
	if why := c.fails("invalid_input", "run_start", map[string]any{"job": "nap"}); !strings.Contains(why, "work") {
		t.Errorf("a job that is not there: %q", why)
	}
}

// A run that is not detached ends with the session that started it. One that was there already, by its key, is no other session's to end.
func TestAKeyDoesNotAttachARun(t *testing.T) {
	s, _, system := working(t, nil)
	start := func(c *client, in work, key string, detached bool) messages.RunID {
		r := c.call("run_start", map[string]any{"job": "work", "input": in, "key": key, "detached": detached})
		if r.IsError {
			t.Fatalf("%+v", r.Meta.Error)
		}
		return r.Structured.RunID
	}
	id, c := start(dial(t, s, legacyHTTP), work{Wait: true}, "k", true), dial(t, s, legacyStdio)
	if again := start(c, work{Wait: true}, "k", false); again != id {
		t.Fatalf("another run: %s", again)
	}
	own := start(c, work{Wait: true, Lines: 1}, "", false)
	c.in.Close()
	if state := over(t, system, own); state.Status != messages.Canceled {
		t.Errorf("the session's own run is %s", state.Status)
	}
	dial(t, s, modernHTTP).fails("invalid_input", "run_start", map[string]any{"job": "work", "detached": false})
	time.Sleep(20 * time.Millisecond) // a cancel of the other would be there by then
	if state, err := system.State(t.Context(), id); err != nil || state.Canceling || state.Status.IsEnded() {
		t.Errorf("the run of the key is %s, canceling %v", state.Status, state.Canceling)
	}
}

// Of two questions each is held to its own schema.
func TestAnsweringOneOfTwo(t *testing.T) {
	s, _ := taskDoor(t)
	c := dial(t, s, modernHTTP)
	id := c.call("run_start", map[string]any{"job": "two"}).Structured.RunID
	for r := c.call("run_wait", of(id)); len(r.Structured.Questions) < 2; {
		r = c.call("run_get", of(id))
	}
	c.fails("invalid_input", "run_answer", of(id, "request", "size", "value", "Ann"))
	c.call("run_answer", of(id, "request", "name", "value", "Ann"))
	if r := c.call("run_answer", of(id, "request", "size", "value", map[string]any{"size": 2})); r.IsError {
		t.Errorf("%+v", r.Meta.Error)
	}
	if r := c.call("run_wait", of(id)); string(r.Structured.Result) != `{"name":"Ann","size":{"size":2}}` {
		t.Errorf("the result is %s", r.Structured.Result)
	}
}

// What is asked in Go of a run is for its principal alone, as what is asked over the wire.
func TestRunsOfOthersInGo(t *testing.T) {
	s, open, _ := working(t, nil)
	open()
	id := dialAs(t, s, legacyHTTP, as{principal: "owner"}).begin(work{})
	for name, want := range map[string]messages.Code{"owner": "", "stranger": messages.CodeNotFound} {
		ctx := auth.With(t.Context(), auth.Principal{Name: name, Scopes: []auth.Scope{auth.ReadRuns}})
		_, run := s.Run(ctx, id)
		runs, err := s.Runs(ctx, messages.Query{Principal: "owner"})
		if messages.CodeOf(run) != want || err != nil || len(runs) == 1 != (want == "") {
			t.Errorf("%s: %v, %d runs, %v", name, run, len(runs), err)
		}
		events := 0
		for _, err := range s.Events(ctx, id, 0) {
			if events++; messages.CodeOf(err) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if events == 0 {
			t.Errorf("%s is told nothing", name)
		}
	}
}

// What a list has where the call does not say, and that a job is named by its tool.
func TestDefaultsOfLists(t *testing.T) {
	s, system := doorTo(t, mcp.Config{}, []actors.Definition{actors.Func("talk", nothing)}, mcp.JobTool{Job: "talk", Name: "chat"})
	c := dial(t, s, modernHTTP)
	for range 25 {
		_, err := system.Submit(t.Context(), messages.Request{Job: "talk"})
		must(t, err)
	}
	for job, want := range map[string]int{"": 20, "chat": 20, "talk": 20, "other": 0} {
		var r struct {
			Structured struct{ Runs []struct{} } `json:"structuredContent"`
		}
		m := c.callTool("run_list", map[string]any{"job": job}, nil).response()
		if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Structured.Runs) != want {
			t.Errorf("the job %q has %d runs, want %d, %v", job, len(r.Structured.Runs), want, err)
		}
	}
}
