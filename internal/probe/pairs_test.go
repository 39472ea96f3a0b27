package probe_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/testkit"
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
	return []testkit.Piece{standin.JSON(status, `{"error":{"message":"`+words+`","type":"invalid_request_error"}}`)}
}

func calls(pieces ...testkit.Piece) []testkit.Piece {
	return append(pieces, testkit.Finish("tool_calls"), testkit.Done())
}

func lmstudio(context int) testkit.ModelOptions {
	return testkit.ModelOptions{Dialect: standin.LMStudio,
		Models: []standin.ServedModel{{ID: "qwen3-8b", Loaded: context > 0, Context: context}}}
}

func pairs() map[string]pair {
	all := map[string]pair{}
	for _, some := range []map[string]pair{serverPairs(), answerPairs(), requestPairs(), cancelPairs()} {
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
			{status: probe.Fail, says: "http 200 with JSON that is no list", options: lmstudio(8192), prepare: at("/v2")},
			{status: probe.Fail, says: "a web page", prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) {
				for range 2 {
					m.AnswerTo("/v1/models", standin.Status(200, "text/html", "<html>Sign in</html>"))
				}
			}},
		}},
		"auth": {good: stage{options: testkit.ModelOptions{Key: "swordfish"}, prepare: with("swordfish"), says: "http 401 without it"},
			bad: []stage{
				{options: testkit.ModelOptions{Key: "swordfish"}, status: probe.Fail, says: "none is set"},
				{options: testkit.ModelOptions{Key: "swordfish"}, status: probe.Fail, says: "refuses the key", prepare: with("herring")},
			}},
		"models": {bad: []stage{
			{status: probe.Fail, says: "no model", prepare: func(_ *testing.T, m *testkit.Model, _ *probe.Options) {
				for range 8 {
					m.AnswerTo("/v1/models", standin.JSON(200, `{"object":"list","data":[]}`))
				}
			}},
			{status: probe.Warn, says: "not among", prepare: func(_ *testing.T, _ *testkit.Model, o *probe.Options) { o.Model = "other" }},
		}},
		"loaded": {good: stage{options: lmstudio(8192)}, bad: []stage{{options: lmstudio(0), status: probe.Warn, says: "waits"}}},
		"context-size": {good: stage{options: lmstudio(8192)}, bad: []stage{
			{options: lmstudio(4096), status: probe.Warn, says: "4096 tokens of the model's 131072"},
			{options: lmstudio(1024), status: probe.Fail, says: "1024"},
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
	return map[string]pair{
		"answers": {bad: []stage{
			{always: refuse(500, "boom"), status: probe.Fail, says: "http 500: boom"},
			{options: lmstudio(0), status: probe.Fail, says: "No models loaded"},
		}},
		"model-named": {bad: []stage{{answers: script(append([]testkit.Piece{standin.Named("other")}, hi()...)), status: probe.Warn,
			says: "scripted was asked, and other answered"}}},
		"streams": {good: stage{prepare: readFirst}, bad: []stage{
			{answers: script([]testkit.Piece{testkit.Text("all"), testkit.Done()}), status: probe.Warn, says: "1 piece"},
		}},
		"terminator": {bad: []stage{{answers: script([]testkit.Piece{testkit.Text("one"), testkit.Finish("stop")}), status: probe.Warn}}},
		"thoughts": {good: stage{answers: script(hi(), append([]testkit.Piece{testkit.Thought("Hm.")}, say("391")...)),
			says: "a separate field"}, bad: []stage{
			{answers: script(hi(), say("Hm, easy.</think>\n\n391")), status: probe.Warn, says: "begins inside a thought"},
			{answers: script(hi(), append([]testkit.Piece{testkit.Thought("Hm.")}, say("<think>More.</think>391")...)), status: probe.Warn,
				says: "in the text"},
		}},
		"thoughts-off": {good: stage{answers: script(append([]testkit.Piece{testkit.Thought("Hm.")}, hi()...), say("391")),
			says: "chat_template_kwargs"}, bad: []stage{
			{always: append([]testkit.Piece{testkit.Thought("Hm.")}, hi()...), status: probe.Warn},
		}},
	}
}

func requestPairs() map[string]pair {
	const lemon = `{"zest":"thick","colour":"yellow"}`
	paris := testkit.Call(0, "a", "get_weather", `{"city":"Paris"}`)
	return map[string]pair{
		"fields": {bad: []stage{
			{answers: script(hi(), hi(), refuse(400, "no seed"), hi(), hi(), refuse(422, "no top_k")), status: probe.Warn,
				says: "refuses seed, top_k"},
			{answers: script(hi(), refuse(429, "busy"), refuse(400, "no seed")), status: probe.Warn, says: "refuses seed"},
			{answers: script(hi(), refuse(429, "busy")), status: probe.Warn, says: "chat_template_kwargs: http 429: busy"},
		}},
		"max-tokens": {good: stage{answers: script(hi(), []testkit.Piece{testkit.Text("one"), testkit.Finish("length"),
			testkit.Done()})}, bad: []stage{
			{answers: script(hi(), []testkit.Piece{testkit.Tokens(400, 0), testkit.Finish("stop"), testkit.Done()}), status: probe.Fail},
			{answers: script(hi(), say("one")), status: probe.Warn, says: "finish_reason"},
		}},
		"tool": {good: stage{answers: script(hi(), calls(testkit.Call(0, "a", "get_weather", `{"ci`),
			testkit.Call(0, "", "", `ty":"Paris"}`)))}, bad: []stage{
			{answers: script(hi(), say("I cannot.")), status: probe.Warn, says: "called no tool"},
			{answers: script(hi(), calls(testkit.Call(0, "a", "get_time", `{}`))), status: probe.Warn, says: "not offered"},
			{answers: script(hi(), calls(testkit.Call(0, "a", "get_weather", `{"ci`))), status: probe.Fail, says: "arguments"},
		}},
		"json": {good: stage{answers: script(hi(), say(lemon)), says: "json_schema strict"}, bad: []stage{
			{answers: script(hi(), say(`{"fruit":"lemon"}`), say(lemon)), status: probe.Warn,
				says: `json_schema strict fails: the answer does not keep to the schema: "{\"fruit`},
			{answers: script(hi(), say(strings.Replace(lemon, "yellow", "blue", 1)), say(lemon)), status: probe.Warn, says: "blue"},
			{answers: script(hi(), []testkit.Piece{testkit.Thought(lemon), testkit.Done()}, hi(), say(`{"answer":42}`)),
				status: probe.Warn, says: "only a thought came"},
			{answers: script(hi(), refuse(400, "'response_format.type' must be 'json_schema' or 'text'"), hi(), hi(), calls(paris)),
				status: probe.Warn, says: "response_format"},
			{status: probe.Warn, says: "only the prompt"},
			{answers: script(hi(), refuse(500, "boom"), say(lemon)), status: probe.Warn, says: "json_schema works; json_schema strict is not known: http 500: boom"},
			{answers: script(hi(), []testkit.Piece{testkit.Text(`{"zest":"aaaa`), testkit.Finish("length"), testkit.Done()}), status: probe.Warn,
				says: "json_schema strict is not known: the answer was cut after 13 bytes"},
		}},
	}
}

func cancelPairs() map[string]pair {
	long := []testkit.Piece{testkit.Text("one"), testkit.Stall()}
	return map[string]pair{
		"cancel": {good: stage{answers: script(hi(), long)}, bad: []stage{{answers: script(hi(), long, []testkit.Piece{testkit.Stall()}),
			status: probe.Warn, says: "did not begin", prepare: func(_ *testing.T, _ *testkit.Model, o *probe.Options) {
				o.Soon = 20 * time.Millisecond
			}}}},
	}
}

// onlooker calls read when the client asks for the rest of an answer.
type onlooker struct {
	*http.Transport
	read func()
}

func (l *onlooker) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.Transport.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost {
		response.Body = &onlooked{response.Body, l.read, 0}
	}
	return response, err
}

type onlooked struct {
	io.ReadCloser
	read  func()
	reads int
}

func (b *onlooked) Read(p []byte) (int, error) {
	if b.reads++; b.reads == 2 {
		b.read()
	}
	return b.ReadCloser.Read(p)
}

// readFirst holds the rest of an answer back until 2 ms after the client has read the beginning.
func readFirst(_ *testing.T, m *testkit.Model, o *probe.Options) {
	read := make(chan struct{})
	o.Config.Transport = &onlooker{&http.Transport{}, func() { time.AfterFunc(2*time.Millisecond, func() { close(read) }) }}
	m.Answer(testkit.Text("one"), testkit.Until(read), testkit.Text("two"), testkit.Finish("stop"), testkit.Done())
}
