package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/testkit"
)

// "No code of a task, job, policy or observer runs under a lock; a panic, a block or a lie of theirs costs their run
// alone."

// blocking is an error whose text blocks when it is asked for more often than so many times.
type blocking struct {
	asked *atomic.Int64
	most  int64
	free  chan struct{}
}

func (e blocking) Error() string {
	if e.asked.Add(1) > e.most {
		<-e.free
	}
	return "lazy"
}

// An error whose text blocks costs its run alone: no other waits, and no node takes a healthy one. One that blocks later
// costs nothing, because its text is asked for once.
func TestErrorsThatBlock(t *testing.T) {
	for most, c := range []struct {
		cause messages.Code
		limit time.Duration
	}{{messages.CauseDeadline, 20 * time.Second}, {messages.CauseError, time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			j := journal.NewMemory()
			a := open(t, actors.Config{Journal: j, Node: "a"})
			open(t, actors.Config{Journal: j, Node: "b"})
			e := blocking{new(atomic.Int64), int64(most), make(chan struct{})}
			bad := start(t, a, job(func(context.Context, *actors.TaskContext) error { return e }), actors.Options{Limits: messages.Limits{WallClockMS: 2000}})
			good := start(t, a, job(func(context.Context, *actors.TaskContext) error { time.Sleep(time.Minute); return nil }), actors.Options{})
			expect(t, checkLimit(t, bad, c.limit), messages.Failed, messages.ByRun, c.cause)
			expect(t, checkLimit(t, good, 2*time.Minute), messages.Completed, messages.ByRun, "")
			if n := e.asked.Load(); n != 1 {
				t.Errorf("it was asked %d times", n)
			}
			close(e.free)
		})
	}
}

func TestObserverThatPanicsAndBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, n := make(chan struct{}), 0
		var told []messages.Kind
		s := open(t, actors.Config{Observe: func(e messages.Event) {
			switch n++; n {
			case 2:
				panic("observer")
			case 3:
				<-free
			}
			told = append(told, e.Kind())
		}})
		run := start(t, s, job(nothing), actors.Options{})
		checkLimit(t, run, time.Second)
		synctest.Wait()
		close(free)
		synctest.Wait()
		if want := "run.queued task.started task.completed run.completed"; strings.Join(strs(told), " ") != want {
			t.Errorf("told of %v, want %s", told, want)
		}
	})
}

func strs(kinds []messages.Kind) (out []string) {
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}

// "A retryable error or a summary that is too large shortens itself; it never turns a success into a failure."
func TestLargeTextsAreShortened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("x", 20<<20)
		run := start(t, open(t, actors.Config{}), job(func(_ context.Context, task *actors.TaskContext) error {
			if task.Attempt() == 1 {
				return supervision.RetryAfter(time.Millisecond, errors.New(large))
			}
			task.Summarize(large)
			return task.Result("good", false)
		}), actors.Options{})
		expect(t, wait(t, run), messages.Completed, messages.ByRun, "")
	})
}

// "Values near the integer limits are refused, not overflowed", and "callers cannot pass the operator's ceilings".
func TestLimitsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := open(t, actors.Config{})
		tight := open(t, actors.Config{Ceilings: actors.Ceilings{WallClock: time.Minute, Stall: time.Second, Bytes: 1 << 20}})
		for _, l := range []messages.Limits{{WallClockMS: math.MaxInt64}, {StallMS: math.MaxInt64 / 1000}, {Bytes: math.MaxInt64}, {WallClockMS: -1}} {
			if _, err := free.Start(t.Context(), job(nothing), actors.Options{Limits: l}); messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%+v: %v", l, err)
			}
		}
		for _, l := range []messages.Limits{{WallClockMS: 60_001}, {StallMS: 1001}, {Bytes: 1<<20 + 1}} {
			if _, err := tight.Start(t.Context(), job(nothing), actors.Options{Limits: l}); messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%+v: %v", l, err)
			}
		}
		wait(t, start(t, tight, job(nothing), actors.Options{Limits: messages.Limits{WallClockMS: 60_000, StallMS: 1000, Bytes: 1 << 20}}))
	})
}

// "A job factory's panic is the caller's error at Submit, as it is at recovery." One that blocks keeps no claim waiting.
func TestFactoriesThatPanicOrBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, free := journal.NewMemory(), make(chan struct{})
		leave(t, j, "blocks", messages.RunQueued{Job: "blocks", Mode: messages.Detached}, messages.RunStarted{Node: "gone", Epoch: 1})
		leave(t, j, "other", messages.RunQueued{Job: "other", Mode: messages.Detached}, messages.RunStarted{Node: "gone", Epoch: 1})
		s := open(t, actors.Config{Journal: j, Jobs: []actors.Definition{
			{Name: "panics", New: func(json.RawMessage) (actors.Job, error) { panic("factory") }},
			{Name: "blocks", New: func(json.RawMessage) (actors.Job, error) { <-free; return actors.Job{}, nil }},
		}})
		if _, err := s.Submit(t.Context(), messages.Request{Job: "panics"}); messages.CodeOf(err) != messages.CausePanic {
			t.Errorf("Submit: %v", err)
		}
		settled(t, s, "blocks", "other")
		close(free)
	})
}

// "A task cannot claim the causes node_lost and shutdown."
func TestTasksCannotClaimALostNode(t *testing.T) {
	for _, cause := range []messages.Code{messages.CauseNodeLost, messages.CauseShutdown} {
		synctest.Test(t, func(t *testing.T) {
			run := start(t, open(t, actors.Config{}), job(func(context.Context, *actors.TaskContext) error {
				return messages.Errorf(cause, "a lie")
			}), actors.Options{})
			expect(t, wait(t, run), messages.Failed, messages.ByRun, messages.CauseError)
		})
	}
}

// "Deadlines are points in time: 3 s stay 3 s over restarts and hand-overs." Time in which the run waits for people does
// not count, on whichever node it waited.
func TestLimitsSurviveNodes(t *testing.T) {
	for _, asks := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			j := journal.NewMemory()
			long := job(func(ctx context.Context, task *actors.TaskContext) error {
				if asks {
					if _, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?", TimeoutMS: 9000}); err != nil {
						return err
					}
				}
				<-ctx.Done()
				return context.Cause(ctx)
			})
			long.Name, long.Restart = "long", true
			config := actors.Config{Journal: j, HandOver: true, Drain: time.Millisecond,
				Jobs: []actors.Definition{{Name: "long", New: func(json.RawMessage) (actors.Job, error) { return long, nil }}}}
			var id messages.RunID
			begun := time.Now()
			for i := range 4 { // a new node every 2 s
				s, err := actors.New(t.Context(), config)
				noError(t, err)
				if i == 0 {
					id, err = s.Submit(t.Context(), messages.Request{Job: "long", Limits: messages.Limits{WallClockMS: 3000}})
					noError(t, err)
				}
				if i == 3 && asks { // 6 s have passed, all of them waiting
					noError(t, s.Answer(t.Context(), id, "q", json.RawMessage("1"), ""))
				}
				time.Sleep(2*time.Second + time.Duration(i/3)*2*time.Second)
				_ = s.Close(context.Background())
			}
			state, err := journal.NewArchive(j).State(t.Context(), id)
			if err != nil || state.End == nil || state.End.Cause != messages.CauseDeadline {
				t.Fatalf("asks %t: %s, %+v, %v", asks, state.Status, state.End, err)
			}
			want := 3 * time.Second
			if asks {
				want += 6 * time.Second
			}
			if took := state.End.At.Sub(begun); took < want || took > want+200*time.Millisecond {
				t.Errorf("asks %t: it ended after %s, not %s", asks, took, want)
			}
		})
	}
}

// The timeout of a question counts from when it was asked, whichever node asks again.
func TestQuestionsSurviveNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		asks := job(func(ctx context.Context, task *actors.TaskContext) error {
			_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?", TimeoutMS: 5000})
			return err
		})
		asks.Restart = true
		config := actors.Config{Journal: j, HandOver: true, Drain: time.Millisecond,
			Jobs: []actors.Definition{{Name: "test", New: func(json.RawMessage) (actors.Job, error) { return asks, nil }}}}
		begun := time.Now()
		s, err := actors.New(t.Context(), config)
		noError(t, err)
		run := start(t, s, asks, actors.Options{})
		time.Sleep(3 * time.Second)
		_ = s.Close(context.Background())
		s = open(t, config)
		for _, err := range s.Events(t.Context(), run.ID(), 0) {
			noError(t, err)
		}
		if took := time.Since(begun); took < 5*time.Second || took > 5200*time.Millisecond {
			t.Errorf("the question was open for %s", took)
		}
	})
}

// deafWatch loses every wake-up.
type deafWatch struct{ *journal.Memory }

func (deafWatch) Watch(ctx context.Context, _ string, fn func(journal.Note)) error {
	fn(journal.Note{})
	<-ctx.Done()
	return context.Cause(ctx)
}

// "A follower looks at the head at every heartbeat, so that a lost wake-up costs one."
func TestLostWakeUpCostsAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		a, b := open(t, actors.Config{Journal: j}), open(t, actors.Config{Journal: deafWatch{j}})
		run := start(t, a, job(func(context.Context, *actors.TaskContext) error { time.Sleep(time.Second); return nil }), actors.Options{})
		begun := time.Now()
		for _, err := range b.Events(t.Context(), run.ID(), 0) {
			noError(t, err)
		}
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("the terminal came after %s", took)
		}
	})
}

// "A node whose top actor was stopped from outside says so and takes no runs", and ends those it has.
func TestTopActorIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := actors.New(t.Context(), actors.Config{})
		noError(t, err)
		run := start(t, s, job(heed), actors.Options{})
		synctest.Wait()
		top := s.PID(run.ID(), "")
		top.Id = top.Id[:strings.Index(top.Id, "/")]
		s.Node().Root().Stop(top)
		expect(t, checkLimit(t, run, time.Minute), messages.Failed, messages.BySupervisor, messages.CauseError)
		if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "stopped from outside") {
			t.Errorf("Ready: %v", err)
		}
		if _, err := s.Start(t.Context(), job(nothing), actors.Options{}); messages.CodeOf(err) != messages.CodeUnavailable {
			t.Errorf("Start: %v", err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// A replay of a key is no run that was lost.
func TestReplaysAreNotFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		a, b := open(t, actors.Config{Journal: j}), open(t, actors.Config{Journal: j})
		first := start(t, a, job(heed), actors.Options{Key: "k"})
		if again := start(t, b, job(heed), actors.Options{Key: "k"}); again.ID() != first.ID() || b.Stats().Fenced != 0 {
			t.Errorf("%s and %s, %d runs were lost", first.ID(), again.ID(), b.Stats().Fenced)
		}
		_ = first.Cancel(t.Context(), "")
		wait(t, first)
	})
}

// released records which runs were given back.
type released struct {
	*testkit.Journal
	runs []messages.RunID
}

func (j *released) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if k == journal.Released {
		j.runs = append(j.runs, c.Run)
	}
	return j.Journal.Keep(ctx, c, k)
}

// A claim is given back only when the log is durable: another node would go on from less than was said.
func TestClaimIsGivenBackAfterTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		held := false
		j := &released{Journal: &testkit.Journal{Journal: journal.NewMemory()}}
		j.Disturb = func(b journal.Block) testkit.Disturbance {
			if held = held || b.Events[0].Kind() == messages.KindLLMStarted; held {
				return testkit.Disturbance{Gate: gate}
			}
			return testkit.Disturbance{}
		}
		s, err := actors.New(t.Context(), actors.Config{Journal: j, HandOver: true, Drain: time.Millisecond})
		noError(t, err)
		work := job(func(ctx context.Context, task *actors.TaskContext) error {
			_ = task.Emit(messages.LLMStarted{Call: "1", Model: "m"}, "")
			<-ctx.Done()
			return context.Cause(ctx)
		})
		work.Restart = true
		start(t, s, work, actors.Options{})
		time.Sleep(time.Second)
		_ = s.Close(context.Background())
		if len(j.runs) > 0 {
			t.Errorf("%v was given back, though its log is not durable", j.runs)
		}
		close(gate)
		time.Sleep(time.Minute)
	})
}

// hiding does not show what follows the head of p.c1 for some seconds.
type hiding struct {
	*journal.Memory
	until time.Time
}

func (j *hiding) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if run == "p.c1" && after == 3 && time.Now().Before(j.until) {
		return journal.Page{}, messages.Errorf(messages.CodeUnavailable, "the log cannot be read now")
	}
	return j.Memory.Read(ctx, run, after)
}

// A parent is ended when the ends of its children are known, once, and not before.
func TestParentWaitsForWhatIsKnownOfItsChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &hiding{journal.NewMemory(), time.Now().Add(5 * time.Second)}
		leaveParent(t, j)
		child := left("p.c1", messages.RunQueued{Job: "gone", Mode: messages.Detached, Parent: "p"},
			messages.RunStarted{Node: "gone", Epoch: 1}, messages.RunCanceling{})
		child.Writer = "gone" // for 10 s
		j.Append(child, func(error) {})
		s := open(t, actors.Config{Journal: j})
		time.Sleep(8 * time.Second)
		if state, err := s.State(t.Context(), "p"); err != nil || state.Status.IsEnded() || s.Stats().Active != 1 {
			t.Errorf("the parent is %s before its child: %+v, %v", state.Status, s.Stats(), err)
		}
		time.Sleep(40 * time.Second)
		settled(t, s, "p", "p.c1")
		recovered := 0
		for e, err := range s.Events(t.Context(), "p", 0) {
			noError(t, err)
			if e.Kind() == messages.KindRunRecovered {
				recovered++
			}
		}
		if recovered != 1 {
			t.Errorf("the parent was recovered %d times", recovered)
		}
	})
}

var noError = fatal.IfError
