package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/nano"
	"github.com/seed889630bf/lastword/transport/openai"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// stage is a server with one run, and how far that run may go.
type stage struct {
	t        *testing.T
	system   *actors.System
	url      string
	run      messages.RunID
	answered chan struct{} // closed once the question has its answer
	late     chan struct{} // closed when the run has said everything but its end
	more     chan struct{} // the run says a word more before its end
	end      chan struct{} // the run ends once this is closed
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := openStage(t)
	var err error
	s.run, err = s.system.Submit(t.Context(), messages.Request{Job: "tale", Labels: map[string]string{messages.ContextLabel: "c"}})
	must(t, err)
	return s
}

// openStage is a stage without a run.
func openStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, answered: make(chan struct{}), late: make(chan struct{}), more: make(chan struct{}), end: make(chan struct{})}
	journal, err := sqlite.Open(t.TempDir()) // it keeps events as JSON
	must(t, err)
	tale := func(json.RawMessage) (actors.Job, error) { return s.tale(), nil }
	s.system, err = actors.New(t.Context(), actors.Config{Journal: journal, Jobs: []actors.Definition{
		{Name: "tale", New: tale, SubJobs: []actors.Definition{{Name: "part"}}}, {Name: "chat", New: tale}}})
	must(t, err)
	tools := mcp.New(mcp.Config{Runs: s.system, Name: "lastword", Version: "test", Heartbeat: 20 * time.Millisecond})
	mux := http.NewServeMux()
	to := door.New(door.Config{Runs: s.system, Version: "test", Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}})
	mux.Handle("/v1/", api.New(to))
	openai.Add(to, func(h *door.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(path, h)
		}
	})
	mux.Handle(looopy.Path, looopy.New(to))
	mux.Handle(erlmcp.Path, erlmcp.New(to))
	mux.Handle("/api/chat/", aisdk.New(to))
	mux.Handle("/agui", agui.New(to))
	mux.Handle(a2a.Path, a2a.New(to))
	mux.Handle("/nano/mcp", nano.New(to))
	mux.Handle(host.MCPPath, tools)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Scopes: []auth.Scope{auth.Admin}})))
	}))
	s.url = web.URL
	t.Cleanup(func() {
		tools.Close()
		web.CloseClientConnections()
		web.Close()
		_ = s.system.Close(context.Background())
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// odd has what JSON, HTML and terminals treat in a special way.
const odd = "wörd <b>&\"\\ \u2028\t😀\n"

// tale is a job with something of everything that a reader folds: texts, thoughts, calls, artifacts, an attempt that
// fails, a restart, sub-runs, a question, and an end that is a failure.
func (s *stage) tale() actors.Job {
	first := actors.Task{Name: "look", Run: look}
	first.Policy.Backoff = time.Millisecond
	return actors.Job{Name: "tale", Tasks: []actors.Task{first, {Name: "ask", Run: s.ask},
		{Name: "finish", Run: func(_ context.Context, t *actors.TaskContext) error {
			return errors.Join(t.AppendText("answer.4", odd), messages.Errorf(messages.CauseProviderError, "the model said <no>"))
		}},
	}}
}

func look(_ context.Context, t *actors.TaskContext) error {
	for range 20 {
		err := errors.Join(t.AppendText("answer.1", odd), t.Log(messages.LogInfo, "wrote "+odd), t.AppendText("notes", "note "))
		if err != nil {
			return err
		}
	}
	if t.Attempt() == 1 {
		busy := messages.Errorf("error", "the disk was <busy>")
		busy.Retryable = true
		return busy
	}
	artifact := messages.Artifact{Name: "llms.txt", Path: "a&b/llms.txt", Bytes: 3, SHA256: messages.Digest("abc")}
	part := messages.Artifact{Name: "llms.txt", Bytes: 1, SHA256: messages.Digest("a"), Partial: true}
	for _, body := range []messages.Body{
		messages.LLMStarted{Call: "m", Model: "scripted"},
		messages.ThoughtDelta{Stream: "why", Text: "Because "}, messages.ThoughtDelta{Stream: "why", Text: odd},
		messages.ThoughtDone{Stream: "why", Text: "Because " + odd, SHA256: messages.Digest("Because " + odd)},
		messages.LLMCompleted{Call: "m", Model: "scripted", Evidence: "done-marker", Verdict: "completed"},
		messages.StepStarted{Step: "read"},
		messages.ToolStarted{Call: "t", Tool: "read", Arguments: json.RawMessage(`{ "path": "<a&b>" }`)},
		messages.ToolProgress{Call: "t", Done: 1, Total: 2, Unit: "files"},
		messages.ToolCompleted{Call: "t", Result: json.RawMessage(`"<abc>"`)},
		messages.ToolStarted{Call: "u", Tool: "write"},
		messages.ToolCompleted{Call: "u", Error: messages.Errorf("error", "no space")},
		messages.StepEnded{Step: "read", Outcome: "ok"},
		messages.ArtifactPartial{Artifact: part},
		messages.ArtifactWritten{Artifact: artifact},
	} {
		if err := t.Emit(body, "did "+string(messages.KindOf(body))); err != nil {
			return err
		}
	}
	return errors.Join(t.FinishText("answer.1", strings.Repeat(odd, 20)), t.Progress(1, 2, "parts"))
}

func (s *stage) ask(ctx context.Context, t *actors.TaskContext) error {
	for name, end := range map[string]error{"good": nil, "bad": errors.New("the part is <broken>")} {
		job, err := actors.Func("part", func(_ context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
			return "told", errors.Join(t.AppendText("part", odd), end)
		}).New(nil)
		if err != nil {
			return err
		}
		part, err := t.Start(ctx, job, actors.Options{Key: name})
		if err != nil {
			return err
		}
		if _, err := part.Wait(ctx); err != nil {
			return err
		}
	}
	if err := t.AppendText("answer.2", odd); err != nil {
		return err
	}
	question := messages.InputRequired{Request: "loud", Prompt: "How <loud>?"}
	if _, err := t.Ask(ctx, question); err != nil {
		return err
	}
	for i := range 20 {
		if err := errors.Join(t.AppendText("answer.3", odd), t.Progress(int64(i), 20, "words")); err != nil {
			return err
		}
	}
	if err := errors.Join(t.Emit(messages.StepStarted{Step: "wait"}, ""), t.AppendText("answer.3", odd)); err != nil {
		return err
	}
	close(s.late)
	for waits := true; waits; {
		select {
		case <-s.more:
			if err := t.AppendText("answer.3", odd); err != nil {
				return err
			}
		case <-s.end:
			waits = false
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return t.Emit(messages.StepEnded{Step: "wait", Outcome: "ok"}, "")
}

// moment is a milestone, and what its reader knew then: the State, and each text.
type moment struct{ event, state, texts string }

// recording is what a surface gave of a run.
type recording struct {
	moments  []moment
	question chan struct{} // closed when the question came, or the reading was over
	word     chan struct{} // closed when the word came that is said while the run waits, or the reading was over
	over     chan struct{}
}

// record reads the run. Nothing may be lost or come twice: the fold says so.
func (s *stage) record(read func(s *stage, give func(event string))) *recording {
	rec := &recording{question: make(chan struct{}), word: make(chan struct{}), over: make(chan struct{})}
	asked, spoke := sync.OnceFunc(func() { close(rec.question) }), sync.OnceFunc(func() { close(rec.word) })
	go func() {
		defer close(rec.over)
		defer asked()
		defer spoke()
		waits := false
		var fold messages.Fold
		read(s, func(line string) {
			var e messages.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				s.t.Errorf("%v: %s", err, line)
				return
			}
			if before := fold.Peek().Seq; e.Seq <= before || e.From > before+1 {
				s.t.Errorf("event %d to %d came after event %d", e.From, e.Seq, before)
			}
			if err := fold.Apply(e); err != nil {
				s.t.Error(err)
			}
			if e.IsDelta() {
				if waits {
					spoke()
				}
				return
			}
			rec.moments = append(rec.moments, momentOf(line, fold.State()))
			step, _ := e.Body.(messages.StepStarted)
			waits = step.Step == "wait"
			if e.Kind() == messages.KindInputRequired {
				asked()
			}
		})
	}()
	return rec
}

func momentOf(line string, state messages.State) moment {
	data, err := json.Marshal(state)
	if err != nil {
		data = []byte(err.Error())
	}
	var texts strings.Builder
	for _, stream := range state.Streams {
		fmt.Fprintf(&texts, "%s: %q\n", stream.Name, stream.Text())
	}
	return moment{line, string(data), texts.String()}
}

// differences says what one of the two recordings has and the other has not.
func differences(got, want []moment) (milestones, states string) {
	for i := range max(len(got), len(want)) {
		var g, w moment
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g.event != w.event && milestones == "" {
			milestones = fmt.Sprintf("milestone %d is\n%s\nwant\n%s", i, g.event, w.event)
		}
		if (g.state != w.state || g.texts != w.texts) && states == "" {
			states = fmt.Sprintf("after milestone %d the State is\n%s\n%swant\n%s\n%s", i, g.state, g.texts, w.state, w.texts)
		}
	}
	return milestones, states
}

// DESIGN 8: "One run watched on every surface gives the same events". Every surface reads one run while it runs, and
// again after its end. docs/surfaces.md has what came out.
func TestOneRunOnEverySurface(t *testing.T) {
	s := newStage(t)
	live := map[string]*recording{}
	for _, surface := range surfaces {
		if !surface.afterwards {
			live[surface.how] = s.record(surface.read)
		}
	}
	goOn := func(when <-chan struct{}) {
		t.Helper()
		select {
		case <-when:
		case <-live[surfaces[0].how].over:
			t.Fatalf("the run ended early: %+v", live[surfaces[0].how].moments)
		}
	}
	for _, rec := range live {
		goOn(rec.question)
	}
	must(t, s.system.Answer(t.Context(), s.run, "loud", json.RawMessage(`"<very>"`), ""))
	close(s.answered)
	goOn(s.late)
	told := s.tellTask()
	deltas := map[string]string{}
	for how, rec := range live {
		select {
		case <-rec.word:
			deltas[how] = "yes"
		case <-time.After(20 * time.Second):
			t.Errorf("%s: no delta came while the run waited", how)
		}
	}
	close(s.end)
	for _, rec := range live {
		<-rec.over
	}
	want := s.record(readGo)
	<-want.over
	s.holdEnd(want)
	var page strings.Builder
	page.WriteString(surfacesIntroduction)
	for _, surface := range surfaces {
		recs := map[string]*recording{"replayed": s.record(surface.read), "live": live[surface.how]}
		<-recs["replayed"].over
		milestones, states := []string{}, []string{}
		for _, way := range []string{"live", "replayed"} {
			if recs[way] == nil {
				continue
			}
			wrong, other := differences(recs[way].moments, want.moments)
			if wrong == "" {
				milestones = append(milestones, way)
			}
			if other == "" {
				states = append(states, way)
			}
			if wrong != "" || other != "" {
				t.Errorf("%s, %s: %s\n%s", surface.name, way, wrong, other)
			}
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s | %s |\n", surface.name, surface.how, surface.cursor,
			cmp.Or(deltas[surface.how], "no"),
			strings.Join(milestones, " and "), strings.Join(states, " and "))
	}
	page.WriteString(s.taskRow(<-told, want.moments))
	heldTo(t, "../../docs/surfaces.md", page.String())
}

// holdEnd holds the recording to the log's State, and to what the run was to say.
func (s *stage) holdEnd(want *recording) {
	s.t.Helper()
	state, err := s.system.State(s.t.Context(), s.run)
	must(s.t, err)
	last := want.moments[len(want.moments)-1]
	if end := momentOf(last.event, state); end != last {
		s.t.Errorf("the events add up to\n%s\nwant\n%s", last.state, end.state)
	}
	for _, kind := range []messages.Kind{messages.KindTaskFailed, messages.KindTaskRestarted, messages.KindThoughtDone,
		messages.KindTextDone, messages.KindToolCompleted, messages.KindArtifactWritten, messages.KindChildEnded,
		messages.KindInputReceived, messages.KindRunFailed} {
		said := func(m moment) bool { return strings.Contains(m.event, `"type":"`+string(kind)+`"`) }
		if !slices.ContainsFunc(want.moments, said) {
			s.t.Errorf("the run has no %s", kind)
		}
	}
}

// tellTask asks for the result of the run as a task of 2025-11-25, with a progress token. It returns when the server
// has begun to tell; the channel then gets the milestones that came.
func (s *stage) tellTask() <-chan []string {
	s.t.Helper()
	told, begun := make(chan []string, 1), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	session := s.legacy("", `"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	id := session.Header.Get("Mcp-Session-Id")
	s.eachEvent(session, func(string) {})
	s.legacy(id, `"method":"notifications/initialized"`).Body.Close() // it has none
	go func() {
		defer close(told)
		defer begin()
		response := s.legacy(id, fmt.Sprintf(
			`"id":1,"method":"tasks/result","params":{"taskId":%q,"_meta":{"progressToken":"p"}}`, s.run))
		var milestones []string
		s.eachEvent(response, func(line string) {
			begin()
			var e messages.Event
			if err := json.Unmarshal([]byte(line), &e); err == nil && e.Kind() != "" && !e.IsDelta() {
				milestones = append(milestones, line)
			}
		})
		told <- milestones
	}()
	<-begun // with a heartbeat
	return told
}

func (s *stage) taskRow(told []string, want []moment) string {
	s.t.Helper()
	var tail []string
	for _, m := range want[max(0, len(want)-1-len(told)) : len(want)-1] { // the terminal is the result
		tail = append(tail, m.event)
	}
	if len(told) < 2 || !slices.Equal(told, tail) {
		s.t.Errorf("the task told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(tail, "\n"))
	}
	return "| MCP task | `tasks/result` of 2025-11-25 with a `progressToken`: the same `_meta`; `tasks/get` has the " +
		"status and the result | none | yes | from the call on, without the terminal | no State: `run://{run_id}` has it |\n"
}

// legacy posts a message of 2025-11-25.
func (s *stage) legacy(session, message string) *http.Response {
	s.t.Helper()
	header := []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
	if session != "" {
		header = append(header, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25")
	}
	return testkit.OpenURL(s.t.Context(), s.t, http.MethodPost, s.url+host.MCPPath, `{"jsonrpc":"2.0",`+message+`}`, header...)
}
