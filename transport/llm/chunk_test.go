package llm_test

import (
	"fmt"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

func delta(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }

// Servers differ in nearly every type. No form of an answer costs a word of it.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		name                 string
		frames               []string
		text, thought, calls string
		usage                *messages.Usage
	}{
		{"content in parts", []string{delta(`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), delta(`"content":"c"`)}, "abc", "", "", nil},
		{"thoughts in parts", []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]`)},
			"a", "hm", "", nil},
		{"reasoning", []string{delta(`"reasoning":"hm","content":null`), delta(`"content":"a"`)}, "a", "hm", "", nil},
		{"reasoning twice over", []string{delta(`"reasoning":"hm","reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]`),
			delta(`"content":"a"`)}, "a", "hm", "", nil},
		{"reasoning_details", []string{delta(`"reasoning":null,"reasoning_details":[{"type":"reasoning.summary","summary":"h"},{"type":"reasoning.text","text":"m"},` +
			`{"type":"reasoning.encrypted","data":"xxx"}]`), delta(`"content":"a"`)}, "a", "hm", "", nil},
		{"tags", []string{delta(`"content":"<thi"`), delta(`"content":"nk>hm</think>\n\na"`)}, "a", "hm", "", nil},
		{"tags after a field are text", []string{delta(`"reasoning":"hm"`), delta(`"content":"<think>a</think>"`)}, "<think>a</think>", "hm", "", nil},
		{"refusal", []string{delta(`"refusal":"I will not."`)}, "I will not.", "", "", nil},
		{"surrogates in two frames", []string{delta(`"content":"\ud83c"`), delta(`"content":"\udf89"`)}, "🎉", "", "", nil},
		{"half a surrogate", []string{delta(`"content":"a\ud83c"`)}, "a\uFFFD", "", "", nil},
		{"a rune in two frames", []string{delta("\"content\":\"\xc3\""), delta("\"content\":\"\xa9\"")}, "é", "", "", nil},
		{"escaped names", []string{`{"choices":[{"d\u0065lta":{"cont\u0065nt":"a"}}]}`}, "a", "", "", nil},
		{"error that is null", []string{`{"error":null,"choices":[{"delta":{"content":"a"}}]}`}, "a", "", "", nil},
		{"error that is empty", []string{`{"error":"","choices":[{"delta":{"content":"a"}}]}`}, "a", "", "", nil},
		{"odd types", []string{`{"id":7,"created":1.5,"model":null,"choices":[{"index":"0","delta":{"role":7,"content":"a"},"finish_reason":7}]}`}, "a", "", "", nil},
		{"no delta, no choices", []string{`{"choices":[{"index":0}]}`, `{"choices":null}`, `{"choices":[null]}`, `{"ping":true}`, delta(`"content":"a"`)},
			"a", "", "", nil},
		{"a second choice", []string{`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`}, "a", "", "", nil},
		{"usage in every frame", []string{`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
			`{"choices":[],"usage":{"prompt_tokens":3.0,"completion_tokens":"2","completion_tokens_details":{"reasoning_tokens":1}}}`, `{"choices":[],"usage":null}`},
			"a", "", "", &messages.Usage{PromptTokens: 3, CompletionTokens: 2, ReasoningTokens: 1}},
		{"calls", []string{
			delta(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]`),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}},{"index":1,"id":"c2","function":{"name":"g","arguments":{"y":2}}}]`),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`),
		}, "", "", `[{c1 f {"x":1}} {c2 g {"y":2}}]`, nil},
		{"multi-line frame", []string{"{\"choices\":\ndata: [{\"delta\":\ndata: {\"content\":\"a\"}}]}"}, "a", "", "", nil},
	} {
		m := testkit.NewModel(t)
		var pieces []testkit.Piece
		for _, f := range c.frames {
			pieces = append(pieces, testkit.Frame(f))
		}
		m.Answer(append(pieces, testkit.Done())...)
		h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL()}), hello())
		calls := ""
		if len(h.end.Calls) > 0 {
			calls = fmt.Sprint(h.end.Calls)
		}
		if h.err != nil || h.text != c.text || h.thought != c.thought || calls != c.calls || fmt.Sprint(h.end.Usage) != fmt.Sprint(c.usage) {
			t.Errorf("%s: %s, calls %s, usage %v", c.name, h, calls, h.end.Usage)
		}
	}
}

// An old call without a list is a call, too.
func TestFunctionCall(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Frame(delta(`"function_call":{"name":"f","arguments":"{\"x\":"}`)), testkit.Frame(delta(`"function_call":{"arguments":"1}"}`)),
		testkit.Finish("function_call"), testkit.Done())
	h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL()}), hello())
	if len(h.end.Calls) != 1 || h.end.Calls[0].Name != "f" || h.end.Calls[0].Arguments != `{"x":1}` {
		t.Error(h)
	}
}

// The model that answers may be another one than was asked.
func TestModelThatAnswers(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Named("other"), testkit.Text("a"), testkit.Done())
	if h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL()}), hello()); h.end.Model != "other" || h.err != nil {
		t.Error(h, h.end.Model)
	}
}

// An answer of thoughts alone is whole; whether that is enough is the caller's to say.
func TestThoughtsAlone(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Thought(`{"a":1}`), testkit.Finish("stop"), testkit.Done())
	h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL()}), hello())
	done, _ := h.parts[len(h.parts)-2].(model.ThoughtDone)
	if h.err != nil || h.text != "" || done.Text != `{"a":1}` || done.Source != model.Field {
		t.Errorf("%s, %+v", h, done)
	}
}
