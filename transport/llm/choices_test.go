package llm_test

import (
	"fmt"
	"reflect"
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
	for _, c := range []struct {
		name                 string
		frames               []string
		text, thought, calls string
	}{
		{"frame by frame", []string{chosen(`"index":0,"delta":{"content":"Hel"}`), chosen(`"index":1,"delta":{"content":"Bon"}`),
			chosen(`"index":0,"delta":{"content":"lo"}`), chosen(`"index":1,"delta":{"content":"jour"}`)}, "Hello", "", ""},
		{"the other first", []string{chosen(`"index":1,"delta":{"content":"Bonjour"}`), chosen(`"index":"0","delta":{"content":"Hello"}`)}, "Hello", "", ""},
		{"in one frame, the other first", []string{`{"choices":[{"index":1,"delta":{"content":"Bonjour"}},{"index":0.0,"delta":{"content":"Hello"}}]}`}, "Hello", "", ""},
		{"without numbers", []string{`{"choices":[{"delta":{"content":"Hello"}},{"delta":{"content":"Bonjour"}}]}`}, "Hello", "", ""},
		{"calls and thoughts of another", []string{chosen(`"index":1,"delta":{"reasoning":"h","tool_calls":[{"index":0,"id":"x","function":{"name":"g","arguments":"{}"}}]}`),
			chosen(`"index":0,"delta":{"content":"Hello"}`)}, "Hello", "", ""},
		{"message", []string{chosen(`"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"`)}, "Hello", "", ""},
		{"message in pieces", []string{chosen(`"message":{"content":"ha"}`), chosen(`"message":{"content":"ha"}`)}, "haha", "", ""},
		{"message that grows", []string{chosen(`"message":{"content":"Hel"}`), chosen(`"message":{"content":"Hello"}`), chosen(`"message":{"content":"Hello"}`)}, "Hello", "", ""},
		{"message and empty delta", []string{chosen(`"delta":{},"message":{"content":"Hello"}`)}, "Hello", "", ""},
		{"message that repeats", []string{chosen(`"delta":{"content":"Hel"}`), chosen(`"delta":{"content":"lo"}`), chosen(`"message":{"content":"Hello"},"finish_reason":"stop"`)}, "Hello", "", ""},
		{"message beside each delta", []string{chosen(`"delta":{"content":"Hel"},"message":{"content":"Hel"}`), chosen(`"delta":{"content":"lo"},"message":{"content":"Hello"}`)}, "Hello", "", ""},
		{"message that was trimmed", []string{chosen(`"delta":{"content":"\nHello "}`), chosen(`"message":{"content":"Hello"}`)}, "\nHello ", "", ""},
		{"message with more", []string{chosen(`"delta":{"content":"Hel"}`), chosen(`"message":{"content":"Hello"}`)}, "Hello", "", ""},
		{"message without the thought", []string{chosen(`"delta":{"content":"<think>hm</think>Hello"}`), chosen(`"message":{"content":"Hello"}`)}, "Hello", "hm", ""},
		{"thought that repeats", []string{chosen(`"delta":{"reasoning_content":"hm"}`), chosen(`"delta":{"content":"a"}`),
			chosen(`"message":{"content":"a","reasoning_content":"hm"}`)}, "a", "hm", ""},
		{"call that repeats", []string{chosen(`"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"x\":1}"}}]}`),
			chosen(`"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"`)}, "", "", `{"x":1}`},
		{"call in a message", []string{chosen(`"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"x\":1}"}}]}`)}, "", "", `{"x":1}`},
		{"text", []string{chosen(`"text":"1"`), chosen(`"text":"10"`), chosen(`"text":"","finish_reason":"stop"`)}, "110", "", ""},
		{"text that repeats", []string{chosen(`"delta":{"content":"Hel"},"text":"Hel"`), chosen(`"delta":{"content":"lo"},"text":"Hello"`)}, "Hello", "", ""},
		{"delta that is a string", []string{chosen(`"delta":"Hel"`), chosen(`"delta":"lo"`)}, "Hello", "", ""},
		{"refusal in a message", []string{chosen(`"message":{"content":null,"refusal":"I will not."}`)}, "I will not.", "", ""},
		{"refusal that repeats", []string{chosen(`"delta":{"refusal":"I will"}`), chosen(`"delta":{"refusal":" not."}`), chosen(`"message":{"refusal":"I will not."}`)}, "I will not.", "", ""},
		{"refusal as a part", []string{chosen(`"delta":{"content":[{"type":"refusal","refusal":"I will not."}]}`)}, "I will not.", "", ""},
	} {
		h := told(t, c.frames...)
		var calls strings.Builder
		for _, call := range h.end.Calls {
			calls.WriteString(call.Arguments)
		}
		if h.err != nil || h.text != c.text || h.thought != c.thought || calls.String() != c.calls {
			t.Errorf("%s: %s", c.name, h)
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
	for _, c := range []struct {
		name, frame string
		finish      string // as evidence
		want        model.Finish
	}{
		{"synonym", chosen(`"finish_reason":"MAX_TOKENS"`), "MAX_TOKENS", model.Truncated},
		{"object", chosen(`"finish_reason":{"type":"length","length":8}`), "length", model.Truncated},
		{"details", chosen(`"finish_details":{"type":"max_tokens"}`), "max_tokens", model.Truncated},
		{"camel case", chosen(`"finishReason":"SAFETY"`), "SAFETY", model.Filtered},
		{"of another choice", `{"choices":[{"index":1,"finish_reason":"length"},{"index":0,"finish_reason":"stop"}]}`, "stop", model.Stopped},
		{"details before a stop", chosen(`"finish_details":{"type":"max_tokens"},"finish_reason":"stop"`), "max_tokens", model.Truncated},
		{"in the delta", chosen(`"delta":{"finish_reason":"length"}`), "length", model.Truncated},
		{"in the message", chosen(`"message":{"FinishReason":"content_filter"}`), "content_filter", model.Filtered},
		{"object without a type", chosen(`"finish_reason":{"reason":"length"}`), `{"reason":"length"}`, model.Truncated},
		{"stop_reason alone", chosen(`"delta":{},"stop_reason":"max_tokens"`), "max_tokens", model.Truncated},
		{"stop_reason beside a stop", chosen(`"finish_reason":"stop","stop_reason":"length"`), "stop", model.Stopped},
		{"stop_reason that is a token", chosen(`"finish_reason":"stop","stop_reason":128009`), "stop", model.Stopped},
		{"beside the choices, otherwise", `{"choices":[],"finishReason":"length"}`, "length", model.Truncated},
		{"truncated", `{"choices":[{"delta":{}}],"is_truncated":true}`, "is_truncated", model.Truncated},
		{"graver native", chosen(`"finish_reason":"stop","native_finish_reason":"MALFORMED_FUNCTION_CALL"`), "MALFORMED_FUNCTION_CALL", model.Broken},
		{"unknown native", chosen(`"finish_reason":"stop","native_finish_reason":"xyzzy"`), "stop", model.Stopped},
		{"beside the choices", `{"choices":[],"finish_reason":"network_error"}`, "network_error", model.Broken},
		{"sensitive output", `{"choices":[],"input_sensitive":false,"output_sensitive":true}`, "output_sensitive", model.Filtered},
		{"word for null", chosen(`"finish_reason":"null"`), "", model.Unfinished},
		{"number", chosen(`"finish_reason":7`), "7", model.Unknown},
		{"unknown", chosen(`"finish_reason":"xyzzy"`), "xyzzy", model.Unknown},
		{"long", chosen(`"finish_reason":"` + strings.Repeat("x", 9000) + `"`), strings.Repeat("x", 100), model.Unknown},
		{"a stop after a cut", chosen(`"finish_reason":"length"`) + "\n\ndata: " + chosen(`"delta":{},"finish_reason":"stop"`), "length", model.Truncated},
		{"a cut before more", chosen(`"finish_reason":"length"`) + "\n\ndata: " + chosen(`"delta":{"content":"b"},"finish_reason":"stop"`), "stop", model.Stopped},
		{"an error before more", chosen(`"finish_reason":"error"`) + "\n\ndata: " + chosen(`"delta":{"content":"b"},"finish_reason":"stop"`), "error", model.Broken},
	} {
		h := told(t, chosen(`"delta":{"content":"a"}`), c.frame)
		v := h.end.Verdict
		if h.end.Evidence.Finish != c.finish || model.FinishOf(h.end.Evidence.Finish) != c.want || v.Truncated != (c.want == model.Truncated) ||
			v.Filtered != (c.want == model.Filtered) || (v.Cause == messages.CauseProviderError) != (c.want == model.Broken) {
			t.Errorf("%s: %s, finish %q", c.name, h, h.end.Evidence.Finish)
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
		h := told(t, c.frames...)
		calls := ""
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
