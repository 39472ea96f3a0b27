package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/testkit"
)

// plays runs f in a bubble with a System.
func plays(t *testing.T, config actors.Config, f func(t *testing.T, s *actors.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, open(t, config)) })
}

// "result, summary and artifacts belong to their attempt"
func TestWhatAnAttemptLeavesGoesWithIt(t *testing.T) {
	artifact := messages.Artifact{Name: "a", Bytes: 1, SHA256: messages.Digest("x")}
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		late := make(chan error, 1)
		run := start(t, s, job(func(_ context.Context, c *actors.TaskContext) error {
			if c.Attempt() > 1 {
				return nil
			}
			c.Summarize("half done")
			time.AfterFunc(time.Minute, func() { late <- c.Result("zombie", true) })
			return errors.Join(c.Result("half", true), c.Emit(messages.ArtifactWritten{Artifact: artifact}, ""),
				supervision.RetryAfter(0, errors.New("once more")))
		}), actors.Options{})
		state := wait(t, run)
		if state.End.Result != nil || state.End.Degraded || len(state.Artifacts) != 0 {
			t.Errorf("the failed attempt left %s, %v", state.End.Result, state.Artifacts)
		}
		if err := <-late; err == nil {
			t.Error("an attempt that is over sets a result")
		}
	})
}

// "a milestone that is not legal is its error; what it may say is an allow-list"
func TestATaskIsToldTheTruth(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		run := start(t, s, job(func(_ context.Context, c *actors.TaskContext) error {
			for _, body := range []messages.Body{
				messages.ToolCompleted{Call: "never started"},
				messages.TextDone{Stream: "a", Text: "x", SHA256: "bad"},
				messages.ArtifactPartial{Artifact: messages.Artifact{Name: "whole", Bytes: 3}},
				messages.InputReceived{Request: "deploy", Value: json.RawMessage(`"yes"`), Principal: "boss"},
				messages.InputRequired{Request: "deploy"}, messages.ChildStarted{Child: c.RunID() + ".c1", Job: "ghost"},
				nil, messages.RunCompleted{}, messages.RunCanceling{}, messages.TaskCompleted{Task: "work", Attempt: 1}, messages.FaultInjected{Fault: "x"},
				messages.StepKept{Step: "s", Result: json.RawMessage("1")}, messages.TextDelta{Stream: "a", Text: "\xff"},
			} {
				if c.Emit(body, "") == nil {
					t.Errorf("%T is taken: %+v", body, body)
				}
			}
			if err := c.Conclude(messages.TextDone{Stream: "answer"}, ""); messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("a text concludes a call: %v", err)
			}
			return c.Emit(messages.StepStarted{Step: "s"}, "")
		}), actors.Options{})
		if state := wait(t, run); state.Status != messages.Completed || len(state.Steps) != 1 || state.Steps[0].Task != "work" {
			t.Errorf("%s with steps %+v", state.Status, state.Steps)
		}
	})
}

// "one event is at most 16 MiB and every byte counts"
func TestEventsAreBounded(t *testing.T) {
	big := strings.Repeat("x", messages.MaxEventBytes+1)
	plays(t, actors.Config{LogBytes: 1 << 20}, func(t *testing.T, s *actors.System) {
		code := messages.CauseLimitExceeded
		run := start(t, s, job(func(_ context.Context, c *actors.TaskContext) error {
			for what, err := range map[string]error{"a text": c.FinishText("a", big), "a delta": c.AppendText("a", big), "a result": c.Result(big, false),
				"a name": c.Emit(messages.ToolStarted{Call: "1", Tool: big}, "")} {
				if messages.CodeOf(err) != code {
					t.Errorf("%s that is too large: %.80v", what, err)
				}
			}
			return nil
		}), actors.Options{})
		wait(t, run)
		_, err := s.Start(t.Context(), actors.Job{Name: "j", Input: big, Tasks: job(nothing).Tasks}, actors.Options{})
		if messages.CodeOf(err) != code {
			t.Errorf("an input that is too large: %.80v", err)
		}
	})
}

func nothing(context.Context, *actors.TaskContext) error { return nil }

// "bodies, labels, inputs and raw JSON are copied at the edge"
func TestWhatCallersKeepIsTheirs(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		labels, raw := map[string]string{"customer": "a"}, []byte(`{"n":1}`)
		run := start(t, s, job(func(_ context.Context, c *actors.TaskContext) error {
			err := c.Emit(messages.ToolStarted{Call: "1", Tool: "t", Arguments: raw}, "")
			copy(raw, `{"n":2}`)
			return err
		}), actors.Options{Labels: labels})
		labels["customer"] = "b"
		state := wait(t, run)
		events, err := readAll(run, 0)
		if err != nil || state.Queued.Labels["customer"] != "a" {
			t.Errorf("labels %v (%v)", state.Queued.Labels, err)
		}
		for _, e := range events {
			if b, ok := e.Body.(messages.ToolStarted); ok && string(b.Arguments) != `{"n":1}` {
				t.Errorf("arguments %s", b.Arguments)
			}
		}
	})
}

// "an answer is durable before Answer returns and before the task sees it"
func TestAnswersAreDurableFirst(t *testing.T) {
	gate := make(chan struct{})
	synctest.Test(t, func(t *testing.T) {
		gate = make(chan struct{})
		held := false
		s := open(t, actors.Config{Journal: &testkit.Journal{Journal: journal.NewMemory(),
			Disturb: func(b journal.Block) (d testkit.Disturbance) {
				if _, answer := b.Events[0].Body.(messages.InputReceived); answer && !held {
					held, d.Gate = true, gate
				}
				return d
			}}})
		acted := false
		run := start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			_, err := c.Ask(ctx, messages.InputRequired{Request: "deploy", Prompt: "?"})
			acted = true
			return err
		}), actors.Options{})
		synctest.Wait()
		answered := make(chan error, 1)
		go func() { answered <- s.Answer(t.Context(), run.ID(), "deploy", json.RawMessage(`"yes"`), "boss") }()
		synctest.Wait()
		if len(answered) > 0 || acted {
			t.Errorf("before the answer is durable Answer has returned: %t, the task has acted: %t", len(answered) > 0, acted)
		}
		close(gate)
		if err := <-answered; err != nil || wait(t, run).Status != messages.Completed || !acted {
			t.Errorf("then: %v, acted: %t", err, acted)
		}
	})
}

// "A run that only waits for people uses neither its wall clock nor its stall limit, but its own limit for answers":
// "answers 24 h (confirmation 1 h, review 30 min, secret 5 min)".
func TestWaitingForPeople(t *testing.T) {
	for _, c := range []struct {
		kind  messages.InputKind
		limit time.Duration
	}{
		{"", 24 * time.Hour}, {messages.InputSelection, 24 * time.Hour}, {messages.InputData, 24 * time.Hour},
		{messages.InputConfirmation, time.Hour}, {messages.InputReview, 30 * time.Minute}, {messages.InputSecret, 5 * time.Minute},
	} {
		plays(t, actors.Config{WallClock: time.Minute, Stall: 10 * time.Second}, func(t *testing.T, s *actors.System) {
			begun := time.Now()
			run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
				_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?", InputKind: c.kind})
				return err
			}), actors.Options{})
			state := wait(t, run)
			if took := time.Since(begun); took != c.limit || state.End.Cause != messages.CauseDeadline || state.End.Task != "work" {
				t.Errorf("%q: %s by %q of task %q after %s, want deadline after %s", c.kind, state.Status, state.End.Cause,
					state.End.Task, took, c.limit)
			}
		})
	}
}

// "secret 5 min (its value reaches the task and never the log)"
func TestSecretsAreNotInTheLog(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		got := ""
		run := start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			v, err := c.Ask(ctx, messages.InputRequired{Request: "token", Prompt: "?", InputKind: messages.InputSecret})
			got = string(v)
			return err
		}), actors.Options{})
		synctest.Wait()
		noError(t, s.Answer(t.Context(), run.ID(), "token", json.RawMessage(`"hush"`), "boss"))
		wait(t, run)
		events, _ := readAll(run, 0)
		log, err := json.Marshal(events)
		if err != nil || strings.Contains(string(log), "hush") || got != `"hush"` {
			t.Errorf("the task has %s, the log %s (%v)", got, log, err)
		}
	})
}

// An Ask ends with its attempt, whatever context it was given.
func TestAskEndsWithItsAttempt(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		run := start(t, s, job(func(_ context.Context, c *actors.TaskContext) error {
			_, err := c.Ask(context.Background(), messages.InputRequired{Request: "q", Prompt: "?"})
			return err
		}), actors.Options{})
		synctest.Wait()
		begun := time.Now()
		noError(t, run.Cancel(t.Context(), "enough"))
		if wait(t, run); time.Since(begun) > 0 {
			t.Errorf("the question outlived the cancel by %s", time.Since(begun))
		}
	})
}

// "Close does not wait for it"
func TestCloseDoesNotWaitForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := actors.New(t.Context(), actors.Config{Drain: time.Hour})
		noError(t, err)
		start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			_, err := c.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?"})
			return err
		}), actors.Options{})
		synctest.Wait()
		begun := time.Now()
		if err := s.Close(t.Context()); messages.CodeOf(err) != messages.CauseShutdown || time.Since(begun) > time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

// "Commit returns when what was said is durable"
func TestCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		s := open(t, actors.Config{Journal: &testkit.Journal{Journal: store,
			Disturb: func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: time.Second} }}})
		run := start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			if err := errors.Join(c.AppendText("a", "words"), c.Commit(ctx)); err != nil {
				return err
			}
			page, err := store.Read(ctx, c.RunID(), 0)
			if n := len(page.Events); err != nil || page.Events[n-1].Kind() != messages.KindTextDelta {
				t.Errorf("after Commit the journal has %v (%v)", page.Events, err)
			}
			return nil
		}), actors.Options{})
		wait(t, run)
	})
}

// "A task that must not run twice is called once its task.started is known durable"
func TestOnceWaitsForTheJournal(t *testing.T) {
	for _, once := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := journal.NewMemory()
			s := open(t, actors.Config{Journal: &testkit.Journal{Journal: store,
				Disturb: func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: time.Second} }}})
			twice := job(nothing)
			twice.Tasks = append(twice.Tasks, actors.Task{Name: "pay", Once: once, Run: func(ctx context.Context, c *actors.TaskContext) error {
				page, err := store.Read(ctx, c.RunID(), 0)
				last, ok := page.Events[len(page.Events)-1].Body.(messages.TaskStarted)
				if durable := ok && last.Task == "pay"; err != nil || durable != once {
					t.Errorf("once %t: the start of the task is durable when it is called: %t (%v)", once, durable, err)
				}
				return nil
			}})
			wait(t, start(t, s, twice, actors.Options{}))
		})
	}
}

// "attached runs are cancelled when their caller leaves, detached ones go on", and "the last attached caller that leaves
// cancels an attached run".
func TestAttach(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		first, leave := context.WithCancel(t.Context())
		second, leaveToo := context.WithCancel(t.Context())
		third, leaveLast := context.WithCancel(t.Context())
		detached, err := s.Start(first, job(heed), actors.Options{Mode: messages.Detached})
		noError(t, err)
		run, err := s.Start(first, job(heed), actors.Options{Mode: messages.Attached})
		noError(t, err)
		noError(t, s.Attach(second, run.ID()))
		for _, leaves := range []context.CancelFunc{leaveToo, leave} {
			leaves()
			time.Sleep(time.Minute)
			if state, _ := run.State(t.Context()); state.Status != messages.Processing {
				t.Errorf("%s although somebody is attached", state.Status)
			}
			noError(t, s.Attach(third, run.ID()))
		}
		leaveLast()
		if state := wait(t, run); state.Status != messages.Canceled {
			t.Errorf("%s although everybody has left", state.Status)
		}
		if state, _ := detached.State(t.Context()); state.Status != messages.Processing {
			t.Errorf("the detached run is %s although nobody canceled it", state.Status)
		}
		noError(t, detached.Cancel(t.Context(), ""))
		wait(t, detached)
		if err := s.Attach(t.Context(), messages.NewRunID()); messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("attaching to a run that is not known: %v", err)
		}
	})
}

// A run gives way to another of its principal while it waits for people, and at no other time.
func TestSupersede(t *testing.T) {
	for _, c := range []struct {
		what, principal string
		works           func(context.Context, *actors.TaskContext) error
		over            bool
	}{
		{"waits", "ann", func(ctx context.Context, task *actors.TaskContext) error {
			_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?"})
			return err
		}, true},
		{"has ended", "ann", func(context.Context, *actors.TaskContext) error { return nil }, true},
		{"works", "ann", heed, false},
		{"is another's", "bob", func(ctx context.Context, task *actors.TaskContext) error {
			_, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?"})
			return err
		}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, actors.Config{})
			first := start(t, s, job(c.works), actors.Options{Principal: c.principal})
			synctest.Wait()
			second := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
				over, err := task.Supersede(ctx, first.ID(), "enough")
				if over != c.over || err != nil {
					t.Errorf("a run that %s is over: %t, %v", c.what, over, err)
				}
				return nil
			}), actors.Options{Principal: "ann"})
			expect(t, wait(t, second), messages.Completed, messages.ByRun, "")
			if state, err := first.State(t.Context()); err != nil || state.Status.IsEnded() != c.over {
				t.Errorf("a run that %s is %s", c.what, state.Status)
			}
			_ = first.Cancel(t.Context(), "the test ends")
		})
	}
}

// "In the log text.done stays whole." A job can leave nothing out, and a long delta becomes several events.
func TestLogsHaveTextsWhole(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		text := strings.Repeat("long <text> ", 20_000)
		done := messages.TextDone{Stream: "answer", Text: text + "!", SHA256: messages.Digest(text + "!")}
		run := start(t, s, job(func(_ context.Context, c *actors.TaskContext) error {
			if err := c.Emit(messages.Omit(done), ""); messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("a text that is left out: %v", err)
			}
			return errors.Join(c.Emit(messages.TextDelta{Stream: "answer", Text: text}, ""),
				c.Emit(messages.TextDelta{Stream: "answer", Text: "!", Part: true}, ""), c.Emit(done, ""))
		}), actors.Options{})
		state := wait(t, run)
		deltas := 0
		for e, err := range s.Events(t.Context(), state.RunID, 0) {
			must(t, err)
			if line, err := e.JSON(); e.IsDelta() && (err != nil || len(line) > messages.WireBytes) {
				t.Errorf("a delta has %d bytes, %v", len(line), err)
			}
			for d := range messages.Texts(e.Body) {
				if deltas++; d.Part {
					t.Error("the log has a part")
				}
			}
		}
		if got, _ := state.Stream("answer"); got.Text() != done.Text || deltas < 10 {
			t.Errorf("%d bytes in %d deltas", got.Len(), deltas)
		}
	})
}
