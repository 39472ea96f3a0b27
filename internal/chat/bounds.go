package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Bounds limit a turn. A turn that exceeds one fails with limit_exceeded, or with deadline after Time. A zero means
// the default.
type Bounds struct {
	Iterations int           // answers that may call tools; default 20
	ModelCalls int           // including stages, repeated requests for JSON, and summaries; default 40
	ToolCalls  int           // default 50
	Failures   int           // consecutive iterations in which every tool call failed; default 3
	Time       time.Duration // default 10 minutes
	Stage      time.Duration // for each of understand and think; after it the turn continues without that stage; default a third of Time
	// Parallel is how many tool calls run at a time: default 5, at most 8. A canceled task cannot record the ends of
	// more.
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
	mostCuts = 2 // consecutive answers whose calls were cut, after which the turn ends

	warnAt = 3 // consecutive equal iterations after which the model gets errors instead of results
	stopAt = 5 // consecutive equal iterations after which the turn ends
)

// spent is how much of its bounds a turn has used.
type spent struct {
	iterations, modelCalls, toolCalls, failures, equal, cuts int

	last string // fingerprint of the last iteration's calls
	why  string // how the last answer was cut
	time time.Duration
}

// asked counts the calls of an answer. If the answer was cut, why says how, and its calls are not made.
func (s *spent) asked(calls []model.ToolCall, tools *tool.Set, why string) {
	s.why = why
	if s.iterations++; why != "" {
		s.cuts++
		return
	}
	s.cuts = 0
	s.toolCalls += len(calls)
	now := fingerprint(stable.DeleteFunc(slices.Clone(calls), func(c model.ToolCall) bool { return tools.Tool(c.Name).Poll }))
	if now != s.last || now == "" {
		s.equal = 0
	}
	s.equal++
	s.last = now
}

// bounded returns the stream with its calls counted.
func (u *turn) bounded(s model.Stream) model.Stream {
	return func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
		if u.spent.modelCalls++; u.spent.modelCalls > u.Bounds.ModelCalls {
			return func(yield func(model.Part, error) bool) {
				yield(model.End{}, messages.LimitExceeded("the model was called more than %d times in one turn", u.Bounds.ModelCalls))
			}
		}
		return s(ctx, r)
	}
}

// exceeded returns an error if a turn has used more than its bounds.
func (b Bounds) exceeded(s spent) error {
	switch {
	case s.cuts > mostCuts:
		return messages.LimitExceeded("the model's answer was cut inside its calls of tools %d times in a row: it was %s", s.cuts, s.why)
	case s.equal >= stopAt:
		return messages.LimitExceeded("the model made the same calls of tools %d times in a row", s.equal)
	case s.failures >= b.Failures:
		return messages.LimitExceeded("the calls of tools failed %d times in a row, and the model goes on", s.failures)
	case s.toolCalls > b.ToolCalls:
		return messages.LimitExceeded("the model called tools more than %d times in one turn", b.ToolCalls)
	case s.iterations >= b.Iterations:
		return messages.LimitExceeded("the model still calls tools after %d answers in one turn", b.Iterations)
	}
	return nil
}

// fingerprint returns the same text for equal calls in any order, however their arguments are formatted.
func fingerprint(calls []model.ToolCall) string {
	var all []string
	for _, c := range calls {
		arguments := c.Arguments
		var value any
		if json.Unmarshal([]byte(arguments), &value) == nil {
			canonical, _ := json.Marshal(value) // it came from JSON
			arguments = string(canonical)
		}
		all = append(all, c.Name+"\x00"+arguments)
	}
	slices.Sort(all)
	return strings.Join(all, "\x01")
}
