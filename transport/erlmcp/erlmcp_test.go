package erlmcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/erlmcp"
)

var jobs = []messages.JobInfo{{Name: "prompt", JobSpec: messages.JobSpec{Description: "Asks"}},
	{Name: "chat", JobSpec: messages.JobSpec{Input: func() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }}}}

func open(runs door.Runs) http.Handler {
	return erlmcp.New(door.New(door.Config{Runs: runs, Jobs: jobs, Version: "1.0"}))
}

// heard is what a client has at the end of a stream.
type heard struct {
	text, end string
	numbers   []int
}

func (h *heard) client(url string) Client {
	return Client{URL: url + erlmcp.Path,
		Chunk: func(_ string, number int, data json.RawMessage) {
			var text string
			_ = json.Unmarshal(data, &text) // what is no text is not compared
			h.text += text
			h.numbers = append(h.numbers, number)
		},
		Complete:  func(string, json.RawMessage) { h.end += "completed" },
		Error:     func(_, code, _ string) { h.end += code },
		Cancelled: func(string) { h.end += "canceled" },
	}
}

// want is what the log says.
func want(story stories.Story) (text, end string) {
	state := story.State()
	var texts []string
	for _, stream := range state.Streams {
		if strings.HasPrefix(stream.Name, "answer") && !stream.Thought {
			texts = append(texts, stream.Text())
		}
	}
	text, end = strings.Join(texts, "\n\n"), string(state.Status)
	switch {
	case story.Name == "restart inside a text": // a client that can only append cannot forget what was taken back
		return "The left one, I ", "reset"
	case story.Name == "recovery":
		return "never held", "reset"
	case state.Status == messages.Failed:
		end = string(state.End.Cause)
	}
	return text, end
}

func (h *heard) judge(t *testing.T, story stories.Story) {
	t.Helper()
	if text, end := want(story); h.text != text || h.end != end {
		t.Errorf("%s: the client has %q and ends as %q; want %q, %q", story.Name, h.text, h.end, text, end)
	}
	for i, n := range h.numbers {
		if n != i+1 {
			t.Errorf("%s: the chunks have the numbers %v", story.Name, h.numbers)
		}
	}
}

// Every story ends at a client of erlmcp as its log says, for whoever began the stream and whoever subscribed to it.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		runs := &stories.Teller{}
		server, answered := httptest.NewServer(open(runs)), make(chan error, 1)
		if story.Name == "question" {
			go func() { answered <- answer(t.Context(), server.URL) }()
		} else {
			answered <- nil
		}
		var first, second heard
		must(t, first.client(server.URL).CallTool(t.Context(), "chat", map[string]string{"message": story.Name}))
		first.judge(t, story)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		must(t, second.client(server.URL).Subscribe(t.Context(), string(stories.Run)+"1"))
		second.judge(t, story)
		server.Close()
	}
}

// answer answers the story's question as a client does that hears of it.
func answer(ctx context.Context, url string) error {
	for ctx.Err() == nil {
		resp, err := http.Post(url+erlmcp.Path, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"stream/answer",`+
			`"params":{"streamId":"r_story1","request":"q1","value":"main"}}`))
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Contains(body, []byte(`"error"`)) {
			return err
		}
	}
	return ctx.Err()
}

// A stream that is cut anywhere before its end is never taken for a success.
func TestCuts(t *testing.T) {
	for after := range 5 {
		door := open(&stories.Teller{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			door.ServeHTTP(&cutter{ResponseWriter: w, after: after}, r)
		}))
		var h heard
		err := h.client(server.URL).CallTool(t.Context(), "prompt", map[string]string{"text": "plain"})
		if err == nil || h.end != "" {
			t.Errorf("cut after %d writes the client ends as %q, %v", after, h.end, err)
		}
		server.Close()
	}
}

// make clients starts this process, which reads stories with the client of the example.
func TestProcess(t *testing.T) {
	list := os.Getenv("LASTWORD_ERLMCP_RUNS")
	if list == "" {
		t.Skip("make clients starts this")
	}
	var runs []struct{ URL, Story string }
	must(t, json.Unmarshal([]byte(list), &runs))
	var told bytes.Buffer
	for _, r := range runs {
		var h heard
		err := h.client(r.URL).CallTool(t.Context(), "prompt", map[string]string{"text": r.Story})
		line, _ := json.Marshal(map[string]any{"text": h.text, "ended": err == nil && h.end == "completed"}) // a string
		told.Write(append(line, '\n'))
	}
	must(t, os.WriteFile(os.Getenv("LASTWORD_ERLMCP_TOLD"), told.Bytes(), 0o600))
}

// cutter breaks the connection after some writes.
type cutter struct {
	http.ResponseWriter
	after int
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(data []byte) (int, error) {
	if c.after--; c.after < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(data)
}

// ask calls a method, and returns the answer.
func ask(t *testing.T, s http.Handler, who, method, params string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/erlmcp",
		strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r.WithContext(auth.With(t.Context(), auth.Principal{Name: who, Scopes: []auth.Scope{auth.Admin}})))
	return w.Body.String()
}

func TestModesAndErrors(t *testing.T) {
	s := open(&stories.Teller{})
	data, err := os.ReadFile("testdata/answers.txt") // who calls, the method, its parameters, a part of the answer
	must(t, err)
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if got := ask(t, s, c[0], c[1], c[2]); !strings.Contains(got, c[3]) {
			t.Errorf("%s %s: %s, want %s", c[1], c[2], got, c[3])
		}
	}
}

// A job whose result is a list gives its elements as chunks, not faster than the caller asked for. Seed: a chunk has
// "<<"chunk_num">> => 1" and "<<"total">> => 4".
func TestListsAndDelays(t *testing.T) {
	list := []any{"one", 2, map[string]int{"three": 3}}
	for _, result := range []any{list, map[string]any{"chunks": list}} {
		listAndDelay(t, result)
	}
}

func listAndDelay(t *testing.T, result any) {
	synctest.Test(t, func(t *testing.T) {
		system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{actors.Func("chat",
			func(context.Context, *actors.TaskContext, struct{}) (any, error) { return result, nil })}})
		must(t, err)
		begun := time.Now()
		got := ask(t, open(system), "ada", "tools/call",
			`{"name":"chat","stream":{"chunkDelayMs":250},"_meta":{"progressToken":"p"}}`)
		fatal.IfLacking(t, got, `"chunk_num":1,"total":3,"data":"one"`, `"chunk_num":2,"total":3,"data":2`,
			`"data":{"three":3}`, `{"progress":3,"progressToken":"p","total":3}`, `"total_chunks":3`)
		if took := time.Since(begun); took < 500*time.Millisecond {
			t.Errorf("three chunks with 250 ms between took %v", took)
		}
		must(t, system.Close(context.Background()))
	})
}

// A result that is a list gives its elements, null nothing, and any other result itself.
func TestResultsAsChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{actors.Func("chat",
			func(_ context.Context, _ *actors.TaskContext, in struct{ Result any }) (any, error) {
				return in.Result, nil
			})}})
		must(t, err)
		door := open(system)
		for result, want := range map[string]string{`["a",{"b":1},3]`: `["a" {"b":1} 3]`, `{"chunks":["a",2]}`: `["a" 2]`,
			`"whole"`: `["whole"]`, `{"b":1}`: `[{"b":1}]`, `[]`: `[]`, `null`: `[]`} {
			answer := ask(t, door, "ada", "tools/call", `{"name":"chat","arguments":{"result":`+result+`},"stream":true}`)
			chunks := []string{}
			client := Client{Chunk: func(_ string, _ int, data json.RawMessage) { chunks = append(chunks, string(data)) }}
			ended := false
			for line := range strings.Lines(answer) {
				ended, err = client.handle([]byte(line))
				must(t, err)
			}
			if got := fmt.Sprint(chunks); got != want || !ended {
				t.Errorf("%s gives the chunks %s, want %s: %s", result, got, want, answer)
			}
		}
		must(t, system.Close(context.Background()))
	})
}

// Many subscribers read one stream over one WebSocket, each to its end.
func TestSocket(t *testing.T) {
	runs := &stories.Teller{}
	server := httptest.NewServer(open(runs))
	defer server.Close()
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(server.URL, "http", "ws", 1)+erlmcp.Path, nil)
	must(t, err)
	defer ws.CloseNow()
	batch := `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prompt","arguments":{"text":"plain"},"stream":true}},` +
		`{"jsonrpc":"2.0","id":2,"method":"stream/subscribe","params":{"streamId":"r_story1"}}]`
	must(t, ws.Write(t.Context(), websocket.MessageText, []byte(batch)))
	counts := map[string]int{}
	for counts["stream_complete"] < 2 {
		_, data, err := ws.Read(t.Context())
		must(t, err)
		var m struct{ Method string }
		_ = json.Unmarshal(data, &m) // a batch of answers has no method
		counts[m.Method]++
	}
	if counts["stream_chunk"] != 6 || counts[""] != 1 {
		t.Errorf("the socket said %v", counts)
	}
}

func TestServerSentEvents(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/erlmcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prompt","arguments":{"text":"plain"},"stream":true}}`))
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	open(&stories.Teller{}).ServeHTTP(w, r)
	frames := strings.Split(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n")
	last := `data: {"jsonrpc":"2.0","method":"stream_complete","params":{"streamId":"r_story1","total_chunks":3,` +
		`"result":{"text":"Hello, wörld 🌍"},"finish_reason":"stop"}}`
	if w.Header().Get("Content-Type") != "text/event-stream" || len(frames) != 5 || frames[4] != last {
		t.Errorf("the stream is %s", w.Body)
	}
}

var must = fatal.IfError

const words = 500

// talk says a word each 5 ms.
func talk(ctx context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
	for i := range words {
		if err := t.AppendText("answer", fmt.Sprintf("w%d ", i)); err != nil {
			return "", err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", nil
}

// slowly takes as long for each write.
type slowly struct {
	*httptest.ResponseRecorder
	pause time.Duration
}

func (s slowly) Write(data []byte) (int, error) {
	time.Sleep(s.pause)
	return s.ResponseRecorder.Write(data)
}

func (s slowly) FlushError() error { return nil }

// A subscriber that reads slowly, or asks for few chunks, gets merged ones: nothing is lost, and it delays nobody.
func TestSlowSubscribersGetMergedChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{actors.Func("chat", talk)}})
		must(t, err)
		door := open(system)
		var id struct {
			Result struct{ Task struct{ TaskID string } }
		}
		must(t, json.Unmarshal([]byte(ask(t, door, "", "tools/call", `{"name":"chat","task":{}}`)), &id))
		begun := time.Now()
		read := func(pause time.Duration, method, params string) (chunks int, took time.Duration) {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
			w := slowly{httptest.NewRecorder(), pause}
			door.ServeHTTP(w, httptest.NewRequest(http.MethodPost, erlmcp.Path, strings.NewReader(body)))
			var h heard
			for line := range strings.Lines(w.Body.String()) {
				if _, err := h.client("").handle([]byte(line)); err != nil {
					t.Error(err)
				}
			}
			if got := strings.Fields(h.text); len(got) != words || got[words-1] != fmt.Sprintf("w%d", words-1) || h.end != "completed" {
				t.Errorf("after pauses of %v the client ends as %q, with %q", pause, h.end, h.text)
			}
			return len(h.numbers), time.Since(begun)
		}
		subscribe := fmt.Sprintf(`{"streamId":%q}`, id.Result.Task.TaskID)
		var all sync.WaitGroup
		all.Go(func() {
			if chunks, took := read(0, "stream/subscribe", subscribe); chunks < words || took > words*6*time.Millisecond {
				t.Errorf("a fast subscriber gets %d chunks in %v", chunks, took)
			}
		})
		all.Go(func() {
			if chunks, _ := read(time.Second, "stream/subscribe", subscribe); chunks > words/10 {
				t.Errorf("a slow subscriber gets %d chunks", chunks)
			}
		})
		all.Go(func() {
			if chunks, _ := read(0, "tools/call", `{"name":"chat","stream":{"chunkDelayMs":100}}`); chunks > words/10 {
				t.Errorf("a subscriber that asks for 10 chunks a second gets %d", chunks)
			}
		})
		all.Wait()
		must(t, system.Close(context.Background()))
	})
}
