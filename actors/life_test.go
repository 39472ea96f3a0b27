package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// heed waits for the end of its context.
func heed(ctx context.Context, _ *actors.TaskContext) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func expect(t *testing.T, s messages.State, status messages.Status, by messages.Author, cause messages.Code) {
	t.Helper()
	if s.End == nil || s.Status != status || s.End.By != by || s.End.Cause != cause {
		t.Errorf("ended as %s: %+v; want %s by %s, cause %q", s.Status, s.End, status, by, cause)
	}
}

// "Cancel is accepted when run.canceling is in the log. Every task's context is cancelled at once with the cause."
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		var cause error
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			cause = heed(ctx, task)
			return cause
		}), actors.Options{})
		synctest.Wait()
		began := time.Now()
		noError(t, run.Cancel(t.Context(), "enough"))
		if state, _ := run.State(t.Context()); !state.Canceling {
			t.Error("Cancel returned before run.canceling was in the log")
		}
		expect(t, wait(t, run), messages.Canceled, messages.ByRun, messages.CauseCanceledByUser)
		if took := time.Since(began); took != 0 {
			t.Errorf("a task that heeds the cancel took %s", took)
		}
		if messages.CodeOf(cause) != messages.CauseCanceledByUser {
			t.Errorf("the task's cause is %v", cause)
		}
		if err := run.Cancel(t.Context(), "again"); err != nil {
			t.Errorf("a second cancel: %v", err)
		}
	})
}

// "A watchdog ends runs that make no progress (run.failed, cause stalled); every run has a wall-clock limit." The task is
// told which of them it was.
func TestWatchdog(t *testing.T) {
	for name, c := range map[string]struct {
		limits messages.Limits
		cause  messages.Code
		after  time.Duration
	}{
		"stall":      {messages.Limits{}, messages.CauseStalled, 5 * time.Minute},
		"wall clock": {messages.Limits{WallClockMS: 1500}, messages.CauseDeadline, 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, actors.Config{})
				began := time.Now()
				var told error
				run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
					told = heed(ctx, task)
					return told
				}), actors.Options{Limits: c.limits})
				expect(t, wait(t, run), messages.Failed, messages.ByRun, c.cause)
				if took := time.Since(began); took < c.after || took > c.after+time.Second || messages.CodeOf(told) != c.cause {
					t.Errorf("ended after %s; the task was told %v", took, told)
				}
			})
		})
	}
}

// A task that speaks is not stalled.
func TestWatchdogSeesProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			for i := range int64(10) {
				time.Sleep(4 * time.Minute / 2)
				if err := task.Progress(i, 10, "steps"); err != nil {
					return err
				}
			}
			return nil
		}), actors.Options{})
		expect(t, wait(t, run), messages.Completed, messages.ByRun, "")
	})
}

// "one whose milestones alone exceed its bytes fails limit_exceeded"
func TestBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			for i := 0; ; i++ {
				if err := task.Emit(messages.ToolStarted{Call: strconv.Itoa(i), Tool: "chatter"}, "chatter"); err != nil {
					return err
				}
			}
		}), actors.Options{Limits: messages.Limits{Bytes: 20_000}})
		expect(t, wait(t, run), messages.Failed, messages.ByRun, messages.CauseLimitExceeded)
	})
}

// "retry (bounded, backoff with jitter, visible as task.failed and task.restarted)"; a restart rewinds its streams.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			if task.Attempt() < 3 {
				task.AppendText("answer", "wrong")
				return supervision.RetryAfter(time.Second, errors.New("busy"))
			}
			return task.AppendText("answer", "right")
		}), actors.Options{})
		state := wait(t, run)
		expect(t, state, messages.Completed, messages.ByRun, "")
		answer, _ := state.Stream("answer")
		if work, _ := state.Task("work"); work.Attempt != 3 || answer.Text() != "right" {
			t.Errorf("attempt %d said %q", work.Attempt, answer.Text())
		}
	})
}

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			v, err := task.Ask(ctx, messages.InputRequired{Request: "go-on", Prompt: "Go on?"})
			if err != nil {
				return err
			}
			return task.Result(v, false)
		}), actors.Options{})
		time.Sleep(10 * time.Minute) // people are slow: that is no stall
		if err := s.Answer(t.Context(), run.ID(), "other", json.RawMessage(`1`), "p"); messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("an answer to nothing: %v", err)
		}
		noError(t, s.Answer(t.Context(), run.ID(), "go-on", json.RawMessage(`"yes"`), "p"))
		state := wait(t, run)
		expect(t, state, messages.Completed, messages.ByRun, "")
		if string(state.End.Result) != `"yes"` {
			t.Errorf("result %s", state.End.Result)
		}
		for request, code := range map[string]messages.Code{"go-on": messages.CodeConflict, "other": messages.CodeNotFound} {
			if err := s.Answer(t.Context(), run.ID(), request, nil, "p"); messages.CodeOf(err) != code {
				t.Errorf("an answer to %s after the end: %v", request, err)
			}
		}
	})
}

// An answer that is accepted says so, also where the run ends at once because of it. Time is real here: in a bubble the
// asker is always woken before the run has ended.
func TestAnswerThatEndsTheRun(t *testing.T) {
	s := open(t, actors.Config{})
	for range 500 {
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "Well?"})
			return err
		}), actors.Options{})
		for e, err := range run.Events(t.Context(), 0) {
			noError(t, err)
			if e.Kind() == messages.KindInputRequired {
				break
			}
		}
		for s.Stats().Waiting != 1 { // its clocks stop right after it is heard
			runtime.Gosched()
		}
		noError(t, s.Answer(t.Context(), run.ID(), "q", json.RawMessage(`1`), ""))
		wait(t, run)
		if n := s.Stats(); n.Waiting != 0 {
			t.Fatalf("%+v", n)
		}
	}
}

// "the same key with other input is an error"
func TestIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		ask := func(input, principal string) (*actors.Run, error) {
			j := job(func(context.Context, *actors.TaskContext) error { return nil })
			j.Input = input
			return s.Start(t.Context(), j, actors.Options{Principal: principal, Key: "k"})
		}
		first, err := ask("a", "p")
		noError(t, err)
		if again, err := ask("a", "p"); err != nil || again.ID() != first.ID() {
			t.Errorf("the same request again: %v", err)
		}
		if _, err := ask("b", "p"); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("the key with other input: %v", err)
		}
		if other, err := ask("b", "q"); err != nil || other.ID() == first.ID() {
			t.Errorf("the key of another principal: %v", err)
		}
		wait(t, first)
		if n := s.Stats().Started; n != 2 {
			t.Errorf("%d runs started", n)
		}
	})
}

func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{MaxRuns: 2, MaxRunsPerPrincipal: 1, MaxReaders: 1})
		run := start(t, s, job(heed), actors.Options{Principal: "p"})
		full := messages.CauseLimitExceeded
		if _, err := s.Start(t.Context(), job(heed), actors.Options{Principal: "p"}); messages.CodeOf(err) != full {
			t.Errorf("a principal's second run: %v", err)
		}
		second := start(t, s, job(heed), actors.Options{})
		if _, err := s.Start(t.Context(), job(heed), actors.Options{}); messages.CodeOf(err) != full {
			t.Errorf("the node's third run: %v", err)
		}
		for range 3 { // a reader that has left is not counted any more
			for _, err := range run.Events(t.Context(), 0) {
				noError(t, err)
				for _, err := range run.Events(t.Context(), 0) {
					if messages.CodeOf(err) != full {
						t.Errorf("the run's second reader: %v", err)
					}
					break
				}
				break
			}
		}
		for _, r := range []*actors.Run{run, second} {
			noError(t, r.Cancel(t.Context(), ""))
			wait(t, r)
		}
		synctest.Wait()
		start(t, s, job(func(context.Context, *actors.TaskContext) error { return nil }), actors.Options{Principal: "p"})
	})
}

func TestBadInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fine := func(context.Context, *actors.TaskContext) error { return nil }
		s := open(t, actors.Config{Jobs: []actors.Definition{{Name: "fine", New: func(in json.RawMessage) (actors.Job, error) {
			if string(in) != "1" {
				return actors.Job{}, messages.Errorf("invalid_input", "not 1")
			}
			return job(fine), nil
		}}}})
		twice := actors.Job{Name: "j", Tasks: []actors.Task{{Name: "a", Run: fine}, {Name: "a", Run: fine}}}
		for name, j := range map[string]actors.Job{
			"no name": {Tasks: twice.Tasks[:1]}, "no tasks": {Name: "j"}, "no function": {Name: "j", Tasks: []actors.Task{{Name: "a"}}},
			"one name twice": twice, "input": {Name: "j", Tasks: twice.Tasks[:1], Input: func() {}},
		} {
			if _, err := s.Start(t.Context(), j, actors.Options{}); messages.CodeOf(err) != "invalid_input" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.Start(t.Context(), job(fine), actors.Options{Mode: "loose"}); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("mode: %v", err)
		}
		for _, q := range []messages.Request{{Job: "none"}, {Job: "fine", Input: json.RawMessage("2")}} {
			if _, err := s.Submit(t.Context(), q); messages.CodeOf(err) != "invalid_input" {
				t.Errorf("%s: %v", q.Job, err)
			}
		}
		id, err := s.Submit(t.Context(), messages.Request{Job: "fine", Input: json.RawMessage("1")})
		noError(t, err)
		for _, err := range s.Events(t.Context(), id, 0) {
			if err != nil {
				t.Error(err)
			}
		}
		if err := s.Cancel(t.Context(), "r_none", "", ""); messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("cancel of no run: %v", err)
		}
		if _, err := s.Subscribe(s.PID(id, ""), id, 0, 0); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("a subscription without credits: %v", err)
		}
	})
}

// "System.Close drains."
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := actors.New(t.Context(), actors.Config{})
		noError(t, err)
		quick := start(t, s, job(func(context.Context, *actors.TaskContext) error { time.Sleep(10 * time.Second); return nil }), actors.Options{})
		slow := start(t, s, job(heed), actors.Options{})
		if err := s.Close(t.Context()); messages.CodeOf(err) != messages.CauseShutdown {
			t.Errorf("Close: %v", err)
		}
		expect(t, wait(t, quick), messages.Completed, messages.ByRun, "")
		expect(t, wait(t, slow), messages.Failed, messages.ByRun, messages.CauseShutdown)
		if _, err := s.Start(t.Context(), job(heed), actors.Options{}); messages.CodeOf(err) != messages.CodeUnavailable {
			t.Errorf("Start after Close: %v", err)
		}
	})
}

// "A reader may come at any time, before, during or after the run, and reads from any cursor until the retention ends
// the log as a whole; then events_gone."
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(context.Context, *actors.TaskContext) error { return nil }), actors.Options{})
		state := wait(t, run)
		time.Sleep(23 * time.Hour)
		for after := range state.Seq {
			n := uint64(0)
			for e, err := range run.Events(t.Context(), after) {
				if err != nil || e.Seq != after+n+1 {
					t.Fatalf("after %d: event %d, %v", after, e.Seq, err)
				}
				n++
			}
			if after+n != state.Seq {
				t.Errorf("after %d: %d events", after, n)
			}
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		var last error
		for _, err := range run.Events(left, 0) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("a canceled reader is told %v", last)
		}
		for _, tree := range []bool{false, true} {
			for after, want := range map[uint64]messages.Code{state.Seq: "", state.Seq + 1: messages.CodeReset} {
				var got error
				for _, err := range s.Follow(t.Context(), run.ID(), messages.FollowOptions{After: after, Tree: tree}) {
					got = err
				}
				if messages.CodeOf(got) != want {
					t.Errorf("from %d of %d, tree %t: %v, want %q", after, state.Seq, tree, got, want)
				}
			}
		}
		time.Sleep(2 * time.Hour)
		for _, err := range run.Events(t.Context(), 1) {
			if messages.CodeOf(err) != messages.CodeEventsGone {
				t.Errorf("after the retention: %v", err)
			}
		}
		if _, err := run.State(t.Context()); messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("State after the retention: %v", err)
		}
	})
}

// Deltas are merged before a run is found too large: what they say stays, however many they were.
func TestBytesCountMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			for i := range 20 {
				for range 100 {
					if err := task.AppendText("answer", "x"); err != nil {
						return err
					}
				}
				if err := task.Emit(messages.ToolStarted{Call: strconv.Itoa(i), Tool: "between"}, ""); err != nil {
					return err
				}
			}
			return nil
		}), actors.Options{Limits: messages.Limits{Bytes: 40_000}})
		state := wait(t, run)
		expect(t, state, messages.Completed, messages.ByRun, "")
		if answer, _ := state.Stream("answer"); answer.Len() != 2000 {
			t.Errorf("%d bytes", answer.Len())
		}
	})
}
