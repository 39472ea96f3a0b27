package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai"
)

// frontCuts is the largest number of frames after which an answer is cut.
func frontCuts() int {
	if testing.Short() {
		return 4
	}
	return 24
}

// TestFrontClients is the part of make clients for front ends: what the clients of npm, and openai-go, hold at the end of
// every story must be what the log says, and an answer that is cut after any frame must not look like a success. With
// -short each library is there in its newest version.
func TestFrontClients(t *testing.T) {
	onlyBy(t, "clients")
	var names []string
	for _, story := range stories.All() {
		names = append(names, story.Name)
	}
	clients := []string{"openai 7", "ai 7", "agui 1", "a2a 1", "langchain 1"}
	if !testing.Short() {
		clients = append(clients, "openai 6", "ai 6", "openai-go 3") // openai-go compiles for a minute
	}
	for _, name := range clients {
		t.Run(name, func(t *testing.T) {
			door := newFronts(t)
			arguments := append([]string{door.url, strconv.Itoa(frontCuts())}, names...)
			cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, arguments...)...)
			cmd.Dir = filepath.Join("testdata", "fronts", "go")
			if name != "openai-go 3" {
				arguments = slices.Insert(arguments, 2, name)
				cmd = exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(npmInstall(t, "fronts"), "run.mjs")}, arguments...)...)
			}
			out := outputOf(t, cmd)
			equal, told, cut := door.judge(t, out)
			client, version, _ := strings.Cut(name, " ")
			of := map[string]string{"openai": "openai", "openai-go": "openai", "langchain": "openai", "ai": "ai-sdk", "agui": "ag-ui", "a2a": "a2a"}[client]
			clientRow{of, client, version, equal, told, cut}.print()
		})
	}
}

// fronts serves the stories in the formats of the front ends; below /cut/N it cuts each stream after N frames.
type fronts struct {
	url string
	mu  sync.Mutex
	cut map[string]bool // APIs and numbers of frames after which an answer was cut
}

// cutKey names the API of a request as the clients name it, and after how many frames its answer is cut.
func cutKey(n int, api string) string { return strconv.Itoa(n) + " " + api }

func apiOf(r *http.Request) string {
	switch path := r.URL.Path; {
	case strings.Contains(path, "/v1/responses") && r.Method == http.MethodGet:
		return "retrieve"
	case strings.Contains(path, "/v1/responses"):
		return "responses"
	case strings.Contains(path, "/agui"):
		return "agui"
	case strings.Contains(path, a2a.Path):
		return "a2a"
	}
	return "chat"
}

func newFronts(t *testing.T) *fronts {
	t.Helper()
	f, mux := &fronts{cut: map[string]bool{}}, frontDoors(&hesitant{}, time.Millisecond)
	mux.HandleFunc("/cut/{n}/", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil {
			t.Error(err)
		}
		http.StripPrefix("/cut/"+r.PathValue("n"), mux).ServeHTTP(&cutWriter{ResponseWriter: w, fronts: f, key: cutKey(n, apiOf(r)), left: n}, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	f.url = server.URL
	return f
}

// frontDoors serves runs of the job chat in every format of the front ends.
func frontDoors(runs door.Runs, heartbeat time.Duration) *http.ServeMux {
	mux := http.NewServeMux()
	addFronts(mux, door.New(door.Config{Runs: runs, Heartbeat: heartbeat, Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}}))
	return mux
}

// addFronts adds the formats of the front ends.
func addFronts(mux *http.ServeMux, to *door.Door) {
	add := func(h http.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(path, h)
		}
	}
	openai.Add(to, func(h *door.Handler, paths ...string) { add(h, paths...) })
	add(aisdk.New(to), aisdk.Paths()...)
	add(agui.New(to), agui.Paths()...)
	add(a2a.New(to), a2a.Path, a2a.CardPath)
}

// hesitant tells so slowly that heartbeats come between all events: they must change nothing.
type hesitant struct{ stories.Teller }

func (h *hesitant) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		for events, err := range h.Teller.Follow(ctx, id, f) {
			time.Sleep(2 * time.Millisecond)
			if !yield(events, err) {
				return
			}
		}
	}
}

// cutWriter takes so many frames, and fails at the next.
type cutWriter struct {
	http.ResponseWriter
	fronts *fronts
	key    string
	left   int
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *cutWriter) Write(data []byte) (int, error) {
	for frame := range bytes.SplitAfterSeq(data, []byte("\n\n")) {
		if len(frame) > 0 && w.left == 0 {
			_ = http.NewResponseController(w.ResponseWriter).Flush() // it is cut all the same
			w.fronts.mu.Lock()
			w.fronts.cut[w.key] = true
			w.fronts.mu.Unlock()
			return 0, io.ErrClosedPipe // the door breaks the connection
		}
		if _, err := w.ResponseWriter.Write(frame); err != nil {
			return 0, err
		}
		if bytes.HasSuffix(frame, []byte("\n\n")) {
			w.left--
		}
	}
	return len(data), nil
}

// frontTold is what a client has at the end of a story.
type frontTold struct {
	API, Story, Status, Error string
	Cut                       int
	Texts, Thoughts           []string
	Tools                     []frontTool
	Same                      *bool
}

type frontTool struct {
	Name   string
	Input  any
	Output any
	Error  string
}

// judge holds what a client printed to the log.
func (f *fronts) judge(t *testing.T, out []byte) (equal, told, cuts int) {
	t.Helper()
	want := map[string]stories.Story{}
	for _, story := range stories.All() {
		want[story.Name] = story
	}
	for text := range bytes.Lines(out) {
		var got frontTold
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		switch {
		case got.Cut == 0:
			told++
			if why := differs(want[got.Story], got); why != "" {
				t.Errorf("%s: %s: %s", got.Story, why, text)
				continue
			}
			equal++
		case f.cut[cutKey(got.Cut, got.API)]:
			if cuts++; got.Status == string(messages.Completed) {
				t.Errorf("cut after %d frames: %s", got.Cut, text)
			}
		}
	}
	return equal, told, cuts
}

// differs says in what the client differs from the log, or "". Chat completions and A2A have one text and no tools, and retrieve
// tells of the end alone.
func differs(story stories.Story, got frontTold) string {
	state := story.State()
	var texts, thoughts []string
	for _, s := range state.Streams {
		switch {
		case s.Thought:
			thoughts = append(thoughts, s.Text())
		case s.Len() > 0:
			texts = append(texts, s.Text())
		}
	}
	tools, end, want := frontTools(story), model.EndOf(state), string(state.Status)
	switch {
	case end.Reason == model.Length && (got.API == "responses" || got.API == "retrieve"):
		want = "max_output_tokens"
	case end.Reason == model.Length && got.API != "a2a": // a task of A2A completes, and its message says it
		want = "length"
	}
	switch {
	case got.Status != want && !(got.API == "retrieve" && story.Name == "question"):
		return "the status is not " + want
	case got.API == "a2a" && !strings.Contains(got.Error, end.Lack()):
		return "it does not say that " + end.Lack()
	case state.Status == messages.Failed && !strings.Contains(got.Error, state.End.Error.Message):
		return "the error is not " + state.End.Error.Message
	case got.Same != nil && !*got.Same:
		return "a client that comes back has something else"
	case got.API == "retrieve" || got.API == "chat" && got.Tools == nil && state.Status != messages.Completed:
		return ""
	case got.API == "chat" && got.Tools == nil && story.Name == "question":
		texts = []string{texts[0] + "\n\nWhich branch?", texts[1]}
	case got.API == "a2a", got.API == "chat" && got.Tools == nil:
		texts = []string{strings.Join(texts, "\n\n")}
	}
	if got.Tools == nil {
		tools = nil
	}
	if got.Thoughts == nil {
		thoughts = nil
	}
	if a, b := [3]any{got.Texts, got.Thoughts, got.Tools}, [3]any{texts, thoughts, tools}; fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Sprintf("it has %v, want %v", a, b)
	}
	return ""
}

// frontTools are the calls of tools as the log has them.
func frontTools(story stories.Story) (all []frontTool) {
	calls := map[string]*frontTool{}
	var order []string
	for _, e := range story.Events {
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			calls[b.Call] = &frontTool{Name: b.Tool, Input: map[string]any{}, Error: "the call has no result"}
			order = append(order, b.Call)
			_ = json.Unmarshal(b.Arguments, &calls[b.Call].Input) // none are none
		case messages.ToolCompleted:
			c := calls[b.Call]
			if c.Error = ""; b.Error != nil {
				c.Error = b.Error.Message
			}
			_ = json.Unmarshal(b.Result, &c.Output) // an error has none
		}
	}
	for _, call := range order {
		all = append(all, *calls[call])
	}
	return all
}

// A run that a client of one front end starts is read by another's client, and answered by a third's.
func TestDialectsShareRuns(t *testing.T) {
	f := newFronts(t)
	send(t, f.url+"/api/chat", `{"id":"c1","messages":[{"role":"user","parts":[{"type":"text","text":"question"}]}]}`)
	got := send(t, f.url+"/v1/responses/resp_r_story1_1", "")
	if !strings.Contains(got, "Let me ask.") || !strings.Contains(got, `"call_id":"q1"`) {
		t.Errorf("the OpenAI API reads %s", got)
	}
	if got := resume(t, f.url, "q1"); !strings.Contains(got, "Took main.") {
		t.Errorf("AG-UI goes on with %s", got)
	}
	for _, path := range []string{"/v1/responses/resp_r_story1_2", "/api/chat/c1/stream"} {
		if got := send(t, f.url+path, ""); !strings.Contains(got, "Took main.") {
			t.Errorf("%s reads %s", path, got)
		}
	}
}

// resume answers a question of the thread c1 by AG-UI.
func resume(t *testing.T, url, question string) string {
	t.Helper()
	return send(t, url+"/agui",
		`{"threadId":"c1","runId":"1","resume":[{"interruptId":"`+question+`","status":"resolved","payload":"main"}]}`)
}

// send posts the body, or gets what is there without one, and returns the answer.
func send(t *testing.T, url, body string) string {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	_, said, err := testkit.ReadURL(t, method, url, body)
	must(t, err)
	return said
}

// A text that is not done when the run asks something is not written again, empty, after the answer.
func TestTextsEndBeforeQuestions(t *testing.T) {
	system, end := newSystem(t, actors.Config{Jobs: []actors.Definition{actors.Func("chat", pageChat)}})
	defer end()
	server := httptest.NewServer(frontDoors(system, 0))
	defer server.Close()
	last := func(answer string) (id string) {
		var response struct{ ID string }
		if err := json.Unmarshal([]byte(answer), &response); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		return response.ID
	}
	at := last(send(t, server.URL+"/v1/responses", `{"model":"chat","input":"ask","metadata":{"context":"c1"}}`))
	third := ""
	for _, answer := range []string{`"call_id":"q1","output":"true"`, `"call_id":"q2","output":"main"`} {
		third = send(t, server.URL+"/v1/responses",
			`{"previous_response_id":"`+at+`","input":[{"type":"function_call_output",`+answer+`}]}`)
		at = last(third)
	}
	page, agent := send(t, server.URL+"/api/chat/c1/stream", ""), resume(t, server.URL, "q2")
	for _, c := range []struct {
		answer, begin string
		texts         int
	}{{third, `"type":"message"`, 1}, {page, `"type":"text-start"`, 2}, {agent, `"type":"TEXT_MESSAGE_START"`, 1}} {
		if n := strings.Count(c.answer, c.begin); n != c.texts || !strings.Contains(c.answer, "Took main: true.") {
			t.Errorf("%d texts, want %d in %s", n, c.texts, c.answer)
		}
	}
}
