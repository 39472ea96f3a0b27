package llm

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages/model"
)

// deepestQuote limits how deep errors may be nested, as each server can quote the next one's error as JSON in its own
// message. Without a limit, 100 kB of nested errors took half a minute.
const deepestQuote = 4

// failureIn extracts the failure from a frame of an answer, or from the body of an error response. A message may quote
// another server's error as JSON; quotes is how many more of these it follows.
func failureIn(payload []byte, quotes int) *model.Failure {
	payload = first(bytes.TrimSpace(payload))
	if len(payload) > 0 && payload[0] == '<' {
		return &model.Failure{Code: "html", Message: title(payload)}
	}
	var inner, outer errorFields
	if !jsonwalk.Object(payload, outer.member) {
		return &model.Failure{Message: excerpt(cmp.Or(jsonwalk.Text(payload), string(payload)))}
	}
	if inner.find(payload, 0); inner.words() != "" && !strings.Contains(inner.words(), outer.message) {
		inner.message = inner.words() + ": " + outer.message
	}
	if quotes > 0 && holdsError([]byte(inner.message)) { // Ollama's message may contain another server's error as JSON
		return failureIn([]byte(inner.message), quotes-1)
	}
	return &model.Failure{
		Code:    cmp.Or(inner.code, inner.kind, outer.code, outer.kind),
		Message: excerpt(cmp.Or(inner.words(), outer.words(), string(payload))),
		Type:    cmp.Or(inner.kind, outer.kind), Param: cmp.Or(inner.param, outer.param),
	}
}

// unwrapped returns the only element of a list. Gemini wraps its errors that way.
func unwrapped(frame []byte) []byte {
	n := 0
	if len(frame) > 0 && frame[0] == '[' && jsonwalk.Array(frame, func([]byte) { n++ }) && n == 1 {
		return first(frame)
	}
	return frame
}

// first returns the first element of a list, or else the value itself.
func first(value []byte) []byte {
	out := value
	jsonwalk.Array(value, func(element []byte) {
		if len(out) == len(value) {
			out = element
		}
	})
	return out
}

// Member names, in lower case.
var (
	codeKeys = []string{"code", "error_code", "errorcode", "err_code", "errcode", "status_code", "statuscode"}
	wordKeys = []string{"message", "detail", "msg", "error_msg", "errormsg", "error_message", "errormessage",
		"errmsg", "err_msg", "status_msg", "error_description", "faultstring"}
)

// deepestError is how deep find searches, as in {"choices":[{"delta":{"error":…}}]}.
const deepestError = 4

// errorFields holds what the members of an object say about a failure.
type errorFields struct{ message, code, kind, param, raw string }

// member collects a member of an object that describes a failure. The first value of each kind wins.
func (s *errorFields) member(key, value []byte) {
	switch name := strings.ToLower(string(key)); {
	case slices.Contains(wordKeys, name):
		s.message = cmp.Or(s.message, jsonwalk.Text(value))
		if nested(value) && !empty(value) {
			s.raw = cmp.Or(s.raw, string(value)) // a list of what is wrong with the request
		}
	case slices.Contains(codeKeys, name) && !absent(value):
		s.code = cmp.Or(s.code, jsonwalk.Text(value), string(value))
	case name == "status" && count(value) > 0:
		s.code = cmp.Or(s.code, string(value))
	case name == "type", name == "error_type", name == "status" && s.kind == "":
		s.kind = jsonwalk.Text(value)
	case name == "param":
		s.param = jsonwalk.Text(value)
	case name == "title", name == "reason":
		s.raw = cmp.Or(s.raw, jsonwalk.Text(value))
	case name == "metadata": // of OpenRouter, with the message of its provider
		jsonwalk.Object(value, func(key, value []byte) {
			if string(key) == "raw" {
				s.raw = cmp.Or(jsonwalk.Text(value), string(value))
			}
		})
	}
}

// words returns the message with its details, if those add anything.
func (s *errorFields) words() string {
	if s.message != "" && s.raw != "" && !strings.Contains(s.message, s.raw) {
		return s.message + ": " + s.raw
	}
	return cmp.Or(s.message, s.raw)
}

// find searches a value for errors.
func (s *errorFields) find(value []byte, depth int) {
	look := func(key, value []byte) {
		name := string(key)
		switch {
		case depth == deepestError:
		case isError(key, value), name == "base_resp", name == "header" && fails(value, "code"):
			s.readError(value, depth+1)
		default:
			s.find(value, depth+1)
		}
	}
	jsonwalk.Object(value, look)
	jsonwalk.Array(value, func(value []byte) { look(nil, value) })
}

// readError parses an error: a string, an object, or the first element of a list.
func (s *errorFields) readError(value []byte, depth int) {
	value = first(value)
	switch {
	case value[0] == '{':
		jsonwalk.Object(value, s.member)
		if s.find(value, depth); s.words() == "" {
			s.message = string(value)
		}
	case count(value) > 0:
		s.code = cmp.Or(s.code, string(value))
	default:
		s.message = cmp.Or(s.message, jsonwalk.Text(value))
	}
}

// excerpt returns the beginning of a text, on one line.
func excerpt(text string) string { return words.Clip(words.OneLine(text), messageLength) }

// title returns an error message for an HTML page, with the page's title.
func title(page []byte) string {
	lower := bytes.ToLower(page) // has the same length, except for a few unusual letters
	from := bytes.Index(lower, []byte("<title"))
	if from >= 0 {
		if gt := bytes.IndexByte(lower[from:], '>'); gt >= 0 && len(lower) == len(page) {
			title, _, _ := strings.Cut(string(page[from+gt+1:]), "<")
			return "an HTML page instead of an answer: " + excerpt(strings.Join(strings.Fields(title), " "))
		}
	}
	return "an HTML page instead of an answer"
}

// isError reports whether a member is a non-empty error. The case of its name does not matter.
func isError(key, value []byte) bool {
	for _, end := range errorEnds {
		if n := len(key) - len(end); n >= 0 && strings.EqualFold(string(key[n:]), end) {
			return !absent(value) && string(value) != "0" && string(value) != "[]"
		}
	}
	for _, name := range errorNames {
		if len(key) == len(name) && strings.EqualFold(string(key), name) {
			return !isSuccess(value)
		}
	}
	return false
}

var (
	errorEnds  = []string{"error", "errors", "exception"}
	errorNames = []string{"err", "fault", "failure", "errmsg", "err_msg", "errormsg", "error_msg", "errormessage", "error_message"}
)

// reportsFailure reports whether a member says that something failed, such as "success": false and "status": "failed".
func reportsFailure(key, value []byte) bool {
	switch {
	case strings.EqualFold(string(key), "success"), strings.EqualFold(string(key), "ok"):
		return string(value) == "false"
	case strings.EqualFold(string(key), "status"), strings.EqualFold(string(key), "type"):
		return slices.Contains([]string{"error", "failed", "failure"}, strings.ToLower(jsonwalk.Text(value)))
	}
	return false
}

// empty reports whether a value is absent, or an empty object or list.
func empty(value []byte) bool {
	return absent(value) || nested(value) && len(bytes.TrimSpace(value[1:])) == 1
}

// nested reports whether a value is an object or a list.
func nested(value []byte) bool { return value[0] == '{' || value[0] == '[' }

func holdsError(value []byte) (found bool) {
	jsonwalk.Object(value, func(key, value []byte) { found = found || isError(key, value) })
	return found
}

// fails reports whether the object's member with the name is an error code.
func fails(value []byte, name string) (bad bool) {
	jsonwalk.Object(value, func(key, value []byte) { bad = bad || string(key) == name && !isSuccess(value) })
	return bad
}

// isSuccess reports whether a code means success.
func isSuccess(code []byte) bool {
	word := strings.ToLower(strings.Trim(string(code), `"`))
	number := count(code)
	return absent(code) || number >= http.StatusOK && number < http.StatusMultipleChoices ||
		slices.Contains([]string{"0", "ok", "true", "success", "succeeded"}, word)
}

// looksFailed reports whether a frame without choices and without an error is a failure after all: because it has an
// error code, or a message without a success code.
func looksFailed(frame []byte) bool {
	words, fine, bad := false, false, false
	jsonwalk.Object(frame, func(key, value []byte) {
		switch name := strings.ToLower(string(key)); {
		case name == "usage":
			fine = fine || !absent(value)
		case slices.Contains(codeKeys, name):
			fine, bad = fine || !absent(value) && isSuccess(value), bad || !isSuccess(value)
		case name == "status":
			bad = bad || count(value) >= http.StatusBadRequest
		case slices.Contains(wordKeys, name):
			words = words || jsonwalk.Text(value) != "" || name == "detail" && !empty(value)
		case name == "header": // of Spark
			bad = bad || fails(value, "code")
		}
	})
	return bad || words && !fine
}

// protocolOf returns the name of the foreign protocol that an event, or a frame without choices, belongs to. It returns
// "" if it knows none.
func protocolOf(event string, frame []byte) string {
	names := []string{event}
	keys := map[string]byte{} // with the first byte of the value
	jsonwalk.Object(frame, func(key, value []byte) {
		keys[string(key)] = value[0]
		switch string(key) {
		case "type", "event_type", "object":
			names = append(names, jsonwalk.Text(value))
		}
	})
	for _, p := range protocols {
		for _, name := range names {
			if slices.ContainsFunc(p.events, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				return p.name
			}
		}
		for _, together := range p.members {
			if !slices.ContainsFunc(strings.Fields(together), func(key string) bool { return keys[key] == 0 }) {
				return p.name
			}
		}
	}
	return ""
}

// protocols are recognized by prefixes of their event names, or by members that occur together.
var protocols = []struct {
	name            string
	events, members []string
}{
	{"Anthropic's Messages protocol", []string{"message_", "content_block_"},
		[]string{"content role stop_reason", "completion stop_reason"}},
	{"OpenAI's Responses protocol", []string{"response."}, []string{"output status"}},
	{"OpenAI's Assistants protocol", []string{"thread."}, nil},
	{"Gemini's protocol", []string{"interaction.", "content."}, []string{"candidates", "promptFeedback", "usageMetadata"}},
	{"Cohere's protocol", []string{"message-start", "content-start", "content-delta", "text-generation"},
		[]string{"event_type is_finished"}},
	{"Bedrock's protocol", []string{"messageStart", "contentBlock", "messageStop"}, []string{"contentBlockIndex",
		"messageStart", "messageStop", "contentBlockDelta", "outputText", "generation stop_reason", "generation prompt_token_count",
		"bytes p"}},
	{"Mistral's Conversations protocol", []string{"conversation.response.", "message.output."}, nil},
	{"Coze's protocol", []string{"conversation.chat.", "conversation.message."}, nil},
	{"Dify's protocol", nil, []string{"answer conversation_id"}},
	{"the AI SDK's protocol", []string{"text-delta", "text-start", "stream-start", "start-step"}, nil},
	{"the AG-UI protocol", []string{"RUN_STARTED", "TEXT_MESSAGE_"}, nil},
	{"Ollama's protocol", nil, []string{"message done", "response done"}},
	{"Workers AI's protocol", nil, []string{"response p", "response usage"}},
	{"LM Studio's protocol", []string{"chat.start", "model_load.", "prompt_processing."}, nil},
	{"llama.cpp's completion protocol", nil, []string{"content stop", "content tokens_predicted"}},
	{"TGI's generate protocol", nil, []string{"token generated_text", "generated_text"}},
	{"SGLang's generate protocol", nil, []string{"meta_info text"}},
	{"Triton's generate protocol", nil, []string{"text_output"}},
	{"DashScope's protocol", nil, []string{"output request_id"}},
	{"Ernie's protocol", nil, []string{"result is_end"}},
	{"JSON-RPC", nil, []string{"jsonrpc"}},
}
