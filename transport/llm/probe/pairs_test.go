package probe_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

// stage is a server, and how it is probed.
type stage struct {
	options testkit.ModelOptions
	answers [][]testkit.Piece // to the questions in their order; past them the last message is echoed
	always  []testkit.Piece
	prepare func(t *testing.T, m *testkit.Model, o *probe.Options)
	says    string       // a part of what was seen
	status  probe.Status // of a bad one
}

// pair is a server that makes a check pass, and some that do not.
type pair struct {
	good stage
	bad  []stage
}

func script(answers ...[]testkit.Piece) [][]testkit.Piece { return answers }

// hi answers the question that most checks ask first.
func hi() []testkit.Piece { return say("one two") }

func say(text string) []testkit.Piece {
	return []testkit.Piece{testkit.Role(), testkit.Text(text), testkit.Text(" "), testkit.Finish("stop"), testkit.Usage(9, 2), testkit.Done()}
}

func refuse(status int, words string) []testkit.Piece {
	return []testkit.Piece{testkit.JSON(status, `{"error":{"message":"`+words+`","type":"invalid_request_error"}}`)}
}

func calls(pieces ...testkit.Piece) []testkit.Piece {
	return append(pieces, testkit.Finish("tool_calls"), testkit.Done())
}

func lmstudio(context int, o testkit.Overflow) testkit.ModelOptions {
	return testkit.ModelOptions{Dialect: testkit.LMStudio, Overflow: o,
		Models: []testkit.ServedModel{{ID: "qwen3-8b", Loaded: context > 0, Context: context}}}
}

// then is for checks that pass on one answer and not on another.
func then(good, bad []testkit.Piece, status probe.Status, says string) pair {
	return pair{good: stage{answers: script(hi(), good)}, bad: []stage{{answers: script(hi(), bad), status: status, says: says}}}
}

func pairs() map[string]pair {
	all := map[string]pair{}
	for _, some := range []map[string]pair{serverPairs(), answerPairs(), textPairs(), toolPairs(), formatPairs(), limitPairs(), loadPairs()} {
		maps.Copy(all, some)
	}
	return all
}

func serverPairs() map[string]pair {
	return map[string]pair{
		"reachable": {bad: []stage{{status: probe.Fail, says: "refused", prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) {
			m.Close()
		}}}},
		"path": {bad: []stage{
			{status: probe.Fail, says: "/v1/models lists models", prepare: at("")},
			{status: probe.Fail, says: "http 200 with JSON that is no list", options: lmstudio(8192, ""), prepare: at("/v2")},
			{status: probe.Fail, says: "a web page", prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) {
				m.AnswerTo("/v1/models", testkit.Status(200, "text/html", "<html>Sign in</html>"))
			}},
		}},
		"auth": {good: stage{options: testkit.ModelOptions{Key: "swordfish"}, prepare: with("swordfish"), says: "without it there is http 401"},
			bad: []stage{
				{options: testkit.ModelOptions{Key: "swordfish"}, status: probe.Fail, says: "none is given"},
				{options: testkit.ModelOptions{Key: "swordfish"}, status: probe.Fail, says: "refused", prepare: with("herring")},
			}},
		"models": {bad: []stage{
			{status: probe.Fail, says: "no model", prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) {
				for range 4 {
					m.AnswerTo("/v1/models", testkit.JSON(200, `{"object":"list","data":[]}`))
				}
			}},
			{status: probe.Warn, says: "not among", prepare: func(_ *testing.T, _ *testkit.Model, o *probe.Options) { o.Model = "other" }},
		}},
		"loaded":  {good: stage{options: lmstudio(8192, "")}, bad: []stage{{options: lmstudio(0, ""), status: probe.Warn, says: "wait"}}},
		"context": {good: stage{options: lmstudio(8192, "")}, bad: []stage{{status: probe.Warn, says: "does not say"}}},
		"context-size": {good: stage{options: lmstudio(8192, "")}, bad: []stage{
			{options: lmstudio(4096, ""), status: probe.Warn, says: "4096 tokens of the 131072"},
			{options: lmstudio(1024, ""), status: probe.Fail, says: "1024"},
		}},
	}
}

func at(path string) func(*testing.T, *testkit.Model, *probe.Options) {
	return func(_ *testing.T, m *testkit.Model, o *probe.Options) { o.Config.BaseURL = "http://" + m.Host() + path }
}

func with(key string) func(*testing.T, *testkit.Model, *probe.Options) {
	return func(_ *testing.T, _ *testkit.Model, o *probe.Options) { o.Config.Key = key }
}

func answerPairs() map[string]pair {
	var whole strings.Builder
	for _, word := range []string{"one ", "two"} {
		whole.WriteString(`data: {"choices":[{"index":0,"delta":{"content":"` + word + `"}}]}` + "\n\n")
	}
	return map[string]pair{
		"answers": {bad: []stage{
			{always: refuse(500, "boom"), status: probe.Fail, says: "http 500: boom"},
			{options: lmstudio(0, ""), status: probe.Fail, says: "No models loaded"},
		}},
		"model-named": {bad: []stage{{answers: script(append([]testkit.Piece{testkit.Named("other")}, hi()...)), status: probe.Warn,
			says: "scripted was asked and other answered"}}},
		"streams": {good: stage{prepare: readFirst}, bad: []stage{
			{answers: script([]testkit.Piece{testkit.Send(whole.String()), testkit.Done()}), status: probe.Warn, says: "2 pieces came at once"},
			{answers: script([]testkit.Piece{testkit.Text("all"), testkit.Done()}), status: probe.Warn, says: "1 piece"},
		}},
		"terminator":    {bad: []stage{{answers: script([]testkit.Piece{testkit.Text("one"), testkit.Finish("stop")}), status: probe.Warn}}},
		"finish-reason": {bad: []stage{{answers: script([]testkit.Piece{testkit.Text("one"), testkit.Done()}), status: probe.Warn}}},
		"usage": {bad: []stage{
			{answers: script([]testkit.Piece{testkit.Text("one"), testkit.Done()}), status: probe.Warn, says: "nothing"},
			{answers: script(refuse(400, "unknown field stream_options"), hi()), status: probe.Warn, says: "refused"},
		}},
		"framing": {bad: []stage{
			{answers: script(append([]testkit.Piece{testkit.Header("Content-Type", "text/plain")}, hi()...)), status: probe.Warn,
				says: "text/plain"},
			{answers: script(append([]testkit.Piece{testkit.Framed(testkit.CloseDelimited)}, hi()...)), status: probe.Warn, says: "connection"},
			{answers: script(append([]testkit.Piece{testkit.Send("log: hello\n\n")}, hi()...)), status: probe.Warn, says: "1 line"},
		}},
		"thoughts": {good: stage{answers: script(hi(), append([]testkit.Piece{testkit.Thought("Hm.")}, say("391")...)),
			says: "reasoning_content"}, bad: []stage{
			{answers: script(hi(), say("Hm, easy.</think>\n\n391")), status: probe.Warn, says: "begins inside a thought"},
			{answers: script(hi(), append([]testkit.Piece{testkit.Thought("Hm.")}, say("<think>More.</think>391")...)), status: probe.Warn,
				says: "in the text"},
		}},
		"thoughts-off": {good: stage{answers: script(append([]testkit.Piece{testkit.Thought("Hm.")}, hi()...), say("391")),
			says: "chat_template_kwargs"}, bad: []stage{
			{always: append([]testkit.Piece{testkit.Thought("Hm.")}, hi()...), status: probe.Warn},
		}},
		"keep-alive": {bad: []stage{{status: probe.Warn, says: "without a byte", prepare: func(_ *testing.T, _ *testkit.Model, o *probe.Options) {
			o.Silence = 1
		}}}},
	}
}

func textPairs() map[string]pair {
	broken := []testkit.Piece{testkit.Frame("{\"choices\":[{\"delta\":{\"content\":\"Gr\xfc\xdfe\"}}]}"), testkit.Done()}
	half := []testkit.Piece{testkit.Frame(`{"choices":[{"delta":{"content":"\ud83c"}}]}`), testkit.Text(" ok"), testkit.Done()}
	halves := []testkit.Piece{testkit.Frame(`{"choices":[{"delta":{"content":"\ud83c"}}]}`),
		testkit.Frame(`{"choices":[{"delta":{"content":"\udf89"}}]}`), testkit.Done()}
	return map[string]pair{
		"utf-8": {bad: []stage{
			{answers: script(hi(), broken), status: probe.Fail, says: "broken"},
			{answers: script(hi(), say("No.")), status: probe.Warn, says: "No."},
		}},
		"emoji":      {good: stage{answers: script(hi(), halves), says: "🎉"}, bad: []stage{{answers: script(hi(), half), status: probe.Fail}}},
		"long-lines": {bad: []stage{{answers: script(hi(), refuse(413, "too large")), status: probe.Fail, says: "16384 bytes: http 413"}}},
		"stop":       then(say("alpha bravo"), say("alpha bravo STOPHERE charlie"), probe.Fail, "past the stop string"),
		"max-tokens": {bad: []stage{
			{answers: script(hi(), []testkit.Piece{testkit.Tokens(400, 0), testkit.Finish("stop"), testkit.Done()}), status: probe.Fail},
			{answers: script(hi(), say("one")), status: probe.Warn, says: "finish_reason"},
		}},
		"temperature-0": {bad: []stage{{answers: script(hi(), refuse(400, "no temperature")), status: probe.Warn}}},
		"seed":          {bad: []stage{{answers: script(hi(), refuse(400, "no seed")), status: probe.Warn}}},
		"extra-fields": {bad: []stage{{answers: script(hi(), hi(), refuse(422, "extra field")), status: probe.Warn,
			says: "does not take top_k"}}},
		"system": then(say("It is marmalade."), say("Sorry."), probe.Warn, "Sorry."),
		"turns":  then(say("Green parrot."), say("A cat."), probe.Warn, "A cat."),
	}
}

func toolPairs() map[string]pair {
	paris := testkit.Call(0, "a", "get_weather", `{"city":"Paris"}`)
	rome := testkit.Call(1, "b", "get_weather", `{"city":"Rome"}`)
	return map[string]pair{
		"tool": then(calls(paris), say("I cannot."), probe.Warn, "no call came"),
		"tool-arguments": then(calls(testkit.Call(0, "a", "get_weather", `{"ci`), testkit.Call(0, "", "", `ty":"Paris"}`)),
			calls(testkit.Call(0, "a", "get_weather", `{"ci`)), probe.Fail, "arguments"),
		"tool-parallel": then(calls(paris, rome), calls(paris), probe.Warn, "1 call"),
		"tool-choice":   then(calls(paris), say("Good morning!"), probe.Warn, "not heeded"),
		"tool-result":   then(say("It rains frogs."), refuse(400, "no tools here"), probe.Warn, "no tools here"),
	}
}

func formatPairs() map[string]pair {
	const lemon, sorted = `{"zest":"thick","apple":false,"mass":80,"colour":"yellow"}`,
		`{"apple":false,"colour":"yellow","mass":80,"zest":"thick"}`
	return map[string]pair{
		"json-object": then(say(`{"answer":42}`), refuse(400, "'response_format.type' must be 'json_schema' or 'text'"), probe.Warn,
			"response_format"),
		"json-schema":  then(say(lemon), say(`{"fruit":"lemon"}`), probe.Warn, "not of the schema"),
		"json-strict":  then(say(lemon), say(`{"zest":"thick","apple":false,"mass":80,"colour":"blue"}`), probe.Warn, "colour"),
		"schema-order": then(say(lemon), say(sorted), probe.Warn, "apple, colour, mass, zest"),
	}
}

func limitPairs() map[string]pair {
	return map[string]pair{
		"preflight": {good: stage{options: lmstudio(8192, ""), says: "8192 tokens, at 4.0 bytes"}, bad: []stage{
			{status: probe.Warn, says: "context"},
			{options: lmstudio(8192, ""), answers: script(hi(), []testkit.Piece{testkit.Text("ready"), testkit.Done()}), status: probe.Warn,
				says: "counted"},
		}},
		"overflow": {good: stage{options: lmstudio(4096, ""), says: "n_ctx"}, bad: []stage{
			{options: lmstudio(4096, testkit.OverflowFrame), status: probe.Warn, says: "n_ctx"},
			{options: lmstudio(4096, testkit.OverflowMLX), status: probe.Warn, says: "Context size"},
			{options: lmstudio(4096, testkit.OverflowEmpty), status: probe.Fail, says: "empty"},
			{options: lmstudio(4096, testkit.OverflowDrop), status: probe.Fail, says: "dropped"},
		}},
		"overflow-empty": {good: stage{options: lmstudio(4096, ""), says: "refused"}, bad: []stage{
			{options: lmstudio(4096, testkit.OverflowEmpty), status: probe.Fail, says: "without a word"}}},
		"error-model": {good: stage{options: testkit.ModelOptions{Models: []testkit.ServedModel{{ID: "only"}}}, says: "404"}, bad: []stage{
			{status: probe.Warn, says: "answered"},
			{answers: script(refuse(500, "boom")), status: probe.Fail, says: "boom"},
			{answers: script([]testkit.Piece{testkit.JSON(404, `{"error":"no such model"}`)}), status: probe.Warn, says: "no such model"},
		}},
		"error-field": {good: stage{answers: script(refuse(400, "temperature must be a number"))}, bad: []stage{
			{status: probe.Warn, says: "answered"},
			{answers: script([]testkit.Piece{testkit.Cut()}), status: probe.Fail, says: "transport closed"},
		}},
	}
}

func loadPairs() map[string]pair {
	long := []testkit.Piece{testkit.Text("one"), testkit.Stall()}
	last := append([]testkit.Piece{testkit.Header("Connection", "close")}, append(hi(), testkit.HangUp())...)
	return map[string]pair{
		"cancel": {good: stage{answers: script(hi(), long)}, bad: []stage{{answers: script(hi(), long, []testkit.Piece{testkit.Stall()}),
			status: probe.Warn, says: "did not begin", prepare: func(_ *testing.T, _ *testkit.Model, o *probe.Options) {
				o.Soon = 20 * time.Millisecond
			}}}},
		"reuse":       {bad: []stage{{answers: script(hi(), last), status: probe.Warn, says: "of its own"}}},
		"concurrency": {good: stage{prepare: sideBySide}, bad: []stage{{prepare: oneByOne, status: probe.Warn, says: "when that was over"}}},
		"retry-after": {good: stage{answers: script(hi(), append([]testkit.Piece{testkit.Header("Retry-After", "7")}, refuse(429, "busy")...)),
			says: "Retry-After: 7"}, bad: []stage{{answers: script(hi(), refuse(503, "busy")), status: probe.Warn, says: "http 503"}}},
	}
}

// onlooker sees what a client has read of its answers.
type onlooker struct {
	*http.Transport
	mu     sync.Mutex
	begun  int             // answers of which a part was read, and more is asked for
	onRead func(begun int) // whenever that is one more
	onEnd  func()          // when an answer is closed
}

func (l *onlooker) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.Transport.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost {
		response.Body = &onlooked{ReadCloser: response.Body, by: l}
	}
	return response, err
}

type onlooked struct {
	io.ReadCloser
	by    *onlooker
	reads int
}

func (b *onlooked) Read(p []byte) (int, error) {
	b.by.mu.Lock()
	if b.reads++; b.reads == 2 {
		b.by.begun++
		b.by.onRead(b.by.begun)
	}
	b.by.mu.Unlock()
	return b.ReadCloser.Read(p)
}

func (b *onlooked) Close() error {
	err := b.ReadCloser.Close()
	b.by.mu.Lock()
	defer b.by.mu.Unlock()
	b.by.onEnd()
	return err
}

func looking(o *probe.Options) *onlooker {
	l := &onlooker{Transport: &http.Transport{}, onRead: func(int) {}, onEnd: func() {}}
	o.Config.Transport = l
	return l
}

// readFirst withholds the rest of an answer until its beginning was read.
func readFirst(_ *testing.T, m *testkit.Model, o *probe.Options) {
	read := make(chan struct{})
	looking(o).onRead = func(int) { close(read) }
	m.Answer(testkit.Text("one"), testkit.Until(read), testkit.Text("two"), testkit.Finish("stop"), testkit.Done())
}

// sideBySide ends no answer before both have begun.
func sideBySide(_ *testing.T, m *testkit.Model, o *probe.Options) {
	both := make(chan struct{})
	looking(o).onRead = func(begun int) {
		if begun == 3 {
			close(both)
		}
	}
	m.Answer(hi()...)
	for range 2 {
		m.Answer(testkit.Text("one"), testkit.Until(both), testkit.Finish("stop"), testkit.Done())
	}
}

// oneByOne begins the second answer when the first is over, and ends the first when the second is asked for.
func oneByOne(t *testing.T, m *testkit.Model, o *probe.Options) {
	asked, over := make(chan struct{}), make(chan struct{})
	ends, l := 0, looking(o)
	l.onEnd = func() {
		if ends++; ends == 2 {
			close(over)
		}
	}
	m.Answer(hi()...)
	m.Answer(testkit.Text("one"), testkit.Until(asked), testkit.Finish("stop"), testkit.Done())
	second := m.Answer(testkit.Until(over), testkit.Text("two"), testkit.Finish("stop"), testkit.Done())
	go func() {
		select {
		case <-second.Started():
			close(asked)
		case <-t.Context().Done():
		}
	}()
}
