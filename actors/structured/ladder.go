package structured

import (
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

// below gives the level after a refused one, which another call may have learned already.
func (l *Ladder) below(refused Level) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = max(l.level, refused+1)
	return l.level
}

// refuses tells a server that does not have the level from one that fails: nothing was answered, the request is called
// bad, and the words are about the level's own field.
func refuses(l Level, e model.Evidence) bool {
	if e.Failure == nil || e.Output || l >= Prompt {
		return false
	}
	if e.Status != 400 && e.Status != 422 && e.Failure.Code != "400" {
		return false
	}
	words := strings.ToLower(e.Failure.Code + " " + e.Failure.Message)
	if l == Call {
		return containsAny(words, "tool", "function")
	}
	return containsAny(words, "response_format", "response format", "json_schema", "json_object", "grammar")
}

// overflows tells a request that is longer than the model's context, in the words of the servers.
func overflows(e model.Evidence) bool {
	if e.Failure == nil {
		return false
	}
	words := strings.ToLower(e.Failure.Code + " " + e.Failure.Message)
	return containsAny(words, "n_ctx", "n_keep", "context length", "context size", "context window", "context_length",
		"exceed_context", "maximum context")
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
