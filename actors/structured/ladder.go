package structured

import (
	"strconv"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages/model"
)

// Level is a means of keeping an answer to a schema.
type Level int

// The levels, the surest first.
const (
	Strict Level = iota // response_format json_schema, strict
	Loose               // response_format json_schema
	Object              // response_format json_object
	Call                // the arguments of a tool that must be called
	Prompt              // words alone
)

// String is the level in a word or two.
func (l Level) String() string {
	switch l {
	case Strict:
		return "json_schema strict"
	case Loose:
		return "json_schema"
	case Object:
		return "json_object"
	case Call:
		return "tool call"
	}
	return "prompt"
}

// LevelOf is the level that String gives the name to; ok is false where it gives it to none.
func LevelOf(name string) (level Level, ok bool) {
	for l := Strict; l <= Prompt; l++ {
		if l.String() == name {
			return l, true
		}
	}
	return Strict, false
}

// Ladder is what is known of one server: the surest level that it has not refused. The zero value has everything to
// learn. It may be used by several calls at once.
type Ladder struct {
	mu    sync.Mutex
	level Level
}

// NewLadder begins at a level that is known to be taken.
func NewLadder(at Level) *Ladder { return &Ladder{level: min(max(at, Strict), Prompt)} }

// Level is where the next call begins.
func (l *Ladder) Level() Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.level
}

// below gives the level after a refused one, or one further down that another call has learned of.
func (l *Ladder) below(refused Level) Level { return max(l.Level(), refused+1) }

// took learns from an answer that the levels above are refused.
func (l *Ladder) took(level Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = max(l.level, level)
}

// refuses tells a server that does not have the level from one that fails: nothing was answered, and the server speaks
// of the level's own means, or calls the request bad without a word of anything else.
func refuses(l Level, e model.Evidence) bool {
	if e.Failure == nil || e.Output || l >= Prompt || overflows(e) {
		return false
	}
	status := e.Status
	if status < 400 {
		status, _ = strconv.Atoi(e.Failure.Code)
	}
	if status == 401 || status == 429 || status >= 500 && status != 501 {
		return false
	}
	words := e.Failure.Words()
	if l == Call && containsAny(words, "tool", "function") || l < Call && containsAny(words, formatWords...) {
		return true
	}
	if status == 0 || status == 200 { // an error in the place of an answer
		bad := containsAny(words, "invalid_request", "invalidrequest", "invalid_parameter", "invalidparameter",
			"invalid_argument", "bad_request", "badrequest", "unprocessable", "not_implemented", "unimplemented")
		return bad && !containsAny(words, otherWords...)
	}
	return (status == 400 || status == 422 || status == 501) && !containsAny(words, otherWords...)
}

var (
	// formatWords are what servers call a response_format.
	formatWords = []string{"format", "json", "schema", "grammar", "structured", "guided", "constrained", "gbnf",
		"regex", "requested parameters", "格式", "结构化",
		"形式", "フォーマット", "スキーマ", "형식", "формат", "схем", "esquema", "schéma"}
	// otherWords are what else servers find wrong with a request.
	otherWords = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "temperature", "top_p", "seed",
		"stream_options", "stop sequence", "unknown model", "model not", "model_not", "no such model",
		"model does not exist", "invalid model", "not a valid model", "no models loaded", "model is required",
		"api key", "api_key", "apikey", "token is invalid", "unauthorized", "permission", "quota", "billing",
		"credit", "balance", "arrear", "payment", "content_filter", "content filter", "content_policy",
		"content management", "moderation", "safety", "sensitive", "inappropriate", "too large", "too long",
		"too many tokens", "image", "http request to an https", "enable_thinking", "chat_template", "reasoning"}
)

// overflows tells a request that is longer than the model's context, in the words of the servers.
func overflows(e model.Evidence) bool {
	return e.Failure != nil && containsAny(e.Failure.Words(), "n_ctx", "n_keep", "context length", "context size",
		"context window", "context_length", "context_window", "exceed_context", "maximum context", "max_model_len",
		"prompt is too long", "input is too long", "too many tokens", "input tokens", "input length")
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
