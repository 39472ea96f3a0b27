package llm_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// recorded is what a real server answered.
func recorded(t testing.TB, name string) []testkit.Piece {
	t.Helper()
	text, err := os.ReadFile("testdata/real-wire/" + name + ".txt")
	must(t, err)
	pieces, err := standin.Recorded(string(text))
	must(t, err)
	return pieces
}

// The answers of real servers, whole and however they are cut.
func TestRecordedStreams(t *testing.T) {
	for name, want := range map[string]struct {
		text, thought, calls string // of the text and the thought, how they begin
		prompt               int64  // tokens
		cause                messages.Code
		message              string
	}{
		"llama-router-plain-stream": {text: "} way her which was", prompt: 18},
		"ollama33-plain-stream":     {text: "} see} them still way over", prompt: 18},
		"llama-router-think-stream": {thought: "NOT THAT FROM", text: " him her"},
		"ollama33-think-stream":     {thought: "THAT WITH TO OR IT", text: " do very"},
		"llama-router-tool-stream":  {calls: `get_weather {"city": "Paris"}`},
		"ollama33-tool-stream":      {calls: `get_weather {"city":"Paris"}`},
		"llama-router-json-stream":  {text: `{"a":"`},
		"ollama33-json-stream":      {text: `{"a":"`},
		"ollama33-runner-killed": {text: " so state work no hello", cause: messages.CauseTransportClosed,
			message: "ended without terminator"},
		"llama-router-child-killed": {text: " much out life blue said", cause: messages.CauseProviderError,
			message: "proxy error: Failed to read connection"},
		"llama-router-unknown-model": {cause: messages.CauseProviderError, message: "http 400: model 'nosuch' not found"},
		"ollama33-unknown-model":     {cause: messages.CauseProviderError, message: "http 404: model 'nosuch' not found"},
		"llama-router-context-exceeded": {cause: messages.CauseProviderError,
			message: "http 500: proxy error: Failed to read connection"},
		"ollama33-context-exceeded": {cause: messages.CauseContextExceeded, message: "http 400: request (200009 tokens) exceeds " +
			"the available context size (4096 tokens), try increasing it; "},
	} {
		for _, size := range []int{0, 1, 7} {
			m := testkit.NewModel(t)
			m.Always(append([]testkit.Piece{standin.Split(size)}, recorded(t, name)...)...)
			c := client(t, llm.Config{BaseURL: m.URL(), Profile: model.Strict, Retries: -1})
			for range 2 { // the second on a connection that the server may have closed
				h, calls := listen(t.Context(), c, hello()), ""
				for _, call := range h.end.Calls {
					calls += call.Name + " " + call.Arguments
				}
				if h.ends != 1 || !strings.HasPrefix(h.text, want.text) || !strings.HasPrefix(h.thought, want.thought) ||
					(want.text == "") != (h.text == "") || (want.thought == "") != (h.thought == "") || calls != want.calls ||
					want.prompt != 0 && *h.end.Usage.PromptTokens != want.prompt {
					t.Errorf("%s, by %d: %s", name, size, h)
				}
				if h.end.Verdict.Cause != want.cause || !strings.Contains(fmt.Sprint(h.err), want.message) {
					t.Errorf("%s, by %d: %v", name, size, h.err)
				}
			}
		}
	}
}

// A server that loads its model is waited for, with a word, within the time for the first token.
func TestLoadingModel(t *testing.T) {
	for patience, cause := range map[time.Duration]messages.Code{time.Minute: "", 30 * time.Second: messages.CauseStalled} {
		var ready time.Time
		handle := func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(ready) {
				w.WriteHeader(503)
				fmt.Fprint(w, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
				return
			}
			write(w, tokenFrame+doneFrame)
		}
		bubble(t, llm.Config{Retries: -1, Limits: llm.Limits{FirstToken: patience}}, handle, func(t *testing.T, l *llm.Client) {
			ready = time.Now().Add(40 * time.Second)
			h := listen(t.Context(), l, hello())
			last, _ := h.parts[len(h.parts)-3].(model.Loading)
			if h.end.Verdict.Cause != cause || cause == "" && last.For != 39*time.Second {
				t.Errorf("%s: %s after %s", patience, h, last.For)
			}
			if cause != "" && h.err.Error() != "the server was still loading m after 30s" {
				t.Error(h)
			}
		})
	}
}

// What Ollama 0.17 did: it cut 276,001 tokens to its context of 4,096, and answered.
func TestCutPrompt(t *testing.T) {
	for _, c := range []struct {
		bytes, read, context int
		cut                  bool
	}{
		{1 << 20, 4096, 4096, true}, {1 << 20, 3900, 4096, true}, {1 << 20, 1000, 4096, true}, // the oldest messages were dropped
		{20000, 4096, 4096, false}, {40000, 4000, 4096, true}, {40000, 1000, 32768, false}, {1 << 20, 4096, 0, false},
	} {
		o := testkit.ModelOptions{Dialect: standin.VLLM, Models: []standin.ServedModel{{ID: "m", Loaded: true, Context: c.context, MaxContext: 32768}}}
		if c.context == 0 {
			o = testkit.ModelOptions{}
		}
		m := standin.NewModelWith(t, o)
		m.Answer(testkit.Text("x"), testkit.Finish("stop"), testkit.Usage(c.read, 1), testkit.Done())
		r := hello()
		r.Messages[0].Content = strings.Repeat("word ", c.bytes/5)
		h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL()}), r)
		if cut := h.end.Verdict.Cause == messages.CauseContextExceeded; cut != c.cut || cut != h.end.Evidence.Overflows() || cut != (h.err != nil) {
			t.Errorf("%+v: %s", c, h)
		} else if want := fmt.Sprintf("the prompt has about %d tokens, and the server read only %d of them", c.bytes/5*5/4, c.read); cut && h.err.Error() != want {
			t.Errorf("%v, want %s", h.err, want)
		}
	}
}

// Ollama shifts its context, and lets a model write for ever.
func TestEndlessAnswers(t *testing.T) {
	words := func(n int) testkit.Piece {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `data: {"choices":[{"delta":{"content":"t%d "}}]}`+"\n\n", i)
		}
		return standin.Send(b.String())
	}
	loop := standin.Send(strings.Repeat(`data: {"choices":[{"delta":{"content":"the same words again, "}}]}`+"\n\n", 6000))
	for name, c := range map[string]struct {
		pieces    []testkit.Piece
		limits    llm.Limits
		most      int
		endless   string
		completed bool
	}{
		"a loop":         {pieces: []testkit.Piece{loop, testkit.Stall()}, endless: "the answer repeated itself without end"},
		"no end":         {pieces: []testkit.Piece{words(40000), testkit.Stall()}, endless: "the answer had 32768 tokens and no end"},
		"a lower bound":  {pieces: []testkit.Piece{words(200), testkit.Stall()}, limits: llm.Limits{Tokens: 100}, endless: "the answer had 100 tokens and no end"},
		"a long answer":  {pieces: []testkit.Piece{words(30000), testkit.Finish("stop"), testkit.Done()}},
		"asked for":      {pieces: []testkit.Piece{words(40000), testkit.Finish("stop"), testkit.Done()}, most: 50000},
		"a short circle": {pieces: []testkit.Piece{standin.Send(strings.Repeat(`data: {"choices":[{"delta":{"reasoning":" x"}}]}`+"\n\n", 5000)), testkit.Stall()}, endless: "the answer repeated itself without end"},
	} {
		m := testkit.NewModel(t)
		m.Answer(c.pieces...)
		r := hello()
		r.MaxTokens = c.most
		var h heard
		for part, err := range client(t, llm.Config{BaseURL: m.URL(), Limits: c.limits}).Stream(t.Context(), r) {
			if isEnd(part) {
				h.take(part, err)
			}
		}
		v := h.end.Verdict
		if h.ends != 1 || h.err != nil || v.Message != c.endless || v.Truncated != (c.endless != "") || (v.Signal == "endless") != v.Truncated {
			t.Errorf("%s: %+v, %v", name, v, h.err)
		}
	}
}

// What runs need not be loaded, and what does not run need not be unloaded.
func TestRecordedRouter(t *testing.T) {
	m := testkit.NewModel(t)
	for range 20 {
		m.AnswerTo("/v1/models", recorded(t, "llama-router-models")...)
		m.AnswerTo("/props", recorded(t, "llama-router-props")...)
	}
	c := client(t, llm.Config{BaseURL: m.URL()})
	info, err := c.Load(t.Context(), "tiny", llm.LoadOptions{})
	if want := (llm.Info{ID: "tiny", Loaded: true, Context: 8192, MaxContext: 32768, Format: "gguf", Server: llm.LlamaCPP}); info != want || err != nil {
		t.Errorf("%+v, %v", info, err)
	}
	must(t, c.Unload(t.Context(), "slow"))
	for _, r := range m.Requests() {
		if r.Method == http.MethodPost {
			t.Errorf("the router was asked to %s", r.Path)
		}
	}
}

// On Ollama the context that was loaded stays loaded, whatever the next requests are; on its OpenAI route it would not.
func TestOllamaKeepsItsContext(t *testing.T) {
	m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: standin.Ollama, Models: []standin.ServedModel{{ID: "tiny:latest", MaxContext: 32768}}})
	c := client(t, llm.Config{BaseURL: m.URL(), Server: &llm.ServerProfile{Kind: llm.Ollama}, Retries: -1})
	if info, err := c.Load(t.Context(), "tiny", llm.LoadOptions{Context: 16384}); err != nil || info.ID != "tiny:latest" || info.Context != 16384 {
		t.Fatalf("%+v, %v", info, err)
	}
	r := hello()
	r.Model, r.MaxTokens, r.Seed = "tiny:latest", 50, new(int64(7))
	r.Format = &model.Format{Name: "f", Schema: json.RawMessage(`{"type":"object"}`)}
	r.Messages = append([]model.Message{{Role: model.Assistant, Thoughts: "hm", ThoughtsIn: "reasoning", Calls: []model.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x":1}`}}},
		{Role: model.ToolRole, CallID: "c1", Content: "2"}}, r.Messages...)
	r.Extra = map[string]json.RawMessage{"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false}`), "ttl": json.RawMessage("300")}
	if h := listen(t.Context(), c, r); h.text != "hello" || h.err != nil || h.end.Verdict.Signal != "done" || h.end.Usage == nil {
		t.Error(h)
	}
	if m.Loaded("tiny:latest") != 16384 {
		t.Errorf("a request loaded the model again with a context of %d", m.Loaded("tiny:latest"))
	}
	requests := m.Requests()
	const want = `{"format":{"type":"object"},"keep_alive":300,"messages":[{"content":"","role":"assistant","thinking":"hm","tool_calls":` +
		`[{"function":{"arguments":{"x":1},"name":"f"},"id":"c1","type":"function"}]},{"content":"2","role":"tool","tool_call_id":"c1"},` +
		`{"content":"hello","role":"user"}],"model":"tiny:latest","options":{"num_ctx":16384,"num_predict":50,"seed":7},"shift":false,"stream":true,` +
		`"think":false,"truncate":false}`
	if last := requests[len(requests)-1]; last.Path != "/api/chat" || string(last.Body) != want {
		t.Errorf("%s was asked\n%s, want\n%s", last.Path, last.Body, want)
	}
}

// Ollama's own stream, as recorded and as its errors and calls come.
func TestOllamaStream(t *testing.T) {
	line := func(message, more string) testkit.Piece {
		return standin.Send(`{"model":"m","message":{"role":"assistant",` + message + `},"done":` + more + "}\n")
	}
	for name, c := range map[string]struct {
		pieces               []testkit.Piece
		text, thought, calls string
		cause                messages.Code
		truncated            bool
	}{
		"recorded": {pieces: recorded(t, "ollama33-native-chat-stream"), text: " as to was be well their those do", truncated: true},
		"thoughts": {pieces: []testkit.Piece{line(`"content":"","thinking":"Hm."`, "false"), line(`"content":"Yes."`, "false"),
			line(`"content":""`, `true,"done_reason":"stop"`)}, text: "Yes.", thought: "Hm."},
		"calls": {pieces: []testkit.Piece{line(`"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"x":1}}},`+
			`{"function":{"index":1,"name":"f","arguments":{"x":2}}}]`, "false"), line(`"content":""`, `true,"done_reason":"stop"`)},
			calls: `f {"x":1} f {"x":2} `},
		"an error": {pieces: []testkit.Piece{line(`"content":"a"`, "false"), standin.Send(`{"error":"the runner died"}` + "\n")}, text: "a",
			cause: messages.CauseProviderError},
		"a killed runner": {pieces: []testkit.Piece{line(`"content":"a"`, "false")}, text: "a", cause: messages.CauseTransportClosed},
	} {
		for _, size := range []int{0, 1, 7} {
			m := testkit.NewModel(t)
			m.AnswerTo("/api/ps", recorded(t, "ollama33-api-ps")...)
			m.AnswerTo("/api/chat", append([]testkit.Piece{standin.Split(size), standin.Header("Content-Type", "application/x-ndjson")}, c.pieces...)...)
			l := client(t, llm.Config{BaseURL: m.URL(), Server: &llm.ServerProfile{Kind: llm.Ollama}, Retries: -1})
			h, calls := listen(t.Context(), l, hello()), ""
			for _, call := range h.end.Calls {
				calls += call.Name + " " + call.Arguments + " "
			}
			if h.ends != 1 || h.text != c.text || h.thought != c.thought || calls != c.calls || h.end.Verdict.Cause != c.cause ||
				h.end.Verdict.Truncated != c.truncated {
				t.Errorf("%s, by %d: %s", name, size, h)
			}
		}
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

// Issue: "Accept-Encoding: identity is sent, and gzip read all the same": answers, errors and lists.
func TestGzip(t *testing.T) {
	first := "data: " + delta(`"content":"Hello"`) + "\n\n"
	for name, c := range map[string]struct {
		coding  string
		status  int
		body    []byte
		text    string
		cause   messages.Code
		message string
	}{
		"answer":     {"GZIP", 200, zipped(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"listed":     {"identity, gzip,", 200, zipped(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"two lines":  {"identity; x-gzip", 200, zipped(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"not zipped": {"None", 200, []byte(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"twice":      {"gzip, gzip", 200, zipped(first), "", messages.CauseProviderError, "gzip, gzip"},
		"cut":        {"GZIP", 200, zipped(first)[:len(zipped(first))-8], "Hello", messages.CauseTransportClosed, "transport closed"},
		"none":       {"GZIP", 200, []byte(first), "", messages.CauseProviderError, "marked as gzip"},
		"refusal":    {"GZIP", 400, zipped(`{"error":{"message":"boom"}}`), "", messages.CauseProviderError, "http 400: boom"},
		"long":       {"GZIP", 200, zipped(first + strings.Repeat(": x\n", 1<<20)), "Hello", messages.CauseLimitExceeded, "larger than 1 MiB"},
		"no stream":  {"GZIP", 200, zipped(`{"error":{"message":"boom"}}`), "", messages.CauseProviderError, "boom"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Values("Accept-Encoding"); len(got) != 1 || got[0] != "identity" {
				t.Errorf("%s: the request accepts %q", name, got)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header()["Content-Encoding"] = strings.Split(c.coding, "; ")
			w.WriteHeader(c.status)
			_, _ = w.Write(c.body)
		}))
		h := listen(t.Context(), client(t, llm.Config{BaseURL: s.URL, Proxy: "none", Retries: -1, Limits: llm.Limits{ResponseBytes: 1 << 20}}), hello())
		if h.text != c.text || h.end.Verdict.Cause != c.cause || !strings.Contains(h.end.Verdict.Message, c.message) {
			t.Errorf("%s: %s", name, h)
		}
		s.Close()
	}
}

// Tokens come as they are sent, though they are zipped.
func TestGzipStreams(t *testing.T) {
	heard := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, "data: "+delta(`"content":"Hello"`)+"\n\n")
		zip.Flush()
		w.(http.Flusher).Flush()
		select {
		case <-heard:
		case <-r.Context().Done():
			return
		}
		_, _ = io.WriteString(zip, "data: [DONE]\n\n")
		zip.Close()
	}))
	defer s.Close()
	for part, err := range client(t, llm.Config{BaseURL: s.URL, Proxy: "none"}).Stream(t.Context(), hello()) {
		switch {
		case !isEnd(part):
			close(heard)
		case err != nil:
			t.Error(err)
		}
	}
}

func TestGzipList(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("%s: the request accepts %q", r.URL, got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped(`{"object":"list","data":[{"id":"m"}]}`))
	}))
	defer s.Close()
	page, err := client(t, llm.Config{BaseURL: s.URL, Proxy: "none"}).Get(t.Context(), "/models", false)
	if err != nil || !strings.Contains(string(page.Body), `"id":"m"`) {
		t.Errorf("%v, %+v", err, page)
	}
}
