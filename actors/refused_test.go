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
	"github.com/seed889630bf/lastword/testkit"
)

// checkLimit demands the run's terminal in time.
func checkLimit(t *testing.T, run *actors.Run, limit time.Duration) messages.State {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	state, err := run.Wait(ctx)
	if err != nil {
		t.Fatalf("no terminal within %s: %v", limit, err)
	}
	return state
}

// "If a store refuses permanently all the same, the run drops what was refused, says so, and ends": whichever block it is,
// and a reader who saw what was dropped gets a log that keeps the law.
func TestRefusedForGood(t *testing.T) {
	for at := 2; at <= 6; at++ {
		for _, canceled := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				j := &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(journal.Block) testkit.Disturbance {
					n++
					return testkit.Disturbance{Never: n == at, Delay: 200 * time.Millisecond}
				}}
				s := open(t, actors.Config{Journal: j, MaxRuns: 1})
				run := start(t, s, job(chatter), actors.Options{})
				if canceled {
					time.Sleep(time.Second)
					_ = run.Cancel(t.Context(), "")
				}
				events, err := readAll(run, 0)
				if err := errors.Join(err, testkit.CheckLog(0, events)); err != nil {
					t.Errorf("append %d: %v", at, err)
				}
				end := checkLimit(t, run, 30*time.Second)
				if n < at || end.Status == messages.Canceled {
					return
				}
				if n >= at && end.Status != messages.Completed {
					expect(t, end, messages.Failed, messages.ByRecovery, messages.CauseJournalUnavailable)
					if !strings.Contains(end.End.Error.Message, "which was dropped") {
						t.Errorf("it says %q", end.End.Error.Message)
					}
				}
				time.Sleep(10 * time.Second)
				wait(t, start(t, s, job(nothing), actors.Options{})) // its slot is free
			})
		}
	}
}

// A store that refuses everything but the first block permanently: nobody can end the run, and nobody waits for it.
func TestRefusedToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(b journal.Block) testkit.Disturbance {
			return testkit.Disturbance{Never: b.After.Seq > 0}
		}}
		s := open(t, actors.Config{Journal: j, MaxRuns: 1})
		run := start(t, s, job(nothing), actors.Options{})
		time.Sleep(time.Minute)
		if stats := s.Stats(); stats.Active != 0 || len(stats.SetAside) != 1 || stats.SetAside[0] != run.ID() {
			t.Errorf("%+v", stats)
		}
		if _, err := s.Start(t.Context(), job(nothing), actors.Options{}); err != nil {
			t.Error(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		_, waited := run.Wait(ctx)
		for what, err := range map[string]error{"Wait": waited, "Cancel": run.Cancel(ctx, "")} {
			if messages.CodeOf(err) != messages.CauseJournalUnavailable {
				t.Errorf("%s: %v", what, err)
			}
		}
		time.Sleep(time.Minute) // Close would speak of the second run while that is being set aside
	})
}

// A sub-run whose terminal the store refuses permanently does not hold its parent, whether that waits for it or is cancelled.
func TestChildWithoutALastWord(t *testing.T) {
	for _, canceled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			j := &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(b journal.Block) testkit.Disturbance {
				return testkit.Disturbance{Never: b.Head().Ended && strings.Contains(string(b.Run), ".c")}
			}}
			s := open(t, actors.Config{Journal: j})
			run := start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
				sub, err := c.Start(ctx, job(nothing), actors.Options{})
				if err == nil && !canceled {
					_, err = sub.Wait(ctx)
				}
				if canceled {
					<-ctx.Done()
				}
				return err
			}), actors.Options{})
			want := messages.Failed
			if canceled {
				time.Sleep(time.Second)
				want = messages.Canceled
				if err := run.Cancel(t.Context(), ""); err != nil {
					t.Error(err)
				}
			}
			if end := checkLimit(t, run, 10*time.Second); end.Status != want || end.Children[0].Status != messages.Failed {
				t.Errorf("%+v", end)
			}
			for _, err := range s.Follow(t.Context(), run.ID(), messages.FollowOptions{Tree: true}) {
				if err != nil {
					t.Errorf("a reader of the tree: %v", err)
				}
			}
		})
	}
}

// A first block that is refused permanently is the error of whoever starts the run.
func TestFirstBlockRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(journal.Block) testkit.Disturbance {
			return testkit.Disturbance{Never: true}
		}}
		s := open(t, actors.Config{Journal: j})
		if _, err := s.Start(t.Context(), job(nothing), actors.Options{}); messages.CodeOf(err) != messages.CauseJournalUnavailable {
			t.Errorf("Start: %v", err)
		}
		time.Sleep(time.Second)
		if n := s.Stats().Active; n != 0 {
			t.Errorf("%d runs are active", n)
		}
	})
}

// "A child that has no log does not hold its parent: sub-run refused by the store, store back, parent cancelled: all end
// within the cancel limits. Close too."
func TestChildThatTheStoreDidNotTake(t *testing.T) {
	for name, d := range map[string]testkit.Disturbance{"for a while": {Refuse: true}, "permanently": {Never: true}} {
		for _, back := range []bool{true, false} {
			if !back && d.Refuse {
				continue // then its parent waits for the store, and Close says so
			}
			synctest.Test(t, func(t *testing.T) {
				var full atomic.Bool
				full.Store(true)
				j := &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(b journal.Block) testkit.Disturbance {
					if full.Load() && strings.Contains(string(b.Run), ".c") {
						return d
					}
					return testkit.Disturbance{}
				}}
				s := open(t, actors.Config{Journal: j, JournalTimeout: time.Second})
				run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
					sub, err := task.Start(ctx, job(nothing), actors.Options{})
					if err != nil {
						return err
					}
					_, err = sub.Wait(ctx)
					return err
				}), actors.Options{})
				time.Sleep(4 * time.Second)
				full.Store(!back)
				time.Sleep(time.Second)
				_ = run.Cancel(t.Context(), "")
				if end := checkLimit(t, run, 20*time.Second); len(end.Children) != 1 || !end.Children[0].Status.IsEnded() {
					t.Errorf("%s: the children are %+v", name, end.Children)
				}
			})
		}
	}
}

// "The task or caller that sent it gets the error."
func TestWhatIsNotJSONIsRefusedWhereItComesFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		refusals := make(chan error, 9)
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			refusals <- task.Emit(messages.ToolStarted{Call: "1", Tool: "t", Arguments: json.RawMessage(`{"a":`)}, "")
			_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?", Schema: json.RawMessage("{")})
			refusals <- err
			refusals <- task.Emit(messages.ArtifactWritten{Artifact: messages.Artifact{Name: "\xff"}}, "")
			refusals <- task.Emit(messages.ToolStarted{Call: "2"}, "\xff")
			refusals <- task.AppendText("\xff", "text")
			_, err = task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?", TimeoutMS: 1 << 62})
			refusals <- err
			_, err = task.Start(ctx, job(nothing), actors.Options{Key: "#1"}) // the name of the first sub-run without a key
			refusals <- err
			close(refusals)
			_, err = task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?"})
			return err
		}), actors.Options{})
		n := 0
		for err := range refusals {
			if n++; messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("refusal %d: %v", n, err)
			}
		}
		synctest.Wait()
		for _, value := range []string{"yes", "{", "\"\xff\""} {
			if err := s.Answer(t.Context(), run.ID(), "q", json.RawMessage(value), ""); messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("the answer %q: %v", value, err)
			}
		}
		noError(t, s.Answer(t.Context(), run.ID(), "q", json.RawMessage(`"yes"`), ""))
		expect(t, checkLimit(t, run, time.Second), messages.Completed, messages.ByRun, "")
		for name, o := range map[string]actors.Options{"labels": {Labels: map[string]string{"a": strings.Repeat("x", 17<<10)}},
			"a label that is not UTF-8": {Labels: map[string]string{"a": "\xff"}}, "a long principal": {Principal: strings.Repeat("p", 2000)},
			"a key with NUL": {Key: "a\x00b"}} {
			if _, err := s.Start(t.Context(), job(nothing), o); messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// "120,000 artifacts, two 9 MB names, 150,000 open streams: each run ends." The last is started again by another node.
func TestTerminalsAlwaysFit(t *testing.T) {
	long := strings.Repeat("long", 350) // so that their names alone do not fit into one message
	artifact := func(name string) messages.ArtifactWritten {
		return messages.ArtifactWritten{Artifact: messages.Artifact{Name: name, SHA256: messages.Digest("x")}}
	}
	for name, speak := range map[string]func(*actors.TaskContext) error{
		"many artifacts": func(task *actors.TaskContext) (err error) {
			for i := 0; i < 12_000 && err == nil; i++ {
				err = task.Emit(artifact(fmt.Sprintf("pages/%s/file-%06d.html", long, i)), "")
			}
			return err
		},
		"long names": func(task *actors.TaskContext) error {
			return errors.Join(task.Emit(artifact(strings.Repeat("a", 9<<20)), ""), task.Emit(artifact(strings.Repeat("b", 9<<20)), ""))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			end := wait(t, start(t, open(t, actors.Config{}), job(func(_ context.Context, task *actors.TaskContext) error { return speak(task) }), actors.Options{}))
			if end.Status != messages.Completed || len(end.Artifacts) < 2 {
				t.Errorf("%s: %s with %d artifacts, %+v", name, end.Status, len(end.Artifacts), end.End)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		j, said := journal.NewMemory(), make(chan struct{})
		s, err := actors.New(t.Context(), actors.Config{Journal: j, Drain: time.Millisecond, HandOver: true})
		noError(t, err)
		many := job(func(ctx context.Context, task *actors.TaskContext) error {
			for i := range 15_000 {
				if err := task.AppendText(fmt.Sprintf("stream-%s-%d", long, i), "x"); err != nil {
					return err
				}
			}
			_ = task.Commit(ctx)
			close(said)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		many.Restart = true
		run := start(t, s, many, actors.Options{})
		<-said
		_ = s.Close(context.Background())
		s = open(t, actors.Config{Journal: j})
		settled(t, s, run.ID())
	})
}

// "Bound the depth of sub-runs (a default of 32, a typed error)", and its open questions.
func TestDepthAndQuestionsAreBounded(t *testing.T) {
	var nest func(ctx context.Context, task *actors.TaskContext) error
	nest = func(ctx context.Context, task *actors.TaskContext) error {
		sub, err := task.Start(ctx, job(nest), actors.Options{})
		if messages.CodeOf(err) == messages.CauseLimitExceeded {
			return task.FinishText("depth", fmt.Sprint(strings.Count(string(task.RunID()), ".")))
		}
		if err == nil {
			_, err = sub.Wait(ctx)
		}
		return err
	}
	for _, depth := range []int{0, 300} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, actors.Config{MaxDepth: depth})
			run := start(t, s, job(nest), actors.Options{})
			wait(t, run)
			want := max(depth, 32)
			deepest := run.ID() + messages.RunID(strings.Repeat(".c1", want))
			state, err := s.State(t.Context(), deepest)
			if text, _ := state.Stream("depth"); err != nil || text.Text() != fmt.Sprint(want) {
				t.Errorf("the deepest says %q: %v", text.Text(), err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		refused := make(chan error, 1)
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			for i := range 1000 {
				task.Go(func(ctx context.Context) error {
					_, err := task.Ask(ctx, messages.InputRequired{Request: fmt.Sprint(i), Prompt: "?"})
					return err
				})
			}
			time.Sleep(time.Second)
			_, err := task.Ask(ctx, messages.InputRequired{Request: "more", Prompt: "?"})
			refused <- err
			return nil
		}), actors.Options{})
		if err := <-refused; messages.CodeOf(err) != messages.CauseLimitExceeded {
			t.Errorf("the 1,001st question: %v", err)
		}
		_ = run.Cancel(t.Context(), "")
		wait(t, run)
	})
}
