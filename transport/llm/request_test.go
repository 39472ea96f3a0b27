package llm_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// sent is the body that the server got.
func sent(t *testing.T, config llm.Config, r model.Request) map[string]json.RawMessage {
	t.Helper()
	m := testkit.NewModel(t)
	config.BaseURL = m.URL()
	m.Answer(testkit.Text("ok"), testkit.Finish("stop"), testkit.Done())
	if h := listen(t.Context(), client(t, config), r); h.err != nil {
		t.Fatal(h)
	}
	var body map[string]json.RawMessage
	must(t, json.Unmarshal(m.Requests()[0].Body, &body))
	return body
}

func TestRequest(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`)
	r := model.Request{
		Model: "local/model",
		Messages: []model.Message{
			{Role: model.System, Content: "be <brief>"},
			{Role: model.User, Content: ""},
			{Role: model.Assistant, Thoughts: "Hm.", ThoughtsIn: "reasoning_content", Calls: []model.ToolCall{{ID: "c1", Name: "look", Arguments: `{"at":1}`}, {ID: "c2", Name: "wait"}}},
			{Role: model.ToolRole, CallID: "c1", Content: "seen"},
		},
		Tools:  []model.Tool{{Name: "look", Description: "Look.", Parameters: schema}, {Name: "wait"}},
		Choice: "look", Format: &model.Format{Name: "view", Schema: schema, Strict: true},
		MaxTokens: 7, Temperature: new(0.0), TopP: new(0.1), Stop: []string{"END"}, Seed: new(int64(0)),
		Extra: map[string]json.RawMessage{"ttl": json.RawMessage(`300`), "top_k": json.RawMessage(`0`),
			"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false}`)},
	}
	body := sent(t, llm.Config{}, r)
	for name, want := range map[string]string{
		"model": `"local/model"`, "stream": `true`, "stream_options": `{"include_usage":true}`, "max_tokens": `7`,
		"temperature": `0`, "top_p": `0.1`, "seed": `0`, "stop": `["END"]`, "ttl": `300`, "top_k": `0`,
		"chat_template_kwargs": `{"enable_thinking":false}`,
		"tool_choice":          `{"type":"function","function":{"name":"look"}}`,
		"response_format":      `{"type":"json_schema","json_schema":{"name":"view","schema":` + string(schema) + `,"strict":true}}`,
		"tools": `[{"function":{"name":"look","description":"Look.","parameters":` + string(schema) + `},"type":"function"},` +
			`{"function":{"name":"wait","parameters":{"type":"object","properties":{}}},"type":"function"}]`,
		"messages": `[{"content":"be \u003cbrief\u003e","role":"system"},{"content":"","role":"user"},` +
			`{"content":null,"reasoning_content":"Hm.","role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}},` +
			`{"id":"c2","type":"function","function":{"name":"wait","arguments":"{}"}}]},` +
			`{"content":"seen","role":"tool","tool_call_id":"c1"}]`,
	} {
		if got := string(body[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		delete(body, name)
	}
	for name, value := range body {
		t.Errorf("%s is %s, and nobody asked for it", name, value)
	}
}

func TestRequestVariants(t *testing.T) {
	loose := &model.Format{Schema: json.RawMessage(`{}`)}
	for _, c := range []struct {
		name, field, want string
		config            llm.Config
		change            func(*model.Request)
	}{
		{"text", "response_format", "", llm.Config{}, func(*model.Request) {}},
		{"any object", "response_format", `{"type":"json_object"}`, llm.Config{}, func(r *model.Request) { r.Format = &model.Format{} }},
		{"loose schema", "response_format", `{"type":"json_schema","json_schema":{"name":"answer","schema":{},"strict":false}}`,
			llm.Config{}, func(r *model.Request) { r.Format = loose }},
		{"a long message", "messages", `[{"role":"user","content":"` + strings.Repeat(`\u003clong\u003e \"`, 10_000) + `"}]`, llm.Config{}, func(r *model.Request) {
			r.Messages = []model.Message{{Role: model.User, Content: strings.Repeat(`<long> "`, 10_000)}}
		}},
		{"no temperature", "temperature", "", llm.Config{}, func(*model.Request) {}},
		{"choice without tools", "tool_choice", "", llm.Config{}, func(r *model.Request) { r.Choice = "required" }},
		{"choice", "tool_choice", `"required"`, llm.Config{}, func(r *model.Request) {
			r.Choice, r.Tools = "required", []model.Tool{{Name: "f"}}
		}},
		{"a model that refuses max_tokens", "max_completion_tokens", `9`, llm.Config{}, func(r *model.Request) {
			r.Model, r.MaxTokens = "gpt-5-mini", 9
		}},
		{"a server that refuses stream_options", "stream_options", "", llm.Config{Server: &llm.ServerProfile{NoUsage: true}},
			func(*model.Request) {}},
		{"temperature of a reasoning model", "temperature", `0.5`, llm.Config{}, func(r *model.Request) {
			r.Model, r.Temperature = "o3", new(0.5)
		}},
	} {
		r := hello()
		c.change(&r)
		if got := string(sent(t, c.config, r)[c.field]); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.field, got, c.want)
		}
	}
}

// What cannot be sent is invalid_input, and no server hears of it.
func TestRequestRefused(t *testing.T) {
	for name, change := range map[string]func(*model.Request){
		"temperature": func(r *model.Request) { r.Temperature = new(math.NaN()) },
		"not JSON":    func(r *model.Request) { r.Extra = map[string]json.RawMessage{"ttl": json.RawMessage(`{`)} },
		"stream":      func(r *model.Request) { r.Extra = map[string]json.RawMessage{"stream": json.RawMessage(`false`)} },
		"answers":     func(r *model.Request) { r.Extra = map[string]json.RawMessage{"n": json.RawMessage(`2`)} },
		"schema":      func(r *model.Request) { r.Format = &model.Format{Schema: json.RawMessage(`{`)} },
		"tool":        func(r *model.Request) { r.Tools = []model.Tool{{Name: "f", Parameters: json.RawMessage(`{`)}} },
	} {
		m, r := testkit.NewModel(t), hello()
		change(&r)
		h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL()}), r)
		if h.ends != 1 || messages.CodeOf(h.err) != "invalid_input" || len(m.Requests()) > 0 {
			t.Errorf("%s: %s, %d requests", name, h, len(m.Requests()))
		}
	}
}

func TestRequestTooLarge(t *testing.T) {
	m := testkit.NewModel(t)
	c := client(t, llm.Config{BaseURL: m.URL(), Limits: llm.Limits{RequestBytes: 1 << 10}})
	r := hello()
	r.Messages[0].Content = strings.Repeat("x", 1<<10)
	h := listen(t.Context(), c, r)
	if messages.CodeOf(h.err) != "limit_exceeded" || !strings.Contains(h.err.Error(), "larger than 1024 bytes") || len(m.Requests()) > 0 {
		t.Errorf("%s, %d requests", h, len(m.Requests()))
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]llm.Config{
		"nothing":            {},
		"no scheme":          {BaseURL: "localhost:1234/v1"},
		"another scheme":     {BaseURL: "file:///v1"},
		"password":           {BaseURL: "http://user:sesame@host/v1"},
		"query":              {BaseURL: "http://host/v1?key=sesame"},
		"key file":           {BaseURL: "http://host/v1", KeyFile: "testdata/none"},
		"no key in file":     {BaseURL: "http://host/v1", KeyFile: "testdata"},
		"key with line end":  {BaseURL: "http://host/v1", Key: "sesame\nopen"},
		"certificates":       {BaseURL: "http://host/v1", CAFile: "testdata/llm-streams.json"},
		"no certificates":    {BaseURL: "http://host/v1", CAFile: "testdata/none"},
		"proxy":              {BaseURL: "http://host/v1", Proxy: "ftp://sesame"},
		"not a URL, at all":  {BaseURL: "http://[sesame/v1"},
		"proxy is not a URL": {BaseURL: "http://host/v1", Proxy: "%sesame"},
	} {
		_, err := llm.New(c)
		if messages.CodeOf(err) != "invalid_input" || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server is not sent what it refuses.
func TestRefusedFields(t *testing.T) {
	m, r := testkit.NewModel(t), hello()
	r.Temperature, r.TopP, r.Seed, r.Stop = new(0.5), new(0.9), new(int64(7)), []string{"x"}
	r.Extra = map[string]json.RawMessage{"ttl": json.RawMessage("300"), "top_k": json.RawMessage("40")}
	all := []string{"temperature", "top_p", "seed", "stop", "ttl"}
	for _, server := range []*llm.ServerProfile{nil, {Refuses: all}} {
		c := client(t, llm.Config{BaseURL: m.URL(), Proxy: "none", Server: server})
		if h := listen(t.Context(), c, r); h.err != nil {
			t.Fatal(h)
		}
	}
	for i, sent := range m.Requests() {
		var body map[string]json.RawMessage
		must(t, json.Unmarshal(sent.Body, &body))
		for _, field := range append(all, "top_k") {
			if want := i == 0 || field == "top_k"; (body[field] != nil) != want {
				t.Errorf("request %d has %s: %v, want %v", i, field, !want, want)
			}
		}
	}
	if len(r.Extra) != 2 || r.Temperature == nil {
		t.Error("the caller's request was changed")
	}
}

// What is known of one model's thoughts says nothing of another's.
func TestDialectOfAModel(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hm.</think>Hello"), testkit.Finish("stop"), testkit.Done())
	for _, c := range []struct{ of, asked, text, thought string }{
		{"", "m", "Hello", "Hm."}, {"m", "m", "Hello", "Hm."}, {"m", "", "Hello", "Hm."}, {"other", "m", "Hm.</think>Hello", ""},
	} {
		server, r := &llm.ServerProfile{Thoughts: "implicit", Model: c.of}, hello()
		r.Model = c.asked
		h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL(), Proxy: "none", Server: server}), r)
		if h.text != c.text || h.thought != c.thought || h.end.Verdict.Outcome != model.Completed {
			t.Errorf("%+v: %s", c, h)
		}
	}
}

// An answer whose thoughts are switched off does not begin inside one.
func TestThoughtsSwitchedOff(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hello"), testkit.Finish("stop"), testkit.Done())
	off := map[string]json.RawMessage{"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false}`)}
	c := client(t, llm.Config{BaseURL: m.URL(), Proxy: "none", Server: &llm.ServerProfile{Thoughts: "implicit", Off: off}})
	r := hello()
	if h := listen(t.Context(), c, r); h.thought != "Hello" {
		t.Errorf("on: %s", h)
	}
	if r.Extra = off; listen(t.Context(), c, r).text != "Hello" {
		t.Error("off: the answer is taken for a thought")
	}
}

const (
	knownKey   = "sk-sesame-Sesame-0123"
	knownToken = "t0ken-of-the-gardener"
)

// keyed is a client whose process knows a key and a token.
func keyed(t *testing.T, m *testkit.Model) *llm.Client {
	secrets := new(redact.Secrets)
	secrets.Add("token", knownToken)
	return client(t, llm.Config{BaseURL: m.URL(), Key: knownKey, Secrets: secrets, Retries: -1})
}

// Whatever a model says of a secret, and however its pieces cut it, no part of the answer has it.
func TestAnswersHoldNoSecret(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + knownToken))
	for _, said := range []string{knownKey, knownToken, basic, strings.ReplaceAll(knownToken, "-", `\u002d`)} {
		for size := range len(said) {
			m := testkit.NewModel(t)
			var pieces []testkit.Piece
			for _, kind := range []func(string) testkit.Piece{testkit.Thought, testkit.Text,
				func(s string) testkit.Piece { return testkit.Call(0, "c", "f", s) }} {
				for text := "It is " + said + "."; text != ""; {
					n := min(size+1, len(text))
					pieces, text = append(pieces, kind(text[:n])), text[n:]
				}
			}
			m.Answer(append(pieces, testkit.Finish("stop"), testkit.Done())...)
			h := listen(t.Context(), keyed(t, m), hello())
			var arguments strings.Builder
			for _, p := range h.parts {
				switch p := p.(type) {
				case model.CallDelta:
					arguments.WriteString(p.Arguments)
				case model.ThoughtDone:
					if p.Text != h.thought {
						t.Errorf("the thought %q ends as %q", h.thought, p.Text)
					}
				}
			}
			all := fmt.Sprintf("%+v", h.parts)
			if h.err != nil || strings.Contains(all, said) || strings.Contains(all, said[:len(said)-1]) {
				t.Fatalf("pieces of %d: %s", size+1, h)
			}
			if want := h.end.Calls[0].Arguments; arguments.String() != want || strings.Contains(want, said) {
				t.Errorf("pieces of %d: the arguments are %q, then %q", size+1, arguments.String(), want)
			}
			if !strings.HasPrefix(h.text, "It is ") || !strings.HasSuffix(h.text, ".") || !strings.HasPrefix(h.thought, "It is ") {
				t.Errorf("pieces of %d: %s", size+1, h)
			}
		}
	}
}

// An answer that is cut within a secret does not show the half of it that came.
func TestCutAnswersHoldNoSecret(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Text("It is "+knownKey[:8]), testkit.Text(knownKey[8:16]), testkit.Cut())
	h := listen(t.Context(), keyed(t, m), hello())
	if h.end.Verdict.Cause != messages.CauseTransportClosed || h.text != "It is [key]" {
		t.Error(h)
	}
}

// What is no beginning of a secret is given at once.
func TestAnswersAreNotHeldBack(t *testing.T) {
	m, gate := testkit.NewModel(t), make(chan struct{})
	m.Answer(testkit.Text("Sesame opens, s"), testkit.Until(gate), testkit.Text("he said"), testkit.Done())
	text := ""
	for part := range keyed(t, m).Stream(t.Context(), hello()) {
		p, ok := part.(model.Text)
		if text == "" && ok {
			if p.Text != "Sesame opens, " {
				t.Errorf("first came %q", p.Text)
			}
			close(gate)
		}
		text += p.Text
	}
	if text != "Sesame opens, she said" {
		t.Errorf("got %q", text)
	}
}

// A secret that came with what a model is to read does not reach its server.
func TestRequestsHoldNoSecret(t *testing.T) {
	m, r := testkit.NewModel(t), hello()
	r.Messages[0].Content = "the README says " + knownToken
	listen(t.Context(), keyed(t, m), r)
	if got := m.Requests()[0].Chat.Messages[0].Content; string(got) == "" || strings.Contains(fmt.Sprint(got), knownToken) {
		t.Errorf("the server was sent %q", got)
	}
}

// What a server says of its models, and its failures, holds none of the process's secrets either.
func TestServersWordsHoldNoSecret(t *testing.T) {
	for name, said := range map[string]string{
		"plain": knownToken, "URL": strings.ReplaceAll(knownToken, "-", "%2D"),
		"JSON": strings.ReplaceAll(knownToken, "-", `\u002D`),
	} {
		m := testkit.NewModel(t)
		m.AnswerTo("/v1/models", standin.JSON(200, `{"data":[{"id":"`+said+`","owned_by":"vllm"}]}`))
		m.Answer(standin.JSON(400, `{"error":{"message":"no `+said+`","code":"`+said+`"}}`))
		c := keyed(t, m)
		_, list, err := c.Models(t.Context())
		h := listen(t.Context(), c, hello())
		if all := fmt.Sprintf("%+v %v %+v %+v", list, err, h, h.end); h.err == nil || strings.Contains(all, said) ||
			strings.Contains(all, knownToken) || len(list) != 1 {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// A word that servers' documents give for a key is no secret.
func TestKeyThatIsNone(t *testing.T) {
	if h := answered(t, llm.Config{Key: "lm-studio"}, testkit.Text("start lm-studio"), testkit.Done()); h.text != "start lm-studio" {
		t.Error(h)
	}
}
