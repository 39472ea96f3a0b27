package call_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// spender is a model that says tokens of four bytes each, and counts what it bills.
type spender struct {
	mu      sync.Mutex
	asked   []model.Request
	billed  atomic.Int64
	answers func(r model.Request) (tokens int, reports bool)
}

func (s *spender) stream(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		if v := (model.Verdict{Outcome: model.Failed, Cause: messages.CauseError, Message: "not asked"}); ctx.Err() != nil {
			yield(model.End{Verdict: v}, v.Err())
			return
		}
		tokens, reports := s.take(r)
		in := model.Size(r.Messages) / 4
		s.billed.Add(int64(in))
		time.Sleep(time.Duration(tokens) * time.Millisecond)
		for said := 0; said < tokens; said += 100 {
			if ctx.Err() != nil {
				v := model.Verdict{Outcome: model.Failed, Cause: messages.CauseError, Message: "stopped"}
				yield(model.End{Verdict: v, Evidence: model.Evidence{Output: true}}, v.Err())
				return
			}
			piece := min(100, tokens-said)
			s.billed.Add(int64(piece))
			if !yield(model.Text{Text: strings.Repeat("tok ", piece)}, nil) {
				return
			}
		}
		end := model.End{Verdict: model.Judge(model.Strict, done), Evidence: done, Model: r.Model}
		if reports {
			end.Usage = &messages.Usage{PromptTokens: new(int64(in)), CompletionTokens: new(int64(tokens))}
		}
		yield(end, nil)
	}
}

// take notes the request, and decides about its answer.
func (s *spender) take(r model.Request) (tokens int, reports bool) {
	s.mu.Lock()
	defer s.mu.Unlock() // answers may panic
	s.asked = append(s.asked, r)
	return s.answers(r)
}

// spend runs the work in a run with the limits, and returns its State and events.
func spend(t *testing.T, c actors.Config, l messages.Limits, work work, meanwhile func(*actors.System, *actors.Run)) (s messages.State, events []messages.Event) {
	system := faultplan.Open(t, c)
	run, err := system.Start(t.Context(), actors.Job{Name: "test", Tasks: []actors.Task{{Name: "work", Run: work}}}, actors.Options{Limits: l})
	must(t, err)
	if meanwhile != nil {
		synctest.Wait()
		meanwhile(system, run)
	}
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		events = append(events, e)
		s, err = s.Apply(e)
		must(t, err)
	}
	if n := system.Stats().RefusedEvents; n != 0 {
		t.Errorf("%d events were refused", n)
	}
	return s, events
}

func say(text string) model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: text}}}
}

// However many children run at once, and whatever their model reports, a tree spends no more than its budget.
func TestChildrenSpendWithinTheBudget(t *testing.T) {
	seeds := 1000
	if testing.Short() {
		seeds = 100
	}
	ends := map[messages.Code]int{}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1))
			limit := int64(2000 + dice.IntN(200_000))
			calls := 1 + dice.IntN(6)
			var mu sync.Mutex // the children share the dice
			roll := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return dice.IntN(n)
			}
			m := &spender{answers: func(r model.Request) (int, bool) { return 1 + roll(min(r.MaxTokens, 3000)), roll(4) > 0 }}
			child := actors.Job{Name: "child", Tasks: []actors.Task{{Name: "work", Run: func(ctx context.Context, task *actors.TaskContext) error {
				for i := range calls {
					_, err := call.Respond(ctx, task, m.stream, say(strings.Repeat("hello ", 20)), call.Label{Name: fmt.Sprint("a", i)})
					if err != nil {
						return err
					}
				}
				return nil
			}}}}
			s, _ := spend(t, actors.Config{}, messages.Limits{Budget: messages.Budget{Tokens: limit}}, func(ctx context.Context, task *actors.TaskContext) error {
				for i := range 8 {
					run, err := task.Start(ctx, child, actors.Options{Key: fmt.Sprint(i)})
					if err == nil {
						task.Go(func(ctx context.Context) error { _, err := run.Wait(ctx); return err })
					} else if messages.CodeOf(err) != messages.CodeBudget {
						return err
					}
				}
				if roll(5) == 0 {
					return messages.Errorf(messages.CauseError, "the children are canceled")
				}
				return nil
			}, nil)
			for _, c := range s.Children {
				if c.Grant != nil {
					t.Errorf("seed %d: the child %s has ended, and keeps %v", seed, c.Child, c.Grant)
				}
			}
			ends[s.End.Cause]++
			p := s.Purse
			if billed := m.billed.Load(); billed > limit || p != nil && (p.Reserved != messages.Budget{} || p.Granted != messages.Budget{} || p.Spent.Tokens < billed || p.Spent.Tokens > limit) {
				t.Errorf("seed %d: the model billed %d of %d tokens, the purse has %+v", seed, billed, limit, p)
			}
		})
	}
	t.Logf("ends: %v", ends)
	if ends[""] == 0 {
		t.Error("no tree did its work")
	}
}

// What is left bounds each answer, and then no call is made: the run ends with limit_exceeded, and its text stays.
func TestBudgetBoundsCalls(t *testing.T) {
	price := func(name string) (actors.Price, bool) { return actors.Price{Input: 1000, Output: 2000}, name == "m" }
	for name, c := range map[string]struct {
		budget messages.Budget
		tokens int // of each answer, if the budget has room for them
		calls  int // that are made
		most   []int
		unit   string
	}{
		"output":      {messages.Budget{Output: 1000}, 300, 3, []int{1000, 700, 400}, "output"},
		"half":        {messages.Budget{Output: 20_000}, 8000, 4, []int{10_000, 6000, 4096, 1904}, "output"},
		"tokens":      {messages.Budget{Tokens: 1000}, 990, 1, []int{991}, "tokens"},
		"small":       {messages.Budget{Tokens: 100}, 80, 1, []int{91}, "tokens"},
		"input":       {messages.Budget{Input: 12}, 5, 1, []int{0}, "input"},
		"model calls": {messages.Budget{ModelCalls: 2}, 5, 2, []int{0, 0}, "model_calls"},
		"cost":        {messages.Budget{Cost: messages.Cost{Amount: 1}}, 400, 1, []int{495}, "cost"},
		"time":        {messages.Budget{Time: messages.Duration(time.Second)}, 800, 1, []int{0, 0}, "time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &spender{answers: func(r model.Request) (int, bool) {
					if r.MaxTokens > 0 {
						return min(c.tokens, r.MaxTokens), true
					}
					return c.tokens, true
				}}
				s, events := spend(t, actors.Config{Prices: price}, messages.Limits{Budget: c.budget}, func(ctx context.Context, task *actors.TaskContext) error {
					for i := range 5 {
						if _, err := call.Respond(ctx, task, m.stream, say("0123456789012345678901234"), call.Label{Name: fmt.Sprint("a", i)}); err != nil {
							return err
						}
					}
					return nil
				}, nil)
				warned := 0
				for _, e := range events {
					if b, ok := e.Body.(messages.BudgetWarning); ok && b.Unit == c.unit {
						warned++
					}
				}
				for i, most := range c.most {
					if i < len(m.asked) && m.asked[i].MaxTokens != most {
						t.Errorf("request %d has max_tokens %d, want %d", i, m.asked[i].MaxTokens, most)
					}
				}
				text, _ := s.Stream("a0")
				switch {
				case s.End.Cause != messages.CauseLimitExceeded || s.End.Error.Code != messages.CodeBudget || !strings.Contains(s.End.Error.Message, c.unit):
					t.Errorf("the run ended as %+v: %v", s.End, s.End.Error)
				case c.unit != "time" && (len(m.asked) != c.calls || text.Len() != 4*c.tokens || (warned != 1) != (c.unit == "input")):
					t.Errorf("%d calls, %d bytes of the first text, %d warnings of %+v", len(m.asked), text.Len(), warned, s.Purse)
				}
			})
		})
	}
}

// What a server does not report is estimated, without a budget too, and the run says so; an answer that ignores max_tokens is ended.
func TestUsageIsEstimated(t *testing.T) {
	for tokens, said := range map[int]int{200: 200, 300: 300, 5000: 1600} {
		synctest.Test(t, func(t *testing.T) {
			m := &spender{answers: func(model.Request) (int, bool) { return tokens, false }}
			s, _ := spend(t, actors.Config{}, messages.Limits{Budget: messages.Budget{Tokens: int64(min(tokens/300*1000, 1000))}}, func(ctx context.Context, task *actors.TaskContext) error {
				_, err := call.Respond(ctx, task, m.stream, say("hello"), local)
				return err
			}, nil)
			if (s.Status == messages.Completed) != (tokens == said) || !s.Purse.Estimated || s.Purse.Spent.Tokens != int64(said+2) {
				t.Errorf("the run %s, and the purse has %+v", s.Status, s.Purse)
			}
		})
	}
}

// With on_budget ask people may add to the budget, and the call is made then.
func TestPeopleAddToTheBudget(t *testing.T) {
	for value, calls := range map[string]int{`{"output":2000}`: 2, `null`: 1} {
		synctest.Test(t, func(t *testing.T) {
			m := &spender{answers: func(r model.Request) (int, bool) { return min(r.MaxTokens, 1000), true }}
			s, _ := spend(t, actors.Config{}, messages.Limits{Budget: messages.Budget{Output: 1000}, OnBudget: messages.BudgetAsk},
				func(ctx context.Context, task *actors.TaskContext) error {
					for i := range 2 {
						if _, err := call.Respond(ctx, task, m.stream, say("hello"), call.Label{Name: fmt.Sprint("a", i)}); err != nil {
							return err
						}
					}
					return nil
				}, func(s *actors.System, run *actors.Run) {
					time.Sleep(time.Minute)
					for _, wrong := range []string{`{"output":1e300}`, `{"output":0.5}`, `{"output":-1}`} {
						if err := s.Answer(t.Context(), run.ID(), "budget.1", []byte(wrong), ""); messages.CodeOf(err) != messages.CauseInvalidInput {
							t.Errorf("%s: %v", wrong, err)
						}
					}
					if err := s.Answer(t.Context(), run.ID(), "budget.1", []byte(value), ""); err != nil {
						t.Error(err)
					}
				})
			if len(m.asked) != calls || (s.Status == messages.Completed) != (calls == 2) || s.Inputs[0].Kind != messages.InputBudget {
				t.Errorf("after %s: %d calls, %+v, %+v", value, len(m.asked), s.End, s.Inputs)
			}
		})
	}
}

// A program's report counts, and ends a run that has spent all. Tools count, too.
func TestToolsAndReportsSpend(t *testing.T) {
	for name, c := range map[string]struct {
		budget messages.Budget
		say    func(n int) messages.Body
		said   int64
	}{
		"tools": {messages.Budget{ToolCalls: 2}, func(n int) messages.Body { return messages.ToolStarted{Call: fmt.Sprint(n), Tool: "look"} }, 2},
		"reports": {messages.Budget{Output: 250}, func(int) messages.Body {
			return messages.UsageReported{By: "agent", Usage: messages.Usage{CompletionTokens: new(int64(100))}, ToolCalls: 1}
		}, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := spend(t, actors.Config{}, messages.Limits{Budget: c.budget}, func(ctx context.Context, task *actors.TaskContext) (err error) {
				for n := 0; err == nil; n++ {
					err = task.Emit(c.say(n), "")
				}
				return err
			}, nil)
			if s.Purse.Spent.ToolCalls != c.said || s.End == nil || s.End.Error == nil || s.End.Error.Code != messages.CodeBudget {
				t.Errorf("%s: %+v, ended as %+v", name, s.Purse, s.End)
			}
		})
	}
}

// A budget that nobody can hold is refused at the start.
func TestWrongBudgetsAreRefused(t *testing.T) {
	system := faultplan.Open(t, actors.Config{Ceilings: actors.Ceilings{Budget: messages.Budget{Tokens: 5000}},
		Prices: func(name string) (actors.Price, bool) { return actors.Price{}, name == "known" }})
	cost := messages.Budget{Cost: messages.Cost{Amount: 1}}
	for name, c := range map[string]struct {
		limits messages.Limits
		models []string
	}{
		"no price":       {messages.Limits{Budget: cost}, []string{"unknown"}},
		"no model":       {messages.Limits{Budget: cost}, []string{""}},
		"other currency": {messages.Limits{Budget: messages.Budget{Cost: messages.Cost{Amount: 1, Currency: "EUR"}}}, nil},
		"less than none": {messages.Limits{Budget: messages.Budget{Tokens: -1}}, nil},
		"above":          {messages.Limits{Budget: messages.Budget{Tokens: 5001}}, nil},
		"on_budget":      {messages.Limits{OnBudget: "perhaps"}, nil},
	} {
		job := actors.Job{Name: "test", Models: c.models, Tasks: []actors.Task{{Name: "work", Run: func(context.Context, *actors.TaskContext) error { return nil }}}}
		if _, err := system.Start(t.Context(), job, actors.Options{Limits: c.limits}); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%s: %v", name, err)
		}
		job.Models = []string{"known"}
		run, err := system.Start(t.Context(), job, actors.Options{Limits: messages.Limits{Budget: cost}})
		must(t, err)
		if s, err := run.Wait(t.Context()); err != nil || s.Queued.Limits.Budget.Tokens != 5000 {
			t.Errorf("%v, limits %+v", err, s.Queued.Limits)
		}
	}
	if b, err := messages.ParseBudget("tokens=5,cost=2.5USD,time=90s"); err != nil || b.String() != "tokens=5,cost=2.5USD,time=1m30s" {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := messages.ParseBudget("token=5"); errors.Is(err, nil) {
		t.Error("a budget in tokens that do not exist was read")
	}
}

var must = fatal.IfError
