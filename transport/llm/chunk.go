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

// chunk is what one frame adds to an answer: raw JSON values, nil where the frame has none. Servers differ in nearly
// every type; what is not of the type that is looked for says nothing.
type chunk struct {
	model, usage, choices []byte
	finish, flag          []byte // beside the choices
}

func (c *chunk) read(frame []byte) {
	*c = chunk{}
	jsonwalk.Object(frame, func(key, value []byte) {
		switch string(key) {
		case "model":
			c.model = value
		case "usage":
			c.usage = value
		case "choices":
			c.choices = value
		case "input_sensitive", "output_sensitive", "truncated", "is_truncated": // MiniMax's, Ernie's
			if string(value) == "true" {
				c.flag = []byte(`"` + string(key) + `"`)
			}
		default:
			if isFinish(key) {
				c.finish = worse(c.finish, value)
			}
		}
	})
}

// variant is what one choice of a frame adds.
type choice struct {
	index, finish, native []byte
	text                  []byte // in the place of a delta
	delta, message        delta
	failed                bool // it has an error of its own
}

// speech is what a delta or a message says.
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
	if absent(v.finish) && len(stop) > 0 && stop[0] == '"' { // beside a finish_reason it is the text that stopped the model
		v.finish = stop
	}
	v.failed = v.failed || v.delta.failed || v.message.failed
}

// number is the choice's own, or its place in the list where it has none.
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
	case "reasoning":
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

// isFinish knows what servers call a finish_reason.
func isFinish(key []byte) bool {
	for _, name := range []string{"finish_reason", "finishreason", "finish_details", "done_reason"} {
		if len(key) == len(name) && strings.EqualFold(string(key), name) {
			return true
		}
	}
	return false
}

// graver is the one of two finish_reasons that counts.
func worse(a, b []byte) []byte {
	if !absent(b) && (absent(a) || model.FinishOf(finishText(b)) > model.FinishOf(finishText(a))) {
		return b
	}
	return a
}

// thought is the value that holds a piece of a thought: servers that send more than one send the same twice.
func (s *delta) thought() []byte {
	switch {
	case !absent(s.reasoningContent):
		return s.reasoningContent
	case !absent(s.reasoning):
		return s.reasoning
	}
	return s.reasoningList
}

// words gives the strings of the speech, thoughts first.
func (s *delta) texts(emit func(literal []byte, thought bool)) {
	textsIn(s.thought(), true, emit)
	textsIn(s.content, false, emit)
	textsIn(s.refusal, false, emit)
}

// called gives the pieces of tool calls, in either of OpenAI's forms.
func (s *delta) toolCalls(emit func(decode.CallDelta)) {
	if len(s.calls) > 0 {
		jsonwalk.Array(s.calls, func(value []byte) { emit(callDelta(value)) })
	}
	if len(s.function) > 0 && s.function[0] == '{' {
		emit(decode.CallDelta{Function: callFunction(s.function)})
	}
}

// finishWord is a finish_reason as a word: itself, the type of one that is an object, or what it is in JSON.
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

// spoken gives the strings in a content: itself, or those of the parts of a list, thoughts apart from text.
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

func callDelta(value []byte) (d decode.CallDelta) {
	jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "index":
			d.Index = value
		case "id":
			d.ID = value
		case "function":
			d.Function = callFunction(value)
		}
	})
	return d
}

func callFunction(value []byte) (f decode.CallFunction) {
	jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "name":
			f.Name = value
		case "arguments":
			f.Arguments = value
		}
	})
	return f
}

// usage is nil where the value counts nothing.
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

// count is a JSON number as servers write whole numbers, also 7.0 and "7"; 0 for any other value.
func count(value []byte) int64 {
	f, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64)
	if err != nil || f < 0 || f > 1<<53 || f != f {
		return 0
	}
	return int64(f)
}

// none says that a member's value says nothing.
func absent(value []byte) bool {
	switch string(value) {
	case "", "null", "false", `""`:
		return true
	}
	return false
}
