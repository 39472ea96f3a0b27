package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/testkit"
)

var errAgain = supervision.RetryAfter(0, errors.New("once more"))

// attempts makes a run of one task whose attempts are these, in turn, and returns its end.
func attempts(t *testing.T, s *actors.System, run ...func(context.Context, *actors.TaskContext) error) messages.State {
	t.Helper()
	j := job(func(ctx context.Context, c *actors.TaskContext) error { return run[c.Attempt()-1](ctx, c) })
	j.Tasks[0].Policy = supervision.Policy{RetryCrash: true, Attempts: len(run)}
	state := wait(t, start(t, s, j, actors.Options{}))
	if now, _ := state.Task("work"); now.Attempt != len(run) {
		t.Errorf("%d attempts of %d: %+v", now.Attempt, len(run), state.End)
	}
	return state
}

func gives[T any](v T, err error) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, err }
}

// never is a step that must not be called.
func never[T any](t *testing.T) func(context.Context) (T, error) {
	return func(context.Context) (v T, err error) {
		t.Error("a kept step is called")
		return v, err
	}
}

type receipt struct {
	Number int               `json:"number"`
	Lines  map[string]string `json:"lines,omitempty"`
	note   string
}

// "The next attempt, on this node or another, gets it from the log and does not call the function."
func TestAKeptStepIsNotCalledAgain(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		want := receipt{Number: 7, Lines: map[string]string{"a": "b"}}
		check := func(got receipt, err error) {
			t.Helper()
			if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
				t.Errorf("the receipt is %+v, %v", got, err)
			}
		}
		state := attempts(t, s, func(ctx context.Context, c *actors.TaskContext) error {
			paid := want
			paid.note = "no JSON has this, in no attempt"
			check(actors.Do(ctx, c, "charge", gives(paid, nil)))
			_, err := actors.Do(ctx, c, "ship", gives("", errAgain))
			return err
		}, func(ctx context.Context, c *actors.TaskContext) error {
			check(actors.Do(ctx, c, "charge", never[receipt](t)))
			way, err := actors.Do(ctx, c, "ship", gives("by train", nil))
			return errors.Join(err, c.Result(way, false))
		})
		if string(state.End.Result) != `"by train"` || len(state.Kept) != 2 || state.Kept[0].Task != "work" {
			t.Errorf("%s with %+v", state.End.Result, state.Kept)
		}
	})
}

// "JSON null / nil results work", and so does all else that JSON can say.
func TestStepsOfNothing(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		steps := func(last error) func(context.Context, *actors.TaskContext) error {
			return func(ctx context.Context, c *actors.TaskContext) error {
				calls := 0
				_, a := actors.Do(ctx, c, "pointer", func(context.Context) (*receipt, error) { calls++; return nil, nil })
				_, b := actors.Do(ctx, c, "any", func(context.Context) (any, error) { calls++; return nil, nil })
				_, d := actors.Do(ctx, c, "nothing", func(context.Context) (struct{}, error) { calls++; return struct{}{}, nil })
				raw, e := actors.Do(ctx, c, "raw", func(context.Context) (json.RawMessage, error) { calls++; return []byte(`null`), nil })
				if string(raw) != "null" || calls != 4*(2-c.Attempt()) {
					t.Errorf("attempt %d made %d calls; raw is %s", c.Attempt(), calls, raw)
				}
				return errors.Join(a, b, d, e, last)
			}
		}
		expect(t, attempts(t, s, steps(errAgain), steps(nil)), messages.Completed, messages.ByRun, "")
	})
}

// "The result is in the log, durable, before Do returns." So is the run's first note of a step before its function is called.
func TestAResultIsDurableBeforeDoReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		s := open(t, actors.Config{Journal: &testkit.Journal{Journal: store,
			Disturb: func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: 3 * time.Second} }}})
		kept := func(c *actors.TaskContext) (kept []messages.StepKept) {
			page, _ := store.Read(t.Context(), c.RunID(), 0)
			for _, e := range page.Events {
				if b, ok := e.Body.(messages.StepKept); ok {
					kept = append(kept, b)
				}
			}
			return kept
		}
		attempts(t, s, func(ctx context.Context, c *actors.TaskContext) error {
			_, first := actors.Do(ctx, c, "first", func(context.Context) (int, error) {
				if k := kept(c); len(k) != 1 || !k[0].Begun || !k[0].Again {
					t.Errorf("the run's first step is called, and the journal has %+v", k)
				}
				return 0, nil
			})
			_, err := actors.DoOnce(ctx, c, "once", func(context.Context) (int, error) {
				if k := kept(c); len(k) != 3 || !k[2].Begun {
					t.Errorf("a step that must not be made twice is called, and the journal has %+v", k)
				}
				return 1, nil
			})
			if k := kept(c); len(k) != 4 || string(k[3].Result) != "1" {
				t.Errorf("Do has returned, and the journal has %+v", k)
			}
			c.Go(func(context.Context) error { time.Sleep(time.Second); return errAgain })
			_, cut := actors.Do(ctx, c, "cut", gives(2, nil))
			if cut == nil || len(kept(c)) != 4 {
				t.Errorf("Do waits for the journal after the end of its attempt: %v", cut)
			}
			return errors.Join(first, err)
		}, func(ctx context.Context, c *actors.TaskContext) error {
			v, err := actors.Do(ctx, c, "cut", never[int](t))
			if v != 2 || len(kept(c)) != 5 {
				t.Errorf("the next attempt was given %d, and the journal has %+v", v, kept(c))
			}
			return err
		})
	})
}

// "Names are unique in their task; a name asked again in the same attempt is an error."
func TestNamesOfSteps(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		longest := strings.Repeat("é", 128)
		names := func(last error) func(context.Context, *actors.TaskContext) error {
			return func(ctx context.Context, c *actors.TaskContext) error {
				for _, name := range []string{"", longest + "x", "\xff", "a\u202e"} {
					if _, err := actors.Do(ctx, c, name, never[int](t)); messages.CodeOf(err) != messages.CauseInvalidInput {
						t.Errorf("the name %.8q: %v", name, err)
					}
				}
				_, err := actors.Do(ctx, c, longest, gives(1, nil))
				if _, err := actors.Do(ctx, c, longest, never[int](t)); err == nil || !strings.Contains(err.Error(), longest) {
					t.Errorf("a name asked again: %v", err)
				}
				return cmpErr(err, last)
			}
		}
		j := actors.Job{Name: "two", Tasks: []actors.Task{{Name: "a", Run: names(nil)}, {Name: "b", Run: names(nil)}}}
		if state := wait(t, start(t, s, j, actors.Options{})); len(state.Kept) != 2 {
			t.Errorf("of two tasks with one name, %+v are kept", state.Kept)
		}
		expect(t, attempts(t, s, names(errAgain), names(nil)), messages.Completed, messages.ByRun, "")
	})
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// "Errors that are permanent are kept as well": with code and sentence, the same in every attempt.
func TestPermanentErrorsAreKept(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		declined := &messages.Error{Code: messages.CodeConflict, Message: "the card is declined", Retryable: true}
		huge := supervision.Permanent(errors.New(strings.Repeat("x", 2<<20) + "\xff"))
		steps := func(first, second func(context.Context) (int, error), last error) func(context.Context, *actors.TaskContext) error {
			return func(ctx context.Context, c *actors.TaskContext) error {
				_, err := actors.Do(ctx, c, "charge", first)
				if !supervision.IsPermanent(err) || messages.CodeOf(err) != messages.CodeConflict || err.Error() != declined.Message {
					t.Errorf("attempt %d gets %v", c.Attempt(), err)
				}
				if _, err := actors.Do(ctx, c, "huge", second); !supervision.IsPermanent(err) || len(err.Error()) > 64<<10 {
					t.Errorf("attempt %d gets a huge error of %d bytes", c.Attempt(), len(err.Error()))
				}
				return last
			}
		}
		attempts(t, s, steps(gives(0, supervision.Permanent(declined)), gives(0, huge), errAgain), steps(never[int](t), never[int](t), nil))
	})
}

// "a kept result that no longer decodes fails the task with a clear, permanent error that names the step"
func TestChangedCodeIsTold(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		state := attempts(t, s, func(ctx context.Context, c *actors.TaskContext) error {
			_, err := actors.Do(ctx, c, "charge", gives("seven", nil))
			return cmpErr(err, errAgain)
		}, func(ctx context.Context, c *actors.TaskContext) error {
			v, err := actors.Do(ctx, c, "charge", never[int](t))
			if v != 0 || !supervision.IsPermanent(err) {
				t.Errorf("the changed code gets %d, %v", v, err)
			}
			return err
		})
		expect(t, state, messages.Failed, messages.ByRun, messages.CauseInvalidOutput)
		if why := state.End.Error.Message; !strings.Contains(why, `"charge"`) {
			t.Errorf("the run failed: %s", why)
		}
	})
}

// "A bound on the size of a result (1 MiB) with a clear error": it is permanent, and kept.
func TestResultsOfStepsAreBounded(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		largest := strings.Repeat("x", 1<<20-2)
		steps := func(first, large func(context.Context) (string, error), odd func(context.Context) (chan int, error), last error) func(context.Context, *actors.TaskContext) error {
			return func(ctx context.Context, c *actors.TaskContext) error {
				if v, err := actors.Do(ctx, c, "largest", first); v != largest || err != nil {
					t.Errorf("a result of 1 MiB: %.20q, %v", v, err)
				}
				_, err := actors.Do(ctx, c, "large", large)
				if messages.CodeOf(err) != messages.CauseLimitExceeded || !supervision.IsPermanent(err) || !strings.Contains(err.Error(), `"large"`) {
					t.Errorf("attempt %d: a result of more than 1 MiB: %v", c.Attempt(), err)
				}
				_, err = actors.Do(ctx, c, "odd", odd)
				if messages.CodeOf(err) != messages.CauseInvalidInput || !strings.Contains(err.Error(), `"odd"`) {
					t.Errorf("attempt %d: a result that is not JSON: %v", c.Attempt(), err)
				}
				for name, raw := range map[string]string{"bytes": "\"\xff\"", "deep": strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999)} {
					_, err := actors.Do(ctx, c, name, gives(json.RawMessage(raw), nil))
					if messages.CodeOf(err) != messages.CauseInvalidInput {
						t.Errorf("attempt %d: a result that no reader could read: %s: %v", c.Attempt(), name, err)
					}
				}
				return last
			}
		}
		attempts(t, s, steps(gives(largest, nil), gives(largest+"x", nil), gives(make(chan int), nil), errAgain),
			steps(never[string](t), never[string](t), never[chan int](t), nil))
	})
}

// "At least once by default": what failed otherwise, crashed, or was cut off with an error is made again; a text that
// a kept step said is taken back with its attempt.
func TestOtherEndsOfStepsAreNotKept(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		calls := 0
		count := func(err error) func(context.Context) (int, error) {
			return func(context.Context) (int, error) { calls++; return calls, err }
		}
		state := attempts(t, s, func(ctx context.Context, c *actors.TaskContext) error {
			_, said := actors.Do(ctx, c, "said", func(context.Context) (int, error) { return 0, c.FinishText("text", "of attempt 1") })
			_, plain := actors.Do(ctx, c, "plain", count(errors.New("plain")))
			short, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			_, late := actors.Do(short, c, "late", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return count(supervision.Permanent(context.Cause(ctx)))(ctx)
			})
			_, gone := actors.Do(short, c, "gone", never[int](t))
			if said != nil || plain == nil || late == nil || !errors.Is(gone, context.DeadlineExceeded) {
				t.Errorf("%v; %v; %v; %v", said, plain, late, gone)
			}
			_, _ = actors.Do(ctx, c, "crash", func(context.Context) (int, error) { panic("in a step") })
			return nil
		}, func(ctx context.Context, c *actors.TaskContext) error {
			_, err := actors.Do(ctx, c, "said", never[int](t))
			for i, name := range []string{"plain", "late", "gone", "crash"} {
				if v, again := actors.Do(ctx, c, name, count(nil)); v != i+3 || again != nil {
					t.Errorf("%s gives %d, %v", name, v, again)
				}
			}
			return err
		})
		if text, _ := state.Stream("text"); text.Text() != "" {
			t.Errorf("the first attempt's text is %q", text.Text())
		}
	})
}

// "A later attempt that finds it begun and not ended gets a permanent error that says so", and nobody calls it again.
func TestDoOnce(t *testing.T) {
	once := func(ctx context.Context, c *actors.TaskContext, fn func(context.Context) (int, error)) error {
		_, err := actors.DoOnce(ctx, c, "charge", fn)
		return err
	}
	for name, test := range map[string]struct {
		first      func(context.Context) (int, error)
		again, bad bool // in the next attempt it is called, it fails
	}{
		"crashed":    {func(context.Context) (int, error) { panic("in a step") }, false, true},
		"ended":      {gives(1, nil), false, false},
		"retryable":  {gives(0, errAgain), true, false},
		"of context": {func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }, false, true},
		"failed":     {gives(0, errors.New("perhaps it was done")), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
				var got error
				attempts(t, s, func(ctx context.Context, c *actors.TaskContext) error {
					ctx, stop := context.WithTimeout(ctx, time.Minute)
					defer stop()
					_ = once(ctx, c, test.first)
					return errAgain
				}, func(ctx context.Context, c *actors.TaskContext) error {
					called := false
					got = once(ctx, c, func(context.Context) (int, error) { called = true; return 1, nil })
					if called != test.again {
						t.Errorf("it is called: %t", called)
					}
					return errAgain
				}, func(ctx context.Context, c *actors.TaskContext) error {
					if third := once(ctx, c, never[int](t)); (third == nil) != (got == nil) {
						t.Errorf("the third attempt gets %v, the second got %v", third, got)
					}
					return nil
				})
				if (got != nil) != test.bad || got != nil && !supervision.IsPermanent(got) {
					t.Errorf("the second attempt got %v", got)
				}
			})
		})
	}
}

// A step that a shutdown finds at work is kept if it ends well, and one that had not begun is free for the next node.
func TestStepsAtAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		var slow atomic.Bool
		node := func(name string, task func(context.Context, *actors.TaskContext) error) *actors.System {
			j := job(task)
			j.Restart = true
			s, err := actors.New(t.Context(), actors.Config{Node: name, HandOver: true, Drain: time.Second,
				Journal: &testkit.Journal{Journal: store, Disturb: func(journal.Block) (d testkit.Disturbance) {
					if slow.Load() {
						d.Delay = 3 * time.Second
					}
					return d
				}},
				Jobs: []actors.Definition{{Name: j.Name, New: func(json.RawMessage) (actors.Job, error) { return j, nil }}}})
			noError(t, err)
			return s
		}
		a := node("a", func(ctx context.Context, c *actors.TaskContext) error {
			_, err := actors.DoOnce(ctx, c, "deaf", func(context.Context) (int, error) { time.Sleep(4 * time.Second); return 7, nil })
			if err != nil && err.Error() != context.Cause(ctx).Error() {
				t.Errorf("after the shutdown: %v", err)
			}
			return context.Cause(ctx)
		})
		id, err := a.Submit(t.Context(), messages.Request{Job: "test"})
		noError(t, err)
		synctest.Wait()
		noError(t, a.Close(t.Context()))
		b := node("b", func(ctx context.Context, c *actors.TaskContext) error {
			v, err := actors.DoOnce(ctx, c, "deaf", never[int](t))
			if v != 7 || err != nil {
				t.Errorf("what ended in the shutdown is %d, %v", v, err)
			}
			slow.Store(true) // the node leaves while it writes that the step begins
			_, err = actors.DoOnce(ctx, c, "unborn", never[int](t))
			return err
		})
		time.Sleep(time.Second)
		noError(t, b.Close(t.Context()))
		slow.Store(false)
		c := node("c", func(ctx context.Context, c *actors.TaskContext) error {
			_, err := actors.DoOnce(ctx, c, "unborn", gives(1, nil))
			return err
		})
		for range c.Events(t.Context(), id, 0) {
		}
		state, err := c.State(t.Context(), id)
		if err != nil || state.Status != messages.Completed || state.Recoveries != 2 || len(state.Kept) != 2 {
			t.Errorf("%s after %d recoveries: %+v %+v, %v", state.Status, state.Recoveries, state.End, state.Kept, err)
		}
		noError(t, c.Close(t.Context()))
	})
}

// A task may make steps side by side, and steps within steps.
func TestStepsSideBySide(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		const n = 50
		work := func(last error) func(context.Context, *actors.TaskContext) error {
			return func(ctx context.Context, c *actors.TaskContext) error {
				for i := range n {
					c.Go(func(ctx context.Context) error {
						v, err := actors.Do(ctx, c, fmt.Sprint("outer ", i), func(ctx context.Context) (int, error) {
							return actors.Do(ctx, c, fmt.Sprint("inner ", i), gives(i*c.Attempt(), nil))
						})
						if v != i {
							t.Errorf("step %d gives %d, %v", i, v, err)
						}
						return err
					})
				}
				time.Sleep(time.Second)
				return last
			}
		}
		if state := attempts(t, s, work(errAgain), work(nil)); len(state.Kept) != 2*n {
			t.Errorf("%d are kept", len(state.Kept))
		}
	})
}
