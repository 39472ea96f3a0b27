package a2a_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errGone = errors.New("the journal is gone")

// agent is a server with its clients.
type agent struct {
	t      *testing.T
	url    string
	caller *auth.Principal
}

func serve(t *testing.T, runs door.Runs) *agent { return serveCalling(t, runs, nil) }

// serveCalling serves an agent that calls back where the function has no error.
func serveCalling(t *testing.T, runs door.Runs, callback func(url string) error) *agent {
	t.Helper()
	a := &agent{t: t, caller: &auth.Principal{}}
	schema := func() json.RawMessage { return json.RawMessage(`{"properties":{"story":{},"context":{}}}`) }
	urls := map[string]string{}
	handler := a2a.New(door.New(door.Config{Runs: runs, Version: "1.2.3", Callback: callback,
		Callbacks:       func(context.Context, messages.RunID) (map[string]string, error) { return urls, nil },
		ChangeCallbacks: func(_ context.Context, _ messages.RunID, do func(map[string]string) error) error { return do(urls) }, Jobs: []messages.JobInfo{
			{Name: "generate", JobSpec: messages.JobSpec{Title: "Generate", Description: "Makes llms.txt.", Input: schema}},
			{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message", Description: "Talks.", Input: schema}}}}))
	a.url = testkit.ServeURL(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(auth.With(r.Context(), *a.caller)))
	}))
	return a
}

// call sends a call, and returns its answer as it came.
func (a *agent) call(method, params string) (string, error) {
	a.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%s","method":%q,"params":%s}`, method[:1], method, params)
	_, text, err := testkit.ReadURL(a.t, http.MethodPost, a.url+a2a.Path, body, "A2A-Version", "1.0", "Content-Type", "application/json",
		"Host", "agent.test")
	return text, err
}

// said is a message of the user, with more members.
func said(text, more string) string {
	return fmt.Sprintf(`{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":%q}]%s}}`, text, more)
}

// task is what a client has of a task.
type task struct {
	ID, ContextID string
	Status        struct {
		State   string
		Message *struct{ Parts []part }
	}
	Artifacts []artifact
	History   []struct {
		MessageID, Role string
		Parts           []part
	}
}

type artifact struct {
	ArtifactID string
	Parts      []part
}

type part struct {
	Text, URL string
	Data      json.RawMessage
}

// reply is an answer, or an event of a stream.
type reply struct {
	ID     string
	Result struct {
		Task           *task
		StatusUpdate   *task
		ArtifactUpdate *struct {
			Append   bool
			Artifact artifact
		}
	}
	Error *struct {
		Code    int
		Message string
		Data    []struct{ Reason, Domain string }
	}
}

// fold is what a client holds after the frames of a stream, by the rules of the protocol.
func (a *agent) fold(stream string) (held task, frames int) {
	a.t.Helper()
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var r reply
		if err := json.Unmarshal([]byte(data), &r); err != nil || !strings.HasPrefix(r.ID, "cS") {
			a.t.Fatalf("%v: %s", err, data)
		}
		frames++
		switch e := r.Result; {
		case e.Task != nil:
			held = *e.Task
		case e.StatusUpdate != nil:
			held.Status = e.StatusUpdate.Status
		case e.ArtifactUpdate != nil:
			at := -1
			for i := range held.Artifacts {
				if held.Artifacts[i].ArtifactID == e.ArtifactUpdate.Artifact.ArtifactID {
					at = i
				}
			}
			switch {
			case at < 0 && e.ArtifactUpdate.Append:
				a.t.Errorf("it appends to an artifact that is not there: %s", data)
			case at < 0:
				held.Artifacts = append(held.Artifacts, e.ArtifactUpdate.Artifact)
			case e.ArtifactUpdate.Append:
				held.Artifacts[at].Parts = append(held.Artifacts[at].Parts, e.ArtifactUpdate.Artifact.Parts...)
			default:
				held.Artifacts[at] = e.ArtifactUpdate.Artifact
			}
		}
	}
	return held, frames
}

// texts are the artifacts' texts, URLs and data by id, without what is empty.
func (t task) texts() map[string]string {
	texts := map[string]string{}
	for _, a := range t.Artifacts {
		var text strings.Builder
		for _, p := range a.Parts {
			text.WriteString(p.Text + p.URL + string(p.Data))
		}
		if text.String() != "" {
			texts[a.ArtifactID] = text.String()
		}
	}
	return texts
}

func (a *agent) task(method, params string) task {
	a.t.Helper()
	text, err := a.call(method, params)
	var r struct {
		Result struct {
			Task *task
			task
		}
	}
	if err = errors.Join(err, json.Unmarshal([]byte(text), &r)); err != nil || r.Result.Task == nil && r.Result.ID == "" {
		a.t.Fatalf("%s %s: %v, %s", method, params, err, text)
	}
	if r.Result.Task != nil {
		return *r.Result.Task
	}
	return r.Result.task
}

// story has a client begin the story, and answer what it asks. It returns all that was streamed.
func (a *agent) story(name string) (stream string) {
	a.t.Helper()
	stream, err := a.call("SendStreamingMessage", said(name, ""))
	if err == nil && name == "question" {
		var rest string
		rest, err = a.call("SendStreamingMessage", said("main", `,"taskId":"r_story1"`))
		stream += rest
	}
	if err != nil {
		a.t.Fatalf("%s: %v, %s", name, err, stream)
	}
	return stream
}

// merging merges the deltas of a run, as for a slow reader.
type merging struct{ door.Runs }

func (m merging) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		var deltas []messages.Event
		for batch, err := range m.Runs.Follow(ctx, id, f) {
			for _, e := range batch {
				if deltas = append(deltas, e); e.IsDelta() {
					continue
				}
				if !yield(messages.MergeDeltas(deltas), err) {
					return
				}
				deltas = nil
			}
		}
	}
}

// TestStories holds the events of each story. However the deltas were merged, they add up to the task.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		a := serve(t, &stories.Teller{})
		stream := a.story(story.Name)
		story.Golden(t, *update, stream)
		held, _ := a.fold(stream)
		if slow, _ := a.fold(serve(t, merging{&stories.Teller{}}).story(story.Name)); !reflect.DeepEqual(slow.texts(), held.texts()) || !reflect.DeepEqual(slow.Status, held.Status) {
			t.Errorf("%s: a slow client has %+v, want %+v", story.Name, slow, held)
		}
		got := a.task("GetTask", `{"id":"r_story1"}`)
		if !reflect.DeepEqual(held.texts(), got.texts()) || !reflect.DeepEqual(held.Status, got.Status) {
			t.Errorf("%s: the stream adds up to %+v, the task is %+v", story.Name, held, got)
		}
		var said []string
		for _, s := range story.State().Streams {
			if !s.Thought && s.Len() > 0 {
				said = append(said, s.Text())
			}
		}
		want := map[string]string{"answer": strings.Join(said, "\n\n")}
		for _, file := range story.State().Artifacts {
			want["file:"+file.Name] = "http://agent.test/v1/runs/r_story1/artifacts/" + file.Name
		}
		if !reflect.DeepEqual(got.texts(), want) {
			t.Errorf("%s: the task has %q, want %q", story.Name, got.texts(), want)
		}
	}
}

// Wherever the log breaks off, the client is told of an error, and the connection of its stream breaks.
func TestNoCutIsASuccess(t *testing.T) {
	events := map[string]int{"question": 6}
	for _, story := range stories.All() {
		events[story.Name] = cmp.Or(events[story.Name], len(story.Events))
	}
	for story, teller := range stories.Cuts(errGone) {
		a := serve(t, teller)
		body, err := a.call("SendStreamingMessage", said(story, ""))
		if teller.After == 0 { // there is no first event
			err = cmp.Or(err, errGone)
		}
		if told := strings.Contains(body, `"error":{"code":-32603,"message":"the journal is gone"`); teller.After+1 < events[story] && (err == nil || !told) {
			t.Errorf("%s after %d events: %v, %s", story, teller.After, err, body)
		}
		if body, err = a.call("SendMessage", said(story, "")); err != nil || !strings.Contains(body, `"code":-32603`) {
			t.Errorf("%s after %d events, without a stream: %v, %s", story, teller.After, err, body)
		}
	}
}

// reaching is a Teller whose State is that after some events, as a client finds it that comes then.
type reaching struct {
	*stories.Teller
	after int
}

func (r reaching) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	var events []messages.Event
	for batch := range r.Teller.Follow(ctx, id, messages.FollowOptions{}) {
		if events = append(events, batch...); len(events) == r.after {
			break
		}
	}
	return stories.Fold(events)
}

// A client that comes after any event gets the task as it is, and with what follows it holds the whole.
func TestSubscribe(t *testing.T) {
	for _, story := range stories.All() {
		if story.Name == "question" {
			continue
		}
		whole := serve(t, &stories.Teller{})
		want, _ := whole.fold(whole.story(story.Name))
		for n := 1; n < len(story.Events); n++ {
			var runs door.Runs = reaching{&stories.Teller{}, n}
			if n%2 == 0 {
				runs = merging{runs}
			}
			a := serve(t, runs)
			_, err := a.call("SendStreamingMessage", said(story.Name, ""))
			fatal.IfError(t, err)
			stream, err := a.call("SubscribeToTask", `{"id":"r_story1"}`)
			got, frames := a.fold(stream)
			if err != nil || !strings.HasPrefix(stream, `data: {"jsonrpc":"2.0","id":"cS","result":{"task":`) || frames < 2 ||
				!reflect.DeepEqual(got.texts(), want.texts()) || !reflect.DeepEqual(got.Status, want.Status) {
				t.Errorf("%s from event %d: %v\n%+v\nwant\n%+v\n%s", story.Name, n, err, got, want, stream)
			}
		}
	}
}

// A question ends the stream and SendMessage. A message with the taskId answers it; the same again, with its question,
// gets the same events.
func TestQuestion(t *testing.T) {
	teller := &stories.Teller{}
	a := serve(t, teller)
	asked := a.task("SendMessage", said("question", `,"contextId":"c1"`))
	if asked.Status.State != "TASK_STATE_INPUT_REQUIRED" || asked.ContextID != "c1" ||
		string(asked.Status.Message.Parts[1].Data) != `{"kind":"clarification","request":"q1","schema":{"type":"string"}}` {
		t.Errorf("the task asks as %+v", asked)
	}
	answer := said("main", `,"taskId":"r_story1","metadata":{"request":"q1"}`)
	first, err := a.call("SendStreamingMessage", answer)
	again, againErr := a.call("SendStreamingMessage", answer)
	if err := errors.Join(err, againErr); err != nil || first != again || strings.Contains(first, `"Let "`) {
		t.Errorf("the answer gets %v\n%s\nthe same again\n%s", err, first, again)
	}
	held, _ := a.fold(first)
	if got := held.texts(); held.Status.State != "TASK_STATE_COMPLETED" || got["answer"] != "Let me ask.\n\nTook main." ||
		len(held.History) != 3 || held.History[2].Parts[0].Text != "main" {
		t.Errorf("the task is %+v", held)
	}
	second := a.task("SendMessage", strings.Replace(said("question", ""), "m1", "m2", 1))
	data := `{"message":{"messageId":"m3","taskId":%q,"role":"ROLE_USER","parts":[{"data":"trunk"}]},"configuration":{"historyLength":1}}`
	ended := a.task("SendMessage", fmt.Sprintf(data, second.ID))
	state, err := teller.State(t.Context(), messages.RunID(second.ID))
	if err != nil || string(state.Inputs[0].Value) != `"trunk"` || ended.Status.State != "TASK_STATE_COMPLETED" || len(ended.History) != 1 {
		t.Errorf("the task is told %s, %v, and is %+v", state.Inputs[0].Value, err, ended)
	}
}

// The same message gets the same task, another one with its messageId another task, and a skill gets its data.
func TestMessages(t *testing.T) {
	teller := &stories.Teller{}
	a := serve(t, teller)
	first := a.task("SendMessage", said("plain", ""))
	if again := a.task("SendMessage", said("plain", "")); !reflect.DeepEqual(again, first) || first.texts()["answer"] != "Hello, wörld 🌍" {
		t.Errorf("the same message gets %+v, want %+v", again, first)
	}
	for _, other := range []string{said("failure", ""), said("plain", `,"contextId":"c"`)} { // of the same messageId
		if got := a.task("SendMessage", other); got.ID == first.ID || got.ContextID == first.ContextID {
			t.Errorf("%s gets the task of another message", other)
		}
	}
	skill := a.task("SendMessage", `{"configuration":{"returnImmediately":true},`+
		`"message":{"messageId":"m2","metadata":{"skill":"generate"},"role":"ROLE_USER","parts":[{"data":{"story":"question"}}]}}`)
	state, err := teller.State(t.Context(), messages.RunID(skill.ID))
	if err != nil || state.Queued.Job != "generate" || string(state.Queued.Input) != `{"story":"question"}` ||
		string(skill.History[0].Parts[0].Data) != `{"story":"question"}` || skill.ContextID == "" || skill.ContextID == first.ContextID {
		t.Errorf("the skill is %+v, %v, %+v", state.Queued, err, skill)
	}
	if got := a.task("CancelTask", `{"id":"`+skill.ID+`"}`); got.Status.State != "TASK_STATE_CANCELED" {
		t.Errorf("the canceled task is %+v", got)
	}
}

// tasks is a page of ListTasks.
type tasks struct {
	Result struct {
		Tasks               []task
		TotalSize, PageSize int
		NextPageToken       string
	}
}

func (a *agent) list(params string) (page tasks) {
	a.t.Helper()
	text, err := a.call("ListTasks", params)
	if err := errors.Join(err, json.Unmarshal([]byte(text), &page)); err != nil {
		a.t.Fatalf("%v: %s", err, text)
	}
	return page
}

// listed is a Teller whose list has the times and the questions of its runs.
type listed struct{ *stories.Teller }

func (l listed) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	runs, err := l.Teller.List(ctx, q)
	for i := range runs {
		runs[i].UpdatedAt = time.Unix(int64(-i), 0)
		if state, err := l.State(ctx, runs[i].RunID); err == nil && !state.Status.IsEnded() {
			runs[i].OpenRequests = []string{"q1"}
		}
	}
	return runs, err
}

func TestListTasks(t *testing.T) {
	a := serve(t, listed{&stories.Teller{}})
	for i, story := range []string{"plain", "question", "failure"} {
		a.task("SendMessage", strings.Replace(said(story, `,"contextId":"c`+fmt.Sprint(i%2)+`"`), "m1", "m"+story, 1))
	}
	seen := map[string]bool{}
	for token := "first"; token != ""; {
		page := a.list(strings.Replace(`{"pageSize":1,"pageToken":"`+token+`"}`, "first", "", 1)).Result
		if page.TotalSize != 3 || len(page.Tasks) != 1 || page.Tasks[0].Artifacts != nil || seen[page.Tasks[0].ID] {
			t.Fatalf("a page is %+v", page)
		}
		seen[page.Tasks[0].ID], token = true, page.NextPageToken
	}
	if page := a.list(`{"pageSize":50}`).Result; len(seen) != 3 || page.PageSize != 50 || a.list(`{}`).Result.PageSize != 50 {
		t.Errorf("the pages have %v, and their size is %d", seen, page.PageSize)
	}
	page := a.list(`{"contextId":"c0","status":"TASK_STATE_COMPLETED","includeArtifacts":true,"historyLength":0}`).Result
	if len(page.Tasks) != 1 || page.Tasks[0].texts()["answer"] == "" || page.Tasks[0].History != nil {
		t.Errorf("of the context there are %+v", page)
	}
	if page := a.list(`{"status":"TASK_STATE_INPUT_REQUIRED"}`).Result; len(page.Tasks) != 1 || page.Tasks[0].ContextID != "c1" {
		t.Errorf("of those that ask there are %+v", page)
	}
}

// Errors have the protocol's codes and details. Tasks of others do not exist.
func TestRefusals(t *testing.T) {
	a := serve(t, &stories.Teller{})
	ended := a.task("SendMessage", said("plain", "")).ID
	waits := a.task("SendMessage", strings.Replace(said("question", ""), "m1", "m2", 1)).ID
	check := func(method, params string, code int, reason string) {
		t.Helper()
		text, err := a.call(method, params)
		var r reply
		if err := errors.Join(err, json.Unmarshal([]byte(text), &r)); err != nil || r.Error == nil || r.Error.Code != code ||
			len(r.Error.Data) != 1 || r.Error.Data[0].Reason != reason || r.Error.Data[0].Domain != "a2a-protocol.org" {
			t.Errorf("%s %s: %v, %s, want %d %s", method, params, err, text, code, reason)
		}
	}
	data, err := os.ReadFile("testdata/refusals.txt") // method, code, reason, parameters
	fatal.IfError(t, err)
	for line := range strings.Lines(strings.NewReplacer("ENDED", ended, "WAITS", waits).Replace(string(data))) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		code, _ := strconv.Atoi(c[1])
		check(c[0], c[3], code, c[2])
	}
	*a.caller = auth.Principal{Name: "eve", Scopes: []auth.Scope{auth.ReadRuns}}
	check("GetTask", `{"id":"`+waits+`"}`, -32001, "TASK_NOT_FOUND")
	check("SubscribeToTask", `{"id":"`+waits+`"}`, -32001, "TASK_NOT_FOUND")
	check("SendMessage", said("plain", ""), -31403, "FORBIDDEN")
	if page := a.list(`{}`).Result; page.TotalSize != 0 {
		t.Errorf("others list %+v", page)
	}
	for _, version := range []string{"", "0.3", "2.0"} {
		_, text, err := testkit.ReadURL(t, http.MethodPost, a.url+a2a.Path, `{"jsonrpc":"2.0","id":1,"method":"GetTask"}`, "A2A-Version", version)
		if err != nil || !strings.Contains(text, `"code":-32009`) {
			t.Errorf("A2A %s: %v, %s", version, err, text)
		}
	}
}

// The card lists every job as a skill, to those who are not known the one that needs no name.
func TestCard(t *testing.T) {
	a := serve(t, &stories.Teller{})
	type card struct {
		Skills               []struct{ ID string }
		SupportedInterfaces  []struct{ URL, ProtocolBinding, ProtocolVersion string }
		SecurityRequirements []any
	}
	read := func() (c card) {
		_, text, err := testkit.ReadURL(t, http.MethodGet, a.url+a2a.CardPath, "", "Host", "agent.test")
		if err := errors.Join(err, json.Unmarshal([]byte(text), &c)); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return c
	}
	response := testkit.OpenURL(t.Context(), t, http.MethodGet, a.url+a2a.CardPath, "")
	tag := response.Header.Get("ETag")
	response.Body.Close()
	if status, _, _ := testkit.ReadURL(t, http.MethodGet, a.url+a2a.CardPath, "", "If-None-Match", tag); status != http.StatusNotModified || tag == "" {
		t.Errorf("the card of the tag %s is sent again: %d", tag, status)
	}
	open := read()
	if len(open.Skills) != 2 || open.SecurityRequirements != nil || open.SupportedInterfaces[0].URL != "http://agent.test/a2a" {
		t.Errorf("the card is %+v", open)
	}
	*a.caller = auth.Principal{Name: "stranger"}
	if c := read(); len(c.Skills) != 1 || c.Skills[0].ID != "chat" || len(c.SecurityRequirements) != 1 {
		t.Errorf("strangers get %+v", c)
	}
}

// The message that begins a task says where its notifications go; they have the form of a stream's event.
func TestPushNotifications(t *testing.T) {
	a := serveCalling(t, &stories.Teller{}, func(url string) error {
		if url != "https://receiver.test/hook" {
			return messages.InvalidInput("no")
		}
		return nil
	})
	begin := func(config string) string {
		text, err := a.call("SendMessage", strings.Replace(said("plain", ""), "}}", `},"configuration":{"taskPushNotificationConfig":`+config+`}}`, 1))
		fatal.IfError(t, err)
		return text
	}
	for _, config := range []string{`{"url":"https://elsewhere.test"}`, `{"url":"https://receiver.test/hook","token":"t"}`} {
		if text := begin(config); !strings.Contains(text, `"reason":"INVALID_INPUT"`) {
			t.Errorf("%s: %s", config, text)
		}
	}
	var r reply
	if text := begin(`{"url":"https://receiver.test/hook"}`); json.Unmarshal([]byte(text), &r) != nil || r.Result.Task == nil {
		t.Fatal(text)
	}
	const first, second = `{"id":"1","taskId":"r_story1","url":"https://receiver.test/hook"}`, `{"id":"c2","taskId":"r_story1","url":"https://receiver.test/hook"}`
	for _, c := range []struct{ method, params, want string }{
		{"Get", `"id":"1"`, `"result":` + first}, {"List", ``, `{"configs":[` + first + `]}`},
		{"Create", `"id":"c2","url":"https://receiver.test/hook"`, `"result":` + second}, {"Get", `"id":"c2"`, second},
		{"Create", `"url":"https://elsewhere.test"`, "INVALID_INPUT"}, {"Create", `"id":"c3"`, "INVALID_INPUT"},
		{"Create", `"id":"a b","url":"https://receiver.test/hook"`, "INVALID_INPUT"},
		{"Delete", `"id":"1"`, `"result":{}`}, {"List", ``, `{"configs":[` + second + `]}`}, {"Get", `"id":"1"`, `"code":-32001`},
		{"Delete", `"id":"c2"`, `"result":{}`}, {"List", ``, `{"configs":[]}`},
	} {
		method := c.method + "TaskPushNotificationConfig" + map[string]string{"List": "s"}[c.method]
		if text, err := a.call(method, `{"taskId":"r_story1",`+cmp.Or(c.params, `"id":""`)+`}`); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %v, %s, want %s", method, c.params, err, text, c.want)
		}
	}
	for story, want := range map[string]string{"plain": "COMPLETED", "failure": "FAILED", "cancel": "CANCELED"} {
		i := slices.IndexFunc(stories.All(), func(s stories.Story) bool { return s.Name == story })
		events := stories.All()[i].Events
		queued := events[0].Body.(messages.RunQueued)
		var sent struct{ StatusUpdate *task }
		err := json.Unmarshal(a2a.Notification(&queued, events[len(events)-1]), &sent)
		if err != nil || sent.StatusUpdate.Status.State != "TASK_STATE_"+want || (story == "plain") != (sent.StatusUpdate.Status.Message == nil) {
			t.Errorf("%s is told as %+v, %v", story, sent.StatusUpdate, err)
		}
	}
}

// told is a Teller to whose runs somebody says something with their second event.
type told struct{ *stories.Teller }

func (t told) Follow(ctx context.Context, id messages.RunID, o messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		for batch, err := range t.Teller.Follow(ctx, id, o) {
			batch = slices.Clone(batch)
			for i, e := range batch {
				if e.Seq == 2 {
					batch[i].Body = messages.Merged{Parts: []messages.Body{e.Body,
						messages.MessageQueued{Said: messages.Said{Message: "a2a m9", Content: "and hurry"}}}}
				}
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

// What a client says to a task that works is in its history, under the client's messageId. The A2A TCK: "Task history should
// contain the initial and follow-up messages".
func TestHistoryOfWhatWasSaid(t *testing.T) {
	a := serve(t, told{&stories.Teller{}})
	got := a.task("SendMessage", said("plain", ""))
	if len(got.History) != 2 || got.History[1].Parts[0].Text != "and hurry" || got.History[1].MessageID != "m9" {
		t.Errorf("the history is %+v", got.History)
	}
}
