package nano_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/nano"
)

type chunk struct {
	StreamID string `json:"stream_id"`
	Seq      int    `json:"seq"`
	Delta    string `json:"delta"`
	End      bool   `json:"end"`
	Error    *struct{ Code, Message string }
}

type reply struct {
	ID     json.RawMessage
	Result struct {
		StreamID string `json:"stream_id"`
		Status   string
		RunID    messages.RunID `json:"run_id"`
		Chunks   []chunk
		HasMore  bool `json:"has_more"`
		Text     string
	}
	Error *struct {
		Code    int
		Message string
	}
	Method string
	Params chunk
}

func open(runs door.Runs, rows seal.Rows) http.Handler {
	return nano.New(door.New(door.Config{Runs: runs, Jobs: []messages.JobInfo{{Name: "prompt"}, {Name: "chat"}}, Version: "1.0", Rows: rows}))
}

// call calls run over HTTP, as the principal.
func call(t *testing.T, s http.Handler, who, params string) reply {
	t.Helper()
	return post(t, s, who, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"run","params":%s}`, params))
}

func post(t *testing.T, s http.Handler, who, body string) (out reply) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "text/plain;charset=UTF-8") // as fetch sends a string
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r.WithContext(auth.With(t.Context(), auth.Principal{Name: who, Scopes: []auth.Scope{auth.Admin}})))
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%s answers %d %s: %v", body, w.Code, w.Body, err)
	}
	return out
}

// polled are the chunks of a stream, asked for as the seed's client does that had some, up to its end or the delta.
func polled(t *testing.T, s http.Handler, id, delta string, had ...chunk) (all []chunk) {
	t.Helper()
	all = had
	for more := true; more; {
		r := call(t, s, "ada", fmt.Sprintf(`{"stream_id":%q,"from_seq":%d,"wait_ms":60000}`, id, len(all)))
		if r.Error != nil {
			t.Fatalf("a poll of %s: %+v", id, r.Error)
		}
		all, more = append(all, r.Result.Chunks...), r.Result.HasMore
		if len(all) > 0 && delta != "" && all[len(all)-1].Delta == delta {
			return all
		}
	}
	return all
}

// end is what a story's end looks like to a client of NANO.
func end(story stories.Story) (text, failed string) {
	state := story.State()
	var texts []string
	for _, stream := range state.Streams {
		if strings.HasPrefix(stream.Name, "answer") && !stream.Thought {
			texts = append(texts, stream.Text())
		}
	}
	text = strings.Join(texts, "\n\n")
	switch state.Status {
	case messages.Failed:
		failed = string(state.End.Cause)
	case messages.Canceled:
		failed = "canceled"
	}
	return text, failed
}

// judge holds the promises of a stream: numbers from 0 without a gap, one end, last, and the text of the log.
func judge(t *testing.T, story stories.Story, how string, chunks []chunk) {
	t.Helper()
	text, failed := end(story)
	got, why := "", ""
	for i, c := range chunks {
		if c.Seq != i || c.End != (i == len(chunks)-1) {
			t.Errorf("%s, %s: chunk %d is %+v", story.Name, how, i, c)
		}
		if got += c.Delta; c.Error != nil {
			why = c.Error.Code
		}
	}
	if story.Name == "restart inside a text" { // its client has what was taken back, and cannot forget it
		text, failed = "The left one, I ", "reset"
	}
	if story.Name == "recovery" {
		text, failed = "never held", "reset"
	}
	if got != text || why != failed {
		t.Errorf("%s, %s: the client has %q, error %q; want %q, %q", story.Name, how, got, why, text, failed)
	}
}

// Every story ends at a client of NANO as its log says, polled and pushed, and each chunk is the same ever after.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		runs, rows := &stories.Teller{}, seal.NewRows(seal.Rows{})
		s := open(runs, rows)
		began := call(t, s, "ada", fmt.Sprintf(`{"prompt":%q,"stream":true}`, story.Name)).Result
		if len(began.StreamID) != 16 || strings.Trim(began.StreamID, "abcdefghijklmnopqrstuvwxyz0123456789") != "" ||
			began.Status != "streaming_started" {
			t.Fatalf("%s: began %+v", story.Name, began)
		}
		if story.Name == "question" {
			if first := polled(t, s, began.StreamID, "Let me ask."); len(first) != 1 || first[0].Delta != "Let me ask." {
				t.Errorf("before the answer the client has %+v", first)
			}
			must(t, runs.Answer(t.Context(), began.RunID, "q1", json.RawMessage(`"main"`), "ada"))
			s = open(runs, rows)
		}
		chunks := polled(t, s, began.StreamID, "")
		judge(t, story, "polled", chunks)
		for from := range chunks {
			if again := polled(t, open(runs, rows), began.StreamID, "", chunks[:from:from]...); !reflect.DeepEqual(again, chunks) {
				t.Errorf("%s: again from %d: %+v, want %+v", story.Name, from, again, chunks)
			}
		}
		runs = &stories.Teller{}
		judge(t, story, "pushed", pushed(t, open(runs, seal.Rows{}), runs, fmt.Sprintf(`{"prompt":%q,"stream":true}`, story.Name)))
	}
}

// Wherever the log breaks off, the last chunk says so.
func TestNoCutIsASuccess(t *testing.T) {
	for story, teller := range stories.Cuts(errors.New("the journal is gone")) {
		s := open(teller, seal.Rows{})
		began := call(t, s, "ada", fmt.Sprintf(`{"prompt":%q,"stream":true}`, story)).Result
		chunks := polled(t, s, began.StreamID, "")
		last := chunks[len(chunks)-1]
		if retracted := last.Error != nil && last.Error.Code == "reset"; !last.End || !retracted && (last.Error == nil || last.Error.Code != "internal") {
			t.Errorf("%s after %d events: %+v", story, teller.After, last)
		}
	}
}

// pushed are the chunks that come over a WebSocket, which answers the story's question.
func pushed(t *testing.T, s http.Handler, runs *stories.Teller, params string) (all []chunk) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(server.URL, "http", "ws", 1)+"/ws", nil)
	must(t, err)
	defer ws.CloseNow()
	must(t, ws.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"run","params":`+params+`}`)))
	for len(all) == 0 || !all[len(all)-1].End {
		_, data, err := ws.Read(t.Context())
		var m reply
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil || m.Error != nil {
			t.Fatalf("after %+v: %s %v", all, data, err)
		}
		if m.Method == "run" {
			all = append(all, m.Params)
		}
		if m.Params.Delta == "Let me ask." {
			must(t, runs.Answer(t.Context(), stories.Run+"1", "q1", json.RawMessage(`"main"`), ""))
		}
	}
	return all
}

// A stream is polled for as long as it is used, then it has expired for an hour, and then nobody knows it.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(&stories.Teller{}, seal.Rows{})
		id := call(t, s, "ada", `{"prompt":"plain","stream":true}`).Result.StreamID
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{4 * time.Minute, 0}, {4 * time.Minute, 0}, {5*time.Minute + 1, -32005}, {59 * time.Minute, -32005},
			{2 * time.Minute, -32001}} {
			time.Sleep(c.wait)
			synctest.Wait()
			r := call(t, s, "ada", fmt.Sprintf(`{"stream_id":%q}`, id))
			if (r.Error != nil) != (c.want != 0) || r.Error != nil && r.Error.Code != c.want {
				t.Errorf("after %v more a poll gets %+v, want %d", c.wait, r.Error, c.want)
			}
		}
	})
}

// At another process an id is its caller's alone, and ends where the run no longer has the text that was served.
func TestIDsAtAnotherProcess(t *testing.T) {
	runs, rows := &stories.Teller{}, seal.NewRows(seal.Rows{})
	began := call(t, open(runs, rows), "ada", `{"prompt":"plain","stream":true}`).Result
	text, _, _ := rows.Get(t.Context(), "nano."+began.StreamID)
	for who, row := range map[string]string{"bob": "", "ada": `,"cuts":[2],"sum":""`, "ada ": `,"cuts":[9999999]`} {
		must(t, rows.Set(t.Context(), "nano."+began.StreamID, []byte(strings.TrimSuffix(string(text), "}")+row+"}"), 0))
		r := call(t, open(runs, rows), strings.TrimSpace(who), fmt.Sprintf(`{"stream_id":%q,"from_seq":7,"wait_ms":60000}`, began.StreamID))
		if got := r.Result.Chunks; row == "" && (r.Error == nil || r.Error.Code != -32001) ||
			row != "" && (len(got) != 1 || got[0].Seq != 7 || got[0].Error == nil || got[0].Error.Code != "reset") {
			t.Errorf("%q with %q: %+v", who, row, r)
		}
	}
}

// A stream that somebody watches does not expire, however long the run says nothing.
func TestWatchedStreamsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := &stories.Teller{}
		s := open(runs, seal.Rows{})
		began := call(t, s, "ada", `{"prompt":"question","stream":true}`).Result
		for range 7 {
			call(t, s, "ada", fmt.Sprintf(`{"stream_id":%q,"from_seq":1,"wait_ms":60000}`, began.StreamID))
		}
		must(t, runs.Answer(t.Context(), began.RunID, "q1", json.RawMessage(`"main"`), "ada"))
		if last := polled(t, s, began.StreamID, ""); !last[len(last)-1].End {
			t.Errorf("the chunks are %+v", last)
		}
		time.Sleep(2 * time.Hour) // nothing is kept, not even a timer
	})
}

func TestErrors(t *testing.T) {
	s := open(&stories.Teller{}, seal.Rows{})
	began := call(t, s, "ada", `{"prompt":"plain","stream":true}`).Result
	whole := call(t, s, "ada", `{"prompt":"plain"}`).Result
	if whole.Text != "Hello, wörld 🌍" {
		t.Errorf("without stream the result is %+v", whole)
	}
	if again := call(t, s, "ada", `{"prompt":"restart inside a text"}`).Result; again.Text != "The right one." {
		t.Errorf("without stream, after an attempt that was taken back, the result is %+v", again)
	}
	for _, c := range []struct {
		who, params string
		code        int
	}{
		{"ada", `{"stream_id":"0000000000000000"}`, -32001},
		{"bob", fmt.Sprintf(`{"stream_id":%q}`, began.StreamID), -32001},
		{"ada", fmt.Sprintf(`{"stream_id":%q}`, whole.StreamID), -32006},
		{"ada", fmt.Sprintf(`{"stream_id":%q,"from_seq":-1}`, began.StreamID), -32602},
		{"ada", `{"prompt":7}`, -32602},
		{"ada", `{"prompt":"no such story","stream":true}`, -32602},
		{"ada", `{"job":"none","stream":true}`, -32602},
		{"ada", `{"prompt":"failure"}`, -32603},
	} {
		if r := call(t, s, c.who, c.params); r.Error == nil || r.Error.Code != c.code {
			t.Errorf("%s: %+v, want %d", c.params, r.Error, c.code)
		}
	}
	for body, code := range map[string]int{`{`: -32700, `{"id":1}`: -32600, `{"jsonrpc":"2.0","id":1,"method":"walk"}`: -32601} {
		if r := post(t, s, "ada", body); r.Error == nil || r.Error.Code != code {
			t.Errorf("%s: %+v, want %d", body, r.Error, code)
		}
	}
}

// A client has 64 streams. One that has ended makes room for the next; others are not counted.
func TestStreamsOfAClient(t *testing.T) {
	s := open(&stories.Teller{}, seal.Rows{})
	first := call(t, s, "ada", `{"prompt":"plain","stream":true}`).Result
	polled(t, s, first.StreamID, "")
	for range 63 {
		call(t, s, "ada", `{"prompt":"question","stream":true}`)
	}
	if r := call(t, s, "ada", `{"prompt":"question","stream":true}`); r.Error != nil {
		t.Errorf("the 65th stream, after one had ended: %+v", r.Error)
	}
	if r := call(t, s, "ada", fmt.Sprintf(`{"stream_id":%q}`, first.StreamID)); r.Error == nil || r.Error.Code != -32005 {
		t.Errorf("the stream that made room: %+v", r)
	}
	if r := call(t, s, "ada", `{"prompt":"question","stream":true}`); r.Error == nil || r.Error.Code != -32603 {
		t.Errorf("one more: %+v", r)
	}
	if r := call(t, s, "bob", `{"prompt":"plain","stream":true}`); r.Error != nil {
		t.Errorf("another client: %+v", r.Error)
	}
}

func TestInitializeAndBatches(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`[{"jsonrpc":"2.0","id":"a","method":"initialize"},`+
		`{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"},3]`))
	w := httptest.NewRecorder()
	open(&stories.Teller{}, seal.Rows{}).ServeHTTP(w, r)
	fatal.IfLacking(t, w.Body.String(), `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`, `},{"jsonrpc":"2.0","id":"a","result":{"capabilities":{"streaming":true}`, `},{"jsonrpc":"2.0","id":2,"result":{}}]`)
}

// A WebSocket goes on with a stream that another connection began.
func TestResumeOverASocket(t *testing.T) {
	runs := &stories.Teller{}
	s := open(runs, seal.Rows{})
	id := call(t, s, "", `{"prompt":"plain","stream":true}`).Result.StreamID
	got := pushed(t, s, runs, fmt.Sprintf(`{"stream_id":%q,"from_seq":2}`, id))
	if want := []chunk{{id, 2, "wörld 🌍", false, nil}, {id, 3, "", true, nil}}; !reflect.DeepEqual(got, want) {
		t.Errorf("the socket said %+v, want %+v", got, want)
	}
}

// Pollers and sockets at the same time get the same chunks, also one that asks beyond the end.
func TestManyReadersOfAStream(t *testing.T) {
	runs := &stories.Teller{}
	s := open(runs, seal.Rows{})
	began := call(t, s, "ada", `{"prompt":"question","stream":true}`).Result
	all := make([][]chunk, 8)
	var readers sync.WaitGroup
	for i := range all {
		readers.Go(func() { all[i] = polled(t, s, began.StreamID, "") })
	}
	must(t, runs.Answer(t.Context(), began.RunID, "q1", json.RawMessage(`"main"`), "ada"))
	readers.Wait()
	for _, got := range all {
		if len(got) != 3 || !reflect.DeepEqual(got, all[0]) {
			t.Errorf("one reader has %+v, another %+v", got, all[0])
		}
	}
	beyond := call(t, s, "ada", fmt.Sprintf(`{"stream_id":%q,"from_seq":9,"wait_ms":60000}`, began.StreamID)).Result
	if len(beyond.Chunks) > 0 || beyond.HasMore {
		t.Errorf("beyond the end a poll gets %+v", beyond)
	}
}

// long is a runtime whose runs say more than a stream holds.
type long struct{ stories.Teller }

func (l *long) Follow(_ context.Context, id messages.RunID, _ messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		text := strings.Repeat("x", 3<<20)
		if yield([]messages.Event{{RunID: id, From: 1, Seq: 1, Body: messages.RunQueued{}},
			{RunID: id, From: 2, Seq: 2, Body: messages.TextDelta{Stream: "answer", Text: text}}}, nil) {
			yield([]messages.Event{{RunID: id, From: 3, Seq: 3,
				Body: messages.TextDelta{Stream: "answer", Index: 1, Offset: len(text), Text: text}}}, nil)
		}
	}
}

// The chunks of a stream are bounded: a longer text ends it with an error.
func TestLongTexts(t *testing.T) {
	s := open(&long{}, seal.Rows{})
	began := call(t, s, "ada", `{"prompt":"plain","stream":true}`).Result
	got := polled(t, s, began.StreamID, "")
	if last := got[len(got)-1]; len(got) != 2 || len(got[0].Delta) != 3<<20 || last.Error == nil || last.Error.Code != "limit_exceeded" {
		t.Errorf("%d chunks, the last %+v", len(got), last)
	}
}

var must = fatal.IfError
