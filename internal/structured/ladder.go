package structured

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages/model"
)

// Level is a way to get JSON from a server.
type Level int

// The levels, the strictest first.
const (
	Strict Level = iota // response_format json_schema, strict
	Loose               // response_format json_schema
	Object              // response_format json_object
	Call                // the arguments of a tool that must be called
	Prompt              // instructions only
)

var levelNames = []string{"json_schema strict", "json_schema", "json_object", "tool call", "prompt"}

// String names the level.
func (l Level) String() string { return levelNames[l] }

// Ladder remembers the strictest level that a server has not refused. The zero value starts at Strict. It is safe for
// concurrent use.
type Ladder struct {
	mu    sync.Mutex
	level Level
}

// NewLadder starts at the level with the name, which the server is known to accept, or at Strict if there is none.
func NewLadder(level string) *Ladder {
	return &Ladder{level: Level(max(slices.Index(levelNames, level), 0))}
}

// Level returns the level of the next call.
func (l *Ladder) Level() Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.level
}

// below returns the next weaker level after a refused one, or an even weaker one that another call has learned.
func (l *Ladder) below(refused Level) Level { return max(l.Level(), refused+1) }

// learn records that the server answered at the level.
func (l *Ladder) learn(level Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = max(l.level, level)
}

// refuses reports whether the server lacks the level, rather than failing for another reason. It answered nothing,
// and its error mentions fields of the level, or says that the request is bad and mentions no other field.
func refuses(l Level, e model.Evidence) bool {
	if e.Failure == nil || e.Output || l >= Prompt || e.Overflows() {
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
	if status == 0 || status == 200 { // an error instead of an answer
		bad := containsAny(words, "invalid_request", "invalidrequest", "invalid_parameter", "invalidparameter",
			"invalid_argument", "bad_request", "badrequest", "unprocessable", "not_implemented", "unimplemented")
		return bad && !containsAny(words, otherWords...)
	}
	return (status == 400 || status == 422 || status == 501) && !containsAny(words, otherWords...)
}

var (
	// formatWords appear in errors about a response_format.
	formatWords = []string{"format", "json", "schema", "grammar", "structured", "guided", "constrained", "gbnf",
		"regex", "requested parameters", "格式", "结构化",
		"形式", "フォーマット", "スキーマ", "형식", "формат", "схем", "esquema", "schéma"}
	// otherWords appear in errors about anything else.
	otherWords = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "temperature", "top_p", "seed",
		"stream_options", "stop sequence", "unknown model", "model not", "model_not", "no such model",
		"model does not exist", "invalid model", "not a valid model", "no models loaded", "model is required",
		"api key", "api_key", "apikey", "token is invalid", "unauthorized", "permission", "quota", "billing",
		"credit", "balance", "arrear", "payment", "content_filter", "content filter", "content_policy",
		"content management", "moderation", "safety", "sensitive", "inappropriate", "too large", "too long",
		"too many tokens", "image", "http request to an https", "enable_thinking", "chat_template", "reasoning"}
)

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
