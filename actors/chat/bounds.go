package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Bounds end a turn: it fails with limit_exceeded, or with deadline after Time. A zero takes the default.
type Bounds struct {
	Iterations int           // answers that may call tools; 20
	ModelCalls int           // with those of stages, of JSON that is asked for again, and of summaries; 40
	ToolCalls  int           // 50
	Failures   int           // iterations in a row in which every call of a tool failed; 3
	Time       time.Duration // 10 minutes
	Stage      time.Duration // of understand and of think, without which the turn goes on then; a third of Time
	// Parallel is how many calls of tools run at one time: 5, and 8 at most. A canceled task can say of no more how
	// they ended.
	Parallel int
}

func (b Bounds) orDefaults() Bounds {
	all := cmp.Or(b.Time, 10*time.Minute)
	return Bounds{cmp.Or(b.Iterations, 20), cmp.Or(b.ModelCalls, 40), cmp.Or(b.ToolCalls, 50), cmp.Or(b.Failures, 3),
		all, cmp.Or(b.Stage, all/3), cmp.Or(b.Parallel, 5)}
}

func (b Bounds) check() error {
	if min(b.Iterations, b.ModelCalls, b.ToolCalls, b.Failures, b.Parallel) < 0 || min(b.Time, b.Stage) < 0 || b.Parallel > 8 {
		return messages.InvalidInput("Config.Bounds has a negative number, or a Parallel above 8")
	}
	return nil
}

const (
	warnAt = 3 // equal iterations in a row: the model gets errors instead of results
	stopAt = 5 // the turn ends
)

// spent is what a turn has used of its bounds.
type spent struct {
	iterations, modelCalls, toolCalls, failures, equal int

	last string // the calls of the last iteration
	time time.Duration
}

// asked counts the calls of an answer.
func (s *spent) asked(calls []model.ToolCall, tools *tool.Set) {
	s.iterations++
	s.toolCalls += len(calls)
	now := fingerprint(slices.DeleteFunc(slices.Clone(calls), func(c model.ToolCall) bool { return tools.Tool(c.Name).Poll }))
	if now != s.last || now == "" {
		s.equal = 0
	}
	s.equal++
	s.last = now
}

func limit(format string, args ...any) error {
	return messages.Errorf(messages.CauseLimitExceeded, format, args...)
}

// bounded is the stream, whose calls are counted.
func (u *turn) bounded(s model.Stream) model.Stream {
	return func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
		if u.spent.modelCalls++; u.spent.modelCalls > u.Bounds.ModelCalls {
			return func(yield func(model.Part, error) bool) {
				yield(model.End{}, limit("the model was called more than %d times in one turn", u.Bounds.ModelCalls))
			}
		}
		return s(ctx, r)
	}
}

// exceeded is the error of a turn that wants more than it may have.
func (b Bounds) exceeded(s spent) error {
	switch {
	case s.equal >= stopAt:
		return limit("the model made the same calls of tools %d times in a row", s.equal)
	case s.failures >= b.Failures:
		return limit("the calls of tools failed %d times in a row, and the model goes on", s.failures)
	case s.toolCalls > b.ToolCalls:
		return limit("the model called tools more than %d times in one turn", b.ToolCalls)
	case s.iterations >= b.Iterations:
		return limit("the model still calls tools after %d answers in one turn", b.Iterations)
	}
	return nil
}

// fingerprint is equal for the same calls in any order, however their arguments are written.
func fingerprint(calls []model.ToolCall) string {
	var all []string
	for _, c := range calls {
		arguments := c.Arguments
		var value any
		if json.Unmarshal([]byte(arguments), &value) == nil {
			canonical, _ := json.Marshal(value) // it came as JSON
			arguments = string(canonical)
		}
		all = append(all, c.Name+"\x00"+arguments)
	}
	slices.Sort(all)
	return strings.Join(all, "\x01")
}
