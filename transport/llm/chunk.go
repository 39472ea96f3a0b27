package llm

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// chunk is one frame of a stream. Its members are raw JSON, nil if they are missing. Servers differ in nearly all
// types, so values of unexpected types are ignored.
type chunk struct {
	raw                   []byte
	model, usage, choices []byte
	message               []byte // Ollama's
	finish, flag          []byte // outside of choices
	kind                  string // value of the member "object"
	whole                 bool   // the frame is a JSON object
	failed                bool   // it has an error outside of choices
}

// member stores a member of the frame. Errors and ends of an answer have many names, so the default case looks for all
// of them.
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
	case "input_sensitive", "output_sensitive", "truncated", "is_truncated": // of MiniMax and Ernie
		if string(value) == "true" {
			c.flag = []byte(`"` + string(key) + `"`)
		}
	case "base_resp": // of MiniMax; 0 means success
		c.failed = c.failed || fails(value, "status_code")
	default: // Groq puts errors into x_groq
		if isFinish(key) {
			c.finish = worse(c.finish, value)
		}
		c.failed = c.failed || isError(key, value) || reportsFailure(key, value) || holdsError(value)
	}
}

// choice holds the members of one choice in a frame.
type choice struct {
	index, finish, native []byte
	text                  []byte // of a completion, which has no delta
	delta, message        delta
	failed                bool // the choice contains an error
}

// delta holds the members of a delta or a message.
type delta struct {
	content, refusal, calls, function          []byte
	reasoningContent, reasoning, reasoningList []byte
	finish                                     []byte
	failed                                     bool
	reasoningName, extra                       string // extra is a JSON object: members that nobody reads
}

// read splits a choice into its members, without copying. The worst of several reasons for the end counts.
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
	if absent(v.finish) && len(stop) > 0 && stop[0] == '"' { // if there is a finish_reason, stop_reason is the stop string
		v.finish = stop
	}
	v.failed = v.failed || v.delta.failed || v.message.failed
}

// read splits a delta. Some servers send a plain string instead of an object.
func (s *delta) read(value []byte) {
	if value[0] == '"' {
		s.content = value
	}
	jsonwalk.Object(value, s.member)
}

// member stores a member of the delta.
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
		s.reasoning, s.reasoningName = value, string(key)
	case "reasoning_details":
		if s.reasoningList = value; !empty(value) {
			s.extra = model.Within(s.extra, string(key), string(value))
		}
	default:
		if isFinish(key) {
			s.finish = worse(s.finish, value)
		}
		s.failed = s.failed || isError(key, value)
		if !empty(value) && !isFinish(key) && !isError(key, value) && string(key) != "role" {
			s.extra = model.Within(s.extra, string(key), string(value))
		}
	}
}

// thoughtsIn returns the member that has the thoughts as a text, or "".
func (s *delta) thoughtsIn() string {
	switch {
	case !absent(s.reasoningContent):
		return "reasoning_content"
	case !absent(s.reasoning) && s.reasoning[0] == '"':
		return s.reasoningName
	}
	return ""
}

// isFinish reports whether the key is one of the servers' names for finish_reason.
func isFinish(key []byte) bool {
	names := []string{"finish_reason", "finishreason", "finish_details", "done_reason"}
	return slices.ContainsFunc(names, func(name string) bool { return len(key) == len(name) && strings.EqualFold(string(key), name) })
}

// worse returns the worse of two finish_reasons.
func worse(a, b []byte) []byte {
	if !absent(b) && (absent(a) || model.FinishOf(finishText(b)) > model.FinishOf(finishText(a))) {
		return b
	}
	return a
}

// texts calls emit with the strings of the delta, thoughts first. Servers with two fields for thoughts send the same text
// in both.
func (s *delta) texts(emit func(literal []byte, thought bool)) {
	switch {
	case !absent(s.reasoningContent):
		textsIn(s.reasoningContent, true, emit)
	case !absent(s.reasoning):
		textsIn(s.reasoning, true, emit)
	default:
		textsIn(s.reasoningList, true, emit)
	}
	textsIn(s.content, false, emit)
	textsIn(s.refusal, false, emit)
}

// toolCalls calls emit with the pieces of tool calls, in either of OpenAI's formats.
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
		readCall(&d, s.function)
		emit(d)
	}
}

// finishText returns a finish_reason as text: the string, the type of an object, or the JSON of another value.
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

// textsIn calls emit with the strings of a content, which is a string, an object or a list. It tells thoughts from
// text.
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

// readCall reads a part of a tool call, or its function.
func readCall(d *decode.CallDelta, value []byte) {
	jsonwalk.Object(value, func(key, value []byte) {
		switch string(key) {
		case "type":
		case "index": // Ollama has the index in the function
			d.Index = value
		case "id":
			d.ID = value
		case "name":
			d.Name = value
		case "arguments":
			d.Arguments = value
		case "function":
			outer := d.Extra
			d.Extra = ""
			readCall(d, value)
			d.Extra = model.Within(outer, "function", d.Extra)
		default:
			if !empty(value) {
				d.Extra = model.Within(d.Extra, string(key), string(value))
			}
		}
	})
}

// usage parses token counts. It returns nil if the value is not an object.
func usage(value []byte) *messages.Usage {
	var u messages.Usage
	counts := map[string]**int64{"prompt_tokens": &u.PromptTokens, "completion_tokens": &u.CompletionTokens,
		"reasoning_tokens": &u.ReasoningTokens, "cached_tokens": &u.CachedTokens,
		"prompt_cache_hit_tokens": &u.CachedTokens} // of DeepSeek
	var read func(key, value []byte)
	read = func(key, value []byte) {
		switch name := string(key); {
		case name == "prompt_tokens_details", name == "completion_tokens_details":
			jsonwalk.Object(value, read)
		case counts[name] != nil && isCount(value):
			*counts[name] = new(count(value))
		}
	}
	if !jsonwalk.Object(value, read) || u == (messages.Usage{}) {
		return nil
	}
	return &u
}

// isCount reports whether a value is a number, or a string that holds one.
func isCount(value []byte) bool {
	return count(value) > 0 || strings.Trim(string(value), `"0.`) == "" && !absent(value)
}

// count parses a whole number in any format that servers use, such as 7.0 and "7". Other values count as 0.
func count(value []byte) int64 {
	f, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64)
	if err != nil || f < 0 || f > 1<<53 || f != f {
		return 0
	}
	return int64(f)
}

// absent reports whether a member is missing, or its value is null, false or an empty string.
func absent(value []byte) bool {
	switch string(value) {
	case "", "null", "false", `""`:
		return true
	}
	return false
}
