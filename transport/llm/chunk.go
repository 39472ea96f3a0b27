package llm

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/jsonwalk"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// chunk is one frame: its members as raw JSON, nil if it lacks them. Servers differ in nearly every type; values of
// unexpected types are ignored.
type chunk struct {
	raw                   []byte
	model, usage, choices []byte
	message               []byte // of Ollama
	finish, flag          []byte // beside the choices
	kind                  string // its member "object"
	whole                 bool   // it is a JSON object
	failed                bool   // it has an error outside its choices
}

func (c *chunk) read(frame []byte) {
	*c = chunk{raw: frame}
	c.whole = jsonwalk.Object(frame, c.member)
	c.failed = c.failed && c.whole
}

func (c *chunk) member(key, value []byte) {
	switch string(key) {
	case "model":
		c.model = value
	case "usage":
		c.usage = value
	case "choices":
		c.choices = value
	case "object":
		if c.kind = "chat.completion.chunk"; string(value) != `"chat.completion.chunk"` {
			c.kind = jsonwalk.Text(value)
		}
	case "input_sensitive", "output_sensitive", "truncated", "is_truncated": // MiniMax's, Ernie's
		if string(value) == "true" {
			c.flag = []byte(`"` + string(key) + `"`)
		}
	case "base_resp": // MiniMax's, where 0 is success
		c.failed = c.failed || fails(value, "status_code")
	default: // Groq puts an error inside x_groq
		if isFinish(key) {
			c.finish = worse(c.finish, value)
		}
		c.failed = c.failed || isError(key, value) || reportsFailure(key, value) || holdsError(value)
	}
}

// choice holds the members of one choice in a frame.
type choice struct {
	index, finish, native []byte
	text                  []byte // instead of a delta
	delta, message        delta
	failed                bool // it has an error of its own
}

// delta holds the members of a delta or of a message.
type delta struct {
	content, refusal, calls, function          []byte
	reasoningContent, reasoning, reasoningList []byte
	finish                                     []byte
	failed                                     bool
}

func (v *choice) read(value []byte) {
	*v = choice{}
	var stop []byte
	jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "index":
			v.index = value
		case "native_finish_reason":
			v.native = value
		case "stop_reason":
			stop = value
		case "delta":
			v.delta.read(value)
		case "message":
			v.message.read(value)
		case "text":
			v.text = value
		default:
			if isFinish(key) {
				v.finish = worse(v.finish, value)
			}
			v.failed = v.failed || isError(key, value)
		}
	})
	v.finish = worse(worse(v.finish, v.delta.finish), v.message.finish)
	if absent(v.finish) && len(stop) > 0 && stop[0] == '"' { // with a finish_reason, stop_reason is the stop string
		v.finish = stop
	}
	v.failed = v.failed || v.delta.failed || v.message.failed
}

// number is the choice's index, or its place in the list if it has none.
func (v *choice) number(place int) int64 {
	if absent(v.index) {
		return int64(place)
	}
	return count(v.index)
}

func (s *delta) read(value []byte) {
	if value[0] == '"' {
		s.content = value
	}
	jsonwalk.Object(value, s.member)
}

func (s *delta) member(key, value []byte) {
	switch string(key) {
	case "content":
		s.content = value
	case "refusal":
		s.refusal = value
	case "tool_calls":
		s.calls = value
	case "function_call":
		s.function = value
	case "reasoning_content":
		s.reasoningContent = value
	case "reasoning", "thinking":
		s.reasoning = value
	case "reasoning_details":
		s.reasoningList = value
	default:
		if isFinish(key) {
			s.finish = worse(s.finish, value)
		}
		s.failed = s.failed || isError(key, value)
	}
}

// isFinish recognizes the names that servers have for a finish_reason.
func isFinish(key []byte) bool {
	for _, name := range []string{"finish_reason", "finishreason", "finish_details", "done_reason"} {
		if len(key) == len(name) && strings.EqualFold(string(key), name) {
			return true
		}
	}
	return false
}

// worse returns the worse of two finish_reasons.
func worse(a, b []byte) []byte {
	if !absent(b) && (absent(a) || model.FinishOf(finishText(b)) > model.FinishOf(finishText(a))) {
		return b
	}
	return a
}

// thought returns the piece of a thought. Servers that send two fields send the same text in both.
func (s *delta) thought() []byte {
	switch {
	case !absent(s.reasoningContent):
		return s.reasoningContent
	case !absent(s.reasoning):
		return s.reasoning
	}
	return s.reasoningList
}

// texts yields the strings of the delta, thoughts first.
func (s *delta) texts(emit func(literal []byte, thought bool)) {
	textsIn(s.thought(), true, emit)
	textsIn(s.content, false, emit)
	textsIn(s.refusal, false, emit)
}

// toolCalls yields the pieces of tool calls, in either of OpenAI's forms.
func (s *delta) toolCalls(emit func(decode.CallDelta)) {
	if len(s.calls) > 0 {
		jsonwalk.Array(s.calls, func(value []byte) {
			var d decode.CallDelta
			readCall(&d, value)
			emit(d)
		})
	}
	if len(s.function) > 0 && s.function[0] == '{' {
		var d decode.CallDelta
		readFunction(&d, s.function)
		emit(d)
	}
}

// finishText is a finish_reason as text: the string, the type of an object, or the JSON of another value.
func finishText(value []byte) (word string) {
	switch {
	case absent(value):
		return ""
	case value[0] == '{':
		jsonwalk.Object(value, func(key, value []byte) {
			if string(key) == "type" {
				word = jsonwalk.Text(value)
			}
		})
		word = cmp.Or(word, string(value))
	case value[0] == '"':
		word = jsonwalk.Text(value)
	default:
		word = string(value)
	}
	return strings.ToValidUTF8(word[:min(len(word), finishBytes)], "")
}

// textsIn yields the strings of a content, which is a string, an object or a list, and tells thoughts from text.
func textsIn(value []byte, thinking bool, emit func(literal []byte, thought bool)) {
	switch {
	case len(value) == 0:
	case value[0] == '"':
		emit(value, thinking)
	case value[0] == '[':
		jsonwalk.Array(value, func(part []byte) { textsIn(part, thinking, emit) })
	case value[0] == '{':
		jsonwalk.Object(value, func(key, value []byte) {
			switch string(key) {
			case "text", "content", "summary", "refusal":
				textsIn(value, thinking, emit)
			case "thinking":
				textsIn(value, true, emit)
			}
		})
	}
}

func readCall(d *decode.CallDelta, value []byte) {
	jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "index":
			d.Index = value
		case "id":
			d.ID = value
		case "function":
			readFunction(d, value)
		}
	})
}

func readFunction(d *decode.CallDelta, value []byte) {
	jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "index": // Ollama's place for it
			d.Index = value
		case "name":
			d.Name = value
		case "arguments":
			d.Arguments = value
		}
	})
}

// usage returns nil if the value is not an object.
func usage(value []byte) *messages.Usage {
	var u messages.Usage
	if !jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "prompt_tokens":
			u.PromptTokens = count(value)
		case "completion_tokens":
			u.CompletionTokens = count(value)
		case "completion_tokens_details":
			jsonwalk.Object(value, func(key, value []byte) {
				if string(key) == "reasoning_tokens" {
					u.ReasoningTokens = count(value)
				}
			})
		}
	}) {
		return nil
	}
	return &u
}

// count reads a whole number in any form that servers use, also 7.0 and "7"; 0 for any other value.
func count(value []byte) int64 {
	f, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64)
	if err != nil || f < 0 || f > 1<<53 || f != f {
		return 0
	}
	return int64(f)
}

// absent reports whether a member's value is null, false or empty.
func absent(value []byte) bool {
	switch string(value) {
	case "", "null", "false", `""`:
		return true
	}
	return false
}
