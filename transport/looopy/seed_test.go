package looopy_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/looopy"
)

// L1: proxies must neither keep nor collect the events.
func TestL1Headers(t *testing.T) {
	w := httptest.NewRecorder()
	open(&stories.Teller{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, looopy.Path,
		strings.NewReader(`{"message":"plain","contextId":"c-1"}`)))
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache",
		"Connection": "keep-alive", "X-Accel-Buffering": "no"} {
		if got := w.Header().Get(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A conversation cannot be named with what would end the line of an id.
func TestL2NoLinesFromNames(t *testing.T) {
	for _, name := range []string{`c\nevent: forged`, `c\r1`, ``} {
		body := fmt.Sprintf(`{"message":"plain","contextId":"%s"}`, name)
		if code, _ := ask(t, open(&stories.Teller{}), http.MethodPost, looopy.Path, body); code != http.StatusBadRequest {
			t.Errorf("the name %q is answered with %d", name, code)
		}
	}
}

// L5: filters by context and task hold for what is replayed as for what is live, and internal events never come.
func TestL5FiltersHoldInReplay(t *testing.T) {
	inside(t, func(t *testing.T, s http.Handler) {
		ask(t, s, http.MethodPost, looopy.Path, `{"message":"other","contextId":"other"}`)
		_, first := ask(t, s, http.MethodPost, looopy.Path, `{"message":"below","contextId":"c-1"}`)
		ask(t, s, http.MethodPost, looopy.Path, `{"message":"later","contextId":"c-1"}`)
		turn := fmt.Sprint(first[0].data["taskId"])
		var child string
		for _, e := range first {
			if e.kind() == "subtask-created" {
				child = fmt.Sprint(e.data["subtaskId"])
			}
		}
		for _, c := range []struct{ query, task string }{{"contextId=c-1", ""}, {"contextId=c-1&taskId=" + turn, turn},
			{"contextId=c-1&taskId=" + turn + "/**", turn}, // seed: "eventRouter.subscribe('task-123/**', subscriber)"
			{"contextId=c-1&taskId=" + child, child}, {"taskId=" + child + "&lastEventId=" + first[1].id, child}} {
			_, events := ask(t, s, http.MethodGet, looopy.Path+"?"+c.query, "")
			seen := map[string]int{}
			for _, e := range events {
				task := fmt.Sprint(e.data["taskId"])
				seen[task]++
				if e.data["contextId"] != "c-1" || !strings.HasPrefix(task, c.task) || strings.HasPrefix(e.kind(), "internal:") {
					t.Errorf("%s: %+v", c.query, e)
				}
			}
			want := map[string]int{"": 3, turn: 2, child: 1}[c.task]
			if len(seen) != want {
				t.Errorf("%s: events of %v, want events of %d tasks", c.query, seen, want)
			}
		}
		for _, query := range []string{"contextId=c-1&taskId=r_none", "contextId=none"} {
			if code, _ := ask(t, s, http.MethodGet, looopy.Path+"?"+query, ""); code != http.StatusNoContent {
				t.Errorf("%s answers %d", query, code)
			}
		}
		if code, _ := ask(t, s, http.MethodGet, looopy.Path+"?contextId=other&lastEventId="+first[0].id, ""); code != http.StatusBadRequest {
			t.Errorf("an event of another conversation answers %d", code)
		}
	})
}

// failing is a client that breaks after its first event.
type failing struct{ *httptest.ResponseRecorder }

func (f failing) Write(data []byte) (int, error) {
	if f.Body.Len() > 0 {
		return 0, errors.New("broken")
	}
	return f.ResponseRecorder.Write(data)
}

// L6: a client that breaks disturbs neither the turn nor another client.
func TestL6ABrokenClientHurtsNobody(t *testing.T) {
	runs := &stories.Teller{}
	s := open(runs)
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				t.Error("the broken connection is not cut")
			}
		}()
		s.ServeHTTP(failing{httptest.NewRecorder()}, httptest.NewRequest(http.MethodPost, looopy.Path,
			strings.NewReader(`{"message":"plain","contextId":"c-1"}`)))
	}()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, looopy.Path+"?contextId=c-1", nil))
	if !strings.Contains(w.Body.String(), `"kind":"task-complete"`) {
		t.Errorf("another client gets %s", w.Body)
	}
}

// L7: a silent turn sends heartbeats. A client that leaves is written to no more, and the turn goes on.
func TestL7ClientsLeave(t *testing.T) {
	inside(t, func(t *testing.T, s http.Handler) {
		ctx, leave := context.WithTimeout(auth.With(t.Context(), auth.Principal{Name: "ada", Scopes: []auth.Scope{auth.Admin}}),
			time.Minute)
		defer leave()
		w := httptest.NewRecorder()
		func() {
			defer func() { _ = recover() }() // the server would cut the connection
			s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, looopy.Path,
				strings.NewReader(`{"message":"slow","contextId":"c-1"}`)).WithContext(ctx))
		}()
		if got := strings.Count(w.Body.String(), ": ping\n\n"); got < 3 || got > 4 {
			t.Errorf("a silent minute has %d heartbeats", got)
		}
		had := w.Body.Len()
		_, events := ask(t, s, http.MethodGet, looopy.Path+"?contextId=c-1", "")
		if last := events[len(events)-1]; last.kind() != "task-complete" {
			t.Errorf("the turn that its client left ends with %+v", last)
		}
		if w.Body.Len() != had {
			t.Error("the client that left is written to")
		}
	})
}

// L8: what a sub-run asks reaches the user, and the answer reaches the sub-run.
func TestL8QuestionsOfSubRuns(t *testing.T) {
	inside(t, func(t *testing.T, s http.Handler) {
		for _, c := range []struct{ message, kind, id, state, body string }{
			{"ask below", "input-required", "inputId", "waiting-input", `"inputs":[{"inputId":%q,"value":"blue"}]`},
			{"secret below", "auth-required", "authId", "waiting-auth", `"credentials":[{"authId":%q,"credential":"blue"}]`},
		} {
			time.Sleep(time.Second) // people take their time
			_, events := ask(t, s, http.MethodPost, looopy.Path, fmt.Sprintf(`{"message":%q,"contextId":"c-1"}`, c.message))
			var id string
			for _, e := range events {
				if e.kind() == c.kind {
					id = fmt.Sprint(e.data[c.id])
				}
			}
			if last := events[len(events)-1]; last.state() != c.state || id == "" {
				t.Fatalf("%s: the stream ends with %+v, and asks %q", c.message, last, id)
			}
			_, more := ask(t, s, http.MethodPost, looopy.Path, fmt.Sprintf(`{"contextId":"c-1",`+c.body+`}`, id))
			if last := more[len(more)-1]; last.kind() != "task-complete" || last.data["content"] != "below: 4" {
				t.Errorf("%s: the answered turn ends with %+v", c.message, last)
			}
			if more[0].id <= events[len(events)-1].id {
				t.Errorf("%s: the stream goes on with %s after %s", c.message, more[0].id, events[len(events)-1].id)
			}
		}
	})
}

// A turn that was canceled while it waited for an answer waits no more.
func TestCanceledTurnsDoNotWait(t *testing.T) {
	runs := &stories.Teller{}
	s := open(runs)
	ask(t, s, http.MethodPost, looopy.Path, `{"message":"question","contextId":"c-1"}`)
	must(t, runs.Cancel(t.Context(), stories.Run+"1", "ada", "enough"))
	_, events := ask(t, s, http.MethodGet, looopy.Path+"?contextId=c-1", "")
	if last := events[len(events)-1]; last.state() != "canceled" {
		t.Errorf("the stream ends with %+v", last)
	}
}

// A client gets the sub-run's events under their own task, and a URL for a large file.
func TestSubRunsHaveTheirTask(t *testing.T) {
	inside(t, func(t *testing.T, s http.Handler) {
		_, all := ask(t, s, http.MethodPost, looopy.Path, `{"message":"large below","contextId":"c-1"}`)
		turn, seen := all[0].data["taskId"], map[string]string{}
		for _, e := range all {
			switch e.kind() {
			case "content-delta":
				seen[fmt.Sprint(e.data["content"])] = fmt.Sprint(e.data["taskId"] == turn, e.data["parentTaskId"] == turn, e.data["path"])
			case "artifact-binary":
				seen["url"] = fmt.Sprint(e.data["url"] == fmt.Sprintf("/v1/runs/%v/artifacts/a%%2Fb.bin", e.data["taskId"]))
			}
		}
		if want := "map[from below:false true [agent:chat] url:true]"; fmt.Sprint(seen) != want {
			t.Errorf("the client has %v, want %s", seen, want)
		}
	})
}

type work struct {
	Message string `json:"message"`
}

// inside serves a runtime's turns: one says its message, one has a sub-run do so, or ask.
func inside(t *testing.T, test func(t *testing.T, s http.Handler)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{actors.Func("chat", turn)}})
		must(t, err)
		test(t, looopy.New(door.New(door.Config{Runs: system, Jobs: []messages.JobInfo{{Name: "chat"}}})))
		must(t, system.Close(context.Background()))
	})
}

func turn(ctx context.Context, t *actors.TaskContext, in work) (string, error) {
	what, below := strings.CutSuffix(in.Message, "below")
	switch {
	case below:
		job, err := actors.Func("chat", turn).New(fmt.Appendf(nil, `{"message":%q}`, what))
		if err != nil {
			return "", err
		}
		run, err := t.Start(ctx, job, actors.Options{Key: "part"})
		if err != nil {
			return "", err
		}
		end, err := run.Wait(ctx)
		return "below: " + strings.Trim(string(end.End.Result), `"`), err
	case what == "large ":
		file := messages.Artifact{Name: "a/b.bin", Bytes: 2 << 20, SHA256: messages.Digest("large")}
		return "", errors.Join(t.AppendText("answer", "from below"), t.Emit(messages.ArtifactWritten{Artifact: file}, ""))
	case asked[what].Request != "":
		answer, err := t.Ask(ctx, asked[what])
		return fmt.Sprint(len(strings.Trim(string(answer), `"`))), err
	}
	if time.Sleep(time.Millisecond); what == "slow" {
		time.Sleep(2 * time.Minute)
	}
	return "", t.AppendText("answer", in.Message)
}

var asked = map[string]messages.InputRequired{"ask ": {Request: "q", Prompt: "Which?"},
	"secret ": {Request: "key", Prompt: "The key?", InputKind: messages.InputSecret}}

// crashed is a runtime whose journal has lost what readers saw before its process died.
type crashed struct{ *stories.Teller }

func (c crashed) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		var kept []messages.Event
		for events, err := range c.Teller.Follow(ctx, id, f) {
			if err != nil {
				yield(nil, err)
				return
			}
			from := events[0].From
			kept = append(slices.DeleteFunc(kept, func(e messages.Event) bool { return e.Seq >= from }), events...)
		}
		yield(kept, nil)
	}
}

// L4: a reader that comes back after a crash with text that no log has hears that it was taken back.
func TestL4ResumeAfterACrash(t *testing.T) {
	runs := &stories.Teller{}
	_, all := ask(t, open(runs), http.MethodPost, looopy.Path, `{"message":"recovery","contextId":"c-1"}`)
	whole := project(all).Said
	for i, after := range all {
		if i == len(all)-1 {
			continue
		}
		_, rest := ask(t, open(crashed{runs}), http.MethodGet, looopy.Path, "", "Last-Event-ID", after.id)
		if got := project(append(slices.Clone(all[:i+1]), rest...)).Said; got != whole && !strings.HasPrefix(got, "held now") {
			t.Errorf("after %s the client has %q, want %q", after.id, got, whole)
		}
	}
}

// family is a runtime of one turn with sub-runs. A reader gets the logs as the runtime promises: each in its order,
// a child's after its child.started and before its child.ended. Draw says which comes next, and what is merged.
type family struct {
	stories.Teller
	logs map[messages.RunID][]messages.Event
	draw *rapid.T
}

const root messages.RunID = "r_root"

// tell writes a run's log: deltas of its answer, of a tool and of a log, with sub-runs between them.
func (f *family) tell(id, parent messages.RunID, depth int) {
	var log []messages.Event
	add := func(body messages.Body) {
		n := uint64(len(log) + 1)
		log = append(log, messages.Event{RunID: id, From: n, Seq: n, Time: time.UnixMilli(int64(n)), Body: body})
	}
	add(messages.RunQueued{Job: "chat", Parent: parent})
	add(messages.RunStarted{})
	add(messages.TaskStarted{Task: "respond", Attempt: 1})
	add(messages.ToolStarted{Call: "t", Task: "respond", Tool: "look"})
	text, children := "", 0
	for i := range rapid.IntRange(0, 12).Draw(f.draw, "events") {
		switch rapid.IntRange(0, 4+depth).Draw(f.draw, "event") {
		case 0, 1:
			piece := fmt.Sprintf("%s.%d ", id, i)
			add(messages.TextDelta{Stream: "answer", Task: "respond", Index: uint64(i), Offset: len(text), Text: piece})
			text += piece
		case 2:
			add(messages.ToolProgress{Call: "t", Done: int64(i + 1), Total: 20})
		case 3:
			add(messages.Log{Lines: []messages.LogLine{{Text: "read"}}})
		case 4:
			add(messages.LLMStarted{Call: fmt.Sprint(i), Task: "respond"})
		default:
			children++
			child := messages.RunID(fmt.Sprintf("%s.c%d", id, children))
			f.tell(child, id, depth-1)
			add(messages.ChildStarted{Child: child, Job: "chat", Task: "respond", Name: string(child)})
			if rapid.Bool().Draw(f.draw, "parallel") {
				add(messages.TextDelta{Stream: "answer", Task: "respond", Offset: len(text), Text: "meanwhile "})
				text += "meanwhile "
			}
			add(messages.ChildEnded{Child: child, Status: messages.Completed})
		}
	}
	add(messages.TextDone{Stream: "answer", Task: "respond", Text: text})
	add(messages.RunCompleted{})
	f.logs[id] = log
}

func (f *family) List(context.Context, messages.Query) ([]messages.Summary, error) {
	return []messages.Summary{{RunID: root, QueuedAt: time.UnixMilli(1), Status: messages.Processing}}, nil
}

func (f *family) State(_ context.Context, id messages.RunID) (messages.State, error) {
	return messages.State{RunID: id, Queued: &messages.RunQueued{Principal: "ada"}, QueuedAt: time.UnixMilli(1)}, nil
}

func (f *family) Submit(context.Context, messages.Request) (messages.RunID, error) { return root, nil }

func (f *family) Follow(context.Context, messages.RunID, messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	left, open, ended := map[messages.RunID][]messages.Event{}, []messages.RunID{root}, map[messages.RunID]bool{}
	for id, log := range f.logs {
		left[id] = log
		if rapid.Bool().Draw(f.draw, "merged") {
			left[id] = messages.MergeDeltas(log)
		}
	}
	return func(yield func([]messages.Event, error) bool) {
		for !ended[root] {
			id := rapid.SampledFrom(open).Draw(f.draw, "next")
			if len(left[id]) == 0 {
				continue
			}
			e := left[id][0]
			switch b := e.Body.(type) {
			case messages.ChildStarted:
				open = append(open, b.Child)
			case messages.ChildEnded:
				if !ended[b.Child] {
					continue
				}
			}
			left[id], ended[id] = left[id][1:], e.IsTerminal()
			if !yield([]messages.Event{e}, nil) {
				return
			}
		}
	}
}

// L3, L5: every event has an id, and ids grow. Anyone who comes back after any of them, while the sub-runs tell in another
// order and the log is merged otherwise, gets the rest, with the same ids: nothing twice, nothing lost.
func TestL3EveryEventHasAnID(t *testing.T) {
	rapid.Check(t, func(draw *rapid.T) {
		f := &family{logs: map[messages.RunID][]messages.Event{}, draw: draw}
		f.tell(root, "", 2)
		door := open(f)
		_, all := ask(t, door, http.MethodPost, looopy.Path, `{"message":"go","contextId":"c-1"}`)
		for i, e := range all {
			if !strings.HasPrefix(e.id, "c-1-") || i > 0 && e.id <= all[i-1].id {
				draw.Fatalf("the id %q follows %q", e.id, all[max(i-1, 0)].id)
			}
		}
		after := rapid.IntRange(0, len(all)-2).Draw(draw, "after")
		_, rest := ask(t, door, http.MethodGet, looopy.Path, "", "Last-Event-ID", all[after].id)
		if got, want := story(rest), story(all[after+1:]); got != want {
			draw.Fatalf("after %s the client gets\n%s, want\n%s", all[after].id, got, want)
		}
	})
}

// story is what events say, whatever was merged: the deltas of each answer, and all else with its id but progress.
func story(events []event) string {
	var all strings.Builder
	var task any
	for _, e := range events {
		switch {
		case e.kind() == "tool-progress":
		case e.kind() == "content-delta" && task == e.data["taskId"]:
			fmt.Fprint(&all, e.data["delta"])
		case e.kind() == "content-delta":
			task = e.data["taskId"]
			fmt.Fprintf(&all, "\n%v says %v", task, e.data["delta"])
		default:
			task = nil
			fmt.Fprintf(&all, "\n%s %s %v", e.id, e.kind(), e.data["taskId"])
		}
	}
	return all.String()
}
