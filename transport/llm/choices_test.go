package llm_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// told is what a client makes of frames that end with [DONE].
func told(t *testing.T, frames ...string) *heard {
	t.Helper()
	var pieces []testkit.Piece
	for _, f := range frames {
		pieces = append(pieces, standin.Frame(f))
	}
	return answered(t, llm.Config{}, append(pieces, testkit.Done())...)
}

func chosen(fields string) string { return `{"choices":[{` + fields + `}]}` }

// Issue: "Choices by index, one stream each: the answer is choice 0", and what stands in the place of a delta is
// text.
func TestChoices(t *testing.T) {
	for _, c := range frames(t, "choices") {
		h := told(t, c[4:]...)
		var calls strings.Builder
		for _, call := range h.end.Calls {
			calls.WriteString(call.Arguments)
		}
		if h.err != nil || strconv.Quote(h.text) != c[1] || h.thought != c[2] || calls.String() != c[3] {
			t.Errorf("%s: %s", c[0], h)
		}
	}
}

// A choice that is not the answer completes nothing.
func TestOtherChoicesAlone(t *testing.T) {
	h := told(t, chosen(`"index":1,"delta":{"content":"Bonjour"},"finish_reason":"stop"`))
	if h.end.Verdict.Cause != messages.CauseEmptyCompletion || h.text != "" {
		t.Error(h)
	}
}

// Issue: "finish_reason in every spelling", and in every place where one is put.
func TestFinishes(t *testing.T) {
	meanings := []string{"unfinished", "stopped", "unknown", "truncated", "filtered", "broken"}
	long := chosen(`"finish_reason":"` + strings.Repeat("x", 9000) + `"`)
	for _, c := range append(frames(t, "finishes"), []string{"long", strings.Repeat("x", 100), "unknown", long}) {
		h, want := told(t, append([]string{chosen(`"delta":{"content":"a"}`)}, c[3:]...)...), model.Finish(slices.Index(meanings, c[2]))
		v := h.end.Verdict
		if h.end.Evidence.Finish != c[1] || model.FinishOf(h.end.Evidence.Finish) != want || v.Truncated != (want == model.Truncated) ||
			v.Filtered != (want == model.Filtered) || (v.Cause == messages.CauseProviderError) != (want == model.Broken) {
			t.Errorf("%s: %s, finish %q", c[0], h, h.end.Evidence.Finish)
		}
	}
}

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
			"a", "", "", &messages.Usage{PromptTokens: new(int64(3)), CompletionTokens: new(int64(2)), ReasoningTokens: new(int64(1))}},
		{"calls", []string{
			delta(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]`),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}},{"index":1,"id":"c2","function":{"name":"g","arguments":{"y":2}}}]`),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`),
		}, "", "", `[{c1 f {"x":1} } {c2 g {"y":2} }]`, nil},
		{"an old call", []string{delta(`"function_call":{"name":"f","arguments":"{\"x\":"}`), delta(`"function_call":{"arguments":"1}"}`),
			chosen(`"finish_reason":"function_call"`)}, "", "", `[{call_0 f {"x":1} }]`, nil},
		{"multi-line frame", []string{"{\"choices\":\ndata: [{\"delta\":\ndata: {\"content\":\"a\"}}]}"}, "a", "", "", nil},
	} {
		h, calls := told(t, c.frames...), ""
		if len(h.end.Calls) > 0 {
			calls = fmt.Sprint(h.end.Calls)
		}
		if h.err != nil || h.text != c.text || h.thought != c.thought || calls != c.calls || !reflect.DeepEqual(h.end.Usage, c.usage) {
			t.Errorf("%s: %s, calls %s, usage %v", c.name, h, calls, h.end.Usage)
		}
	}
}

// The model that answers may be another one than was asked.
func TestModelThatAnswers(t *testing.T) {
	if h := answered(t, llm.Config{}, standin.Named("other"), testkit.Text("a"), testkit.Done()); h.end.Model != "other" || h.err != nil {
		t.Error(h, h.end.Model)
	}
}

// An answer of thoughts alone is whole; whether that is enough is the caller's to say.
func TestThoughtsAlone(t *testing.T) {
	h := answered(t, llm.Config{}, testkit.Thought(`{"a":1}`), testkit.Finish("stop"), testkit.Done())
	done, _ := h.parts[len(h.parts)-2].(model.ThoughtDone)
	if h.err != nil || h.text != "" || done.Text != `{"a":1}` || done.Source != model.Field {
		t.Errorf("%s, %+v", h, done)
	}
}
