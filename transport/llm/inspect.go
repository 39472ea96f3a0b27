package llm

import (
	"net/http"
	"slices"
	"strings"
)

// sight is what a frame of JSON is at first sight.
type sight struct {
	whole   bool   // it is an object
	failed  bool   // it has an error where servers put one
	choices bool   // it has a choice
	kind    string // of object that it says it is
}

func inspect(frame []byte) (s sight) {
	s.whole = object(frame, func(key, value []byte) {
		switch string(key) {
		case "choices":
			s.choices = !empty(value)
		case "base_resp": // MiniMax's, where 0 is success
			s.failed = s.failed || fails(value, "status_code")
		case "object":
			if s.kind = "chat.completion.chunk"; string(value) != `"chat.completion.chunk"` {
				s.kind = text(value)
			}
		default: // Groq's is inside x_groq
			s.failed = s.failed || isError(key, value) || denies(key, value) || holdsError(value)
		}
	})
	s.failed = s.failed && s.whole
	return s
}

// isError says whether a member, in any case, is an error with something in it: by its name, or as words that are none
// of a success.
func isError(key, value []byte) bool {
	for _, end := range errorEnds {
		if n := len(key) - len(end); n >= 0 && strings.EqualFold(string(key[n:]), end) {
			return !none(value) && string(value) != "0" && string(value) != "[]"
		}
	}
	for _, name := range errorNames {
		if len(key) == len(name) && strings.EqualFold(string(key), name) {
			return !succeeds(value)
		}
	}
	return false
}

var (
	errorEnds  = []string{"error", "errors", "exception"}
	errorNames = []string{"err", "fault", "failure", "errmsg", "err_msg", "errormsg", "error_msg", "errormessage",
		"error_message"}
)

// denies says whether a member tells that the whole has failed.
func denies(key, value []byte) bool {
	switch {
	case strings.EqualFold(string(key), "success"), strings.EqualFold(string(key), "ok"):
		return string(value) == "false"
	case strings.EqualFold(string(key), "status"), strings.EqualFold(string(key), "type"):
		return slices.Contains([]string{"error", "failed", "failure"}, strings.ToLower(text(value)))
	}
	return false
}

// empty tells a value that says nothing, or has nothing in it.
func empty(value []byte) bool {
	return none(value) || nested(value) && (value[space(value, 1)] == ']' || value[space(value, 1)] == '}')
}

// nested tells an object or a list.
func nested(value []byte) bool { return value[0] == '{' || value[0] == '[' }

func holdsError(value []byte) (found bool) {
	object(value, func(key, value []byte) { found = found || isError(key, value) })
	return found
}

// fails says whether the object's member is a code that stands for no success.
func fails(value []byte, name string) (bad bool) {
	object(value, func(key, value []byte) { bad = bad || string(key) == name && !succeeds(value) })
	return bad
}

// succeeds tells the codes of a success.
func succeeds(code []byte) bool {
	word := strings.ToLower(strings.Trim(string(code), `"`))
	number := count(code)
	return none(code) || number >= http.StatusOK && number < http.StatusMultipleChoices ||
		slices.Contains([]string{"0", "ok", "true", "success", "succeeded"}, word)
}

// complains tells a frame without choices that is about a failure, though it has no error of its own: it has one
// further in, an exception, a code that is none of a success, or words without one.
func complains(frame []byte) bool {
	words, fine, bad := false, false, false
	object(frame, func(key, value []byte) {
		switch name := strings.ToLower(string(key)); {
		case name == "usage":
			fine = fine || !none(value)
		case slices.Contains(codeKeys, name):
			fine, bad = fine || !none(value) && succeeds(value), bad || !succeeds(value)
		case name == "status":
			bad = bad || count(value) >= http.StatusBadRequest
		case slices.Contains(wordKeys, name):
			words = words || text(value) != "" || name == "detail" && !empty(value)
		case name == "header": // Spark's
			bad = bad || fails(value, "code")
		}
	})
	return bad || words && !fine
}

// protocolOf names the protocol of an event or a frame without choices that is another's than OpenAI's chat
// completions, "" for none.
func protocolOf(event string, frame []byte) string {
	names := []string{event}
	keys := map[string]byte{} // with the first byte of the value
	object(frame, func(key, value []byte) {
		keys[string(key)] = value[0]
		switch string(key) {
		case "type", "event_type", "object":
			names = append(names, text(value))
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

// protocols are known by how the names of their events begin, or by members that stand together.
var protocols = []struct {
	name            string
	events, members []string
}{
	{"Anthropic's Messages protocol", []string{"message_", "content_block_"},
		[]string{"content role stop_reason", "completion stop_reason"}},
	{"OpenAI's Responses protocol", []string{"response."}, []string{"output status"}},
	{"OpenAI's Assistants protocol", []string{"thread."}, nil},
	{"Gemini's protocol", []string{"interaction.", "content."},
		[]string{"candidates", "promptFeedback", "usageMetadata"}},
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
