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
)

// recovers opens a System on the log of a process that died in the job's task, and returns how the run ends.
func recovers(t *testing.T, j actors.Job, queued messages.RunQueued, said ...messages.Body) (state messages.State) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		queued.Job, queued.Mode = "test", messages.Detached
		var log []messages.Event
		for i, b := range append([]messages.Body{queued, messages.RunStarted{Node: "dead", Epoch: 1}}, said...) {
			log = append(log, messages.Event{RunID: "r_a", Seq: uint64(i + 1), From: uint64(i + 1), Time: time.Now(), Body: b})
		}
		store.Append(journal.Block{Run: "r_a", Epoch: 1, Events: log}, func(err error) { noError(t, err) })
		s := open(t, actors.Config{Journal: store, Jobs: []actors.Definition{{Name: j.Name, New: func(json.RawMessage) (actors.Job, error) { return j, nil }}}})
		for _, err := range s.Events(t.Context(), "r_a", 0) {
			noError(t, err)
		}
		var err error
		state, err = s.State(t.Context(), "r_a")
		noError(t, err)
	})
	return state
}

func begins(task string, attempt int) messages.Body {
	if attempt > 1 {
		return messages.TaskRestarted{Task: task, Attempt: attempt}
	}
	return messages.TaskStarted{Task: task, Attempt: attempt}
}

func keeps(step, result string) messages.StepKept {
	return messages.StepKept{Step: step, Task: "work", Result: json.RawMessage(result)}
}

// "A run goes on where its code has said that being called again is safe, and says loudly where it has not." Else recovery
// writes its terminal: "run.canceled if run.canceling is durable, else run.failed, node_lost". Its texts stay.
func TestWhichRunGoesOn(t *testing.T) {
	asked := messages.StepKept{Step: "pay", Task: "work", Begun: true, Again: true}
	once := messages.StepKept{Step: "pay", Task: "work", Begun: true}
	working := begins("work", 1)
	canceled := recovers(t, job(heed), messages.RunQueued{}, messages.TextDelta{Stream: "answer", Text: "half an"}, messages.RunCanceling{})
	expect(t, canceled, messages.Canceled, messages.ByRecovery, messages.CauseCanceledByUser)
	if answer, _ := canceled.Stream("answer"); answer.Text() != "half an" {
		t.Errorf("the text is %q", answer.Text())
	}
	for name, c := range map[string]struct {
		job  func(*actors.Job)
		said []messages.Body
		lost string // in the message; "" if the run goes on
	}{
		"nothing":   {nil, []messages.Body{working}, "set Restart if the job may be called again, or put its effects into actors.Do"},
		"a step":    {nil, []messages.Body{working, asked}, ""},
		"once":      {nil, []messages.Body{working, once}, ""},
		"a policy":  {func(j *actors.Job) { j.Tasks[0].Policy.RetryCrash = true }, []messages.Body{working}, ""},
		"Restart":   {func(j *actors.Job) { j.Restart = true }, []messages.Body{working}, ""},
		"NoRestart": {func(j *actors.Job) { j.Restart, j.NoRestart = true, true }, []messages.Body{working, asked}, "NoRestart"},
		"Once":      {func(j *actors.Job) { j.Restart, j.Tasks[0].Once = true, true }, []messages.Body{working, asked}, "has Once"},
		"a step of an earlier task": {func(j *actors.Job) { j.Tasks = append(j.Tasks, actors.Task{Name: "next", Run: j.Tasks[0].Run}) },
			[]messages.Body{working, asked, keeps("pay", "1"), messages.TaskCompleted{Task: "work", Attempt: 1}, begins("next", 1)}, "set Restart"},
		"a task that is gone": {func(j *actors.Job) { j.Restart = true }, []messages.Body{begins("gone", 1)}, "no longer has the task gone"},
		"a job that is gone":  {func(j *actors.Job) { j.Name = "renamed" }, []messages.Body{working, asked}, `there is no job "test"`},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(func(context.Context, *actors.TaskContext) error { return nil })
			if c.job != nil {
				c.job(&j)
			}
			state := recovers(t, j, messages.RunQueued{}, c.said...)
			switch {
			case c.lost == "":
				expect(t, state, messages.Completed, messages.ByRun, "")
			default:
				if expect(t, state, messages.Failed, messages.ByRecovery, messages.CauseNodeLost); !strings.Contains(state.End.Error.Message, c.lost) {
					t.Errorf("it says %q, not %q", state.End.Error.Message, c.lost)
				}
			}
		})
	}
}

// A sub-run that could not go on is refused at its start, and one that fails is named with its cause.
func TestSubRunsOfKnownJobs(t *testing.T) {
	nested := actors.Func("nested", func(context.Context, *actors.TaskContext, struct{}) (int, error) {
		return 0, messages.Errorf(messages.CauseProviderError, "the box is full")
	})
	other := actors.Func("other", func(context.Context, *actors.TaskContext, struct{}) (int, error) { return 0, nil })
	parent := actors.Definition{Name: "parent", SubJobs: []actors.Definition{nested, other}, New: func(json.RawMessage) (actors.Job, error) { return actors.Job{}, nil }}
	plays(t, actors.Config{Jobs: []actors.Definition{parent}}, func(t *testing.T, s *actors.System) {
		run := start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			if _, err := c.Start(ctx, job(heed), actors.Options{}); messages.CodeOf(err) != messages.CauseInvalidInput || !strings.Contains(err.Error(), `"test"`) {
				t.Errorf("a sub-run of a job that nobody knows: %v", err)
			}
			sub, err := c.Submit(ctx, messages.Request{Job: "nested", Key: "n"})
			if err != nil {
				return err
			}
			if _, err := c.Submit(ctx, messages.Request{Job: "other", Key: "n"}); messages.CodeOf(err) != messages.CauseInvalidOutput || !strings.Contains(err.Error(), "is of job nested, not other") {
				t.Errorf("the sub-run as one of another job: %v", err)
			}
			_, err = sub.Result(ctx)
			return err
		}), actors.Options{})
		_, err := run.Result(t.Context())
		for _, part := range []string{string(run.ID()) + " of job test", "sub-run " + string(run.ID()) + ".c1 of job nested", "(provider_error)", "the box is full"} {
			if err == nil || messages.CodeOf(err) != messages.CauseProviderError || !strings.Contains(err.Error(), part) {
				t.Errorf("it lacks %q: %v", part, err)
			}
		}
	})
}

type charged struct {
	N    int    `json:"n"`
	Name string `json:"name,omitempty"`
}

// asks is a task that asks for these steps, each with the result 7.
func asks(names ...string) func(context.Context, *actors.TaskContext) error {
	return func(ctx context.Context, c *actors.TaskContext) error {
		for _, name := range names {
			if _, err := actors.Do(ctx, c, name, gives(7, nil)); err != nil {
				return err
			}
		}
		return nil
	}
}

// reads is a task that asks for the step "v", and wants a T.
func reads[T any](about ...actors.Step) func(context.Context, *actors.TaskContext) error {
	return func(ctx context.Context, c *actors.TaskContext) error {
		_, err := actors.Do(ctx, c, "v", gives(*new(T), nil), about...)
		return err
	}
}

// "Steps do not change meaning silently": the table of docs/jobs.md, and what it says of versions and branches.
func TestChangedSteps(t *testing.T) {
	digest := keeps("v", `1`)
	digest.Input = messages.Digest(`"order 1"`)
	optional, inner := keeps("a", "1"), keeps("a", "1")
	optional.Optional, inner.Within = true, "b"
	nested := func(ctx context.Context, c *actors.TaskContext) error {
		_, err := actors.Do(ctx, c, "b", func(ctx context.Context) (int, error) { return actors.Do(ctx, c, "a", gives(1, nil)) })
		return err
	}
	once := func(ctx context.Context, c *actors.TaskContext) error {
		_, err := actors.DoOnce(ctx, c, "a", gives(1, nil))
		return err
	}
	for name, c := range map[string]struct {
		now    func(context.Context, *actors.TaskContext) error
		kept   []messages.StepKept
		notice string // what the run's notice names
		cause  messages.Code
	}{
		"renamed":             {asks("charge"), []messages.StepKept{keeps("pay", "1")}, `"pay"`, ""},
		"removed":             {asks(), []messages.StepKept{keeps("pay", "1")}, `"pay"`, ""},
		"reordered":           {asks("b", "a"), []messages.StepKept{keeps("a", "1"), keeps("b", "2")}, "", ""},
		"other input":         {reads[int](actors.Step{Input: "order 2"}), []messages.StepKept{digest}, "", messages.CauseInvalidOutput},
		"same input":          {reads[int](actors.Step{Input: "order 1"}), []messages.StepKept{digest}, "", ""},
		"other type":          {reads[string](), []messages.StepKept{keeps("v", "1")}, "", messages.CauseInvalidOutput},
		"null of another":     {reads[int](), []messages.StepKept{keeps("v", "null")}, "", messages.CauseInvalidOutput},
		"null left out":       {reads[charged](), []messages.StepKept{keeps("v", `{"n":1,"name":null}`)}, "", messages.CauseInvalidOutput},
		"a pointer's null":    {reads[struct{ N *int }](), []messages.StepKept{keeps("v", `{"N":null}`)}, "", ""},
		"list shortened":      {reads[[1][]int](), []messages.StepKept{keeps("v", `[[1],[2]]`)}, "", messages.CauseInvalidOutput},
		"field removed":       {reads[charged](), []messages.StepKept{keeps("v", `{"n":1,"title":"x"}`)}, "", messages.CauseInvalidOutput},
		"loop shortened":      {asks("page 0", "page 1"), []messages.StepKept{keeps("page 0", "1"), keeps("page 1", "1"), keeps("page 2", "1")}, `"page 2"`, ""},
		"loop removed":        {asks(), []messages.StepKept{keeps("page 10", "1"), keeps("page 2", "1")}, `"page 2", "page 10"`, ""},
		"once before":         {asks("a"), []messages.StepKept{{Task: "work", Step: "a", Begun: true}}, "", messages.CauseError},
		"once from now on":    {once, []messages.StepKept{{Task: "work", Step: "a", Begun: true, Again: true}}, "", messages.CauseError},
		"two with one name":   {asks("a", "a"), nil, "", messages.CauseInvalidInput},
		"an optional branch":  {asks("b"), []messages.StepKept{optional}, "", ""},
		"within a kept step":  {nested, []messages.StepKept{inner, keeps("b", "1")}, "", ""},
		"no longer within it": {asks("b"), []messages.StepKept{inner}, `"a"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			said := []messages.Body{begins("work", 1)}
			for _, k := range c.kept {
				said = append(said, k)
			}
			j := job(c.now)
			j.Restart, j.Version = true, "v1"
			state := recovers(t, j, messages.RunQueued{Version: "v1"}, said...)
			if c.cause != "" {
				expect(t, state, messages.Failed, messages.ByRun, c.cause)
				return
			}
			expect(t, state, messages.Completed, messages.ByRun, "")
			if n := state.Notices; (len(n) > 0) != (c.notice != "") || c.notice != "" &&
				(n[0].Code != messages.NoticeStepUnused || !strings.HasSuffix(n[0].Text, ": "+c.notice)) {
				t.Errorf("its notices are %+v", n)
			}
			if c.notice == "" {
				return
			}
			j.Version = "v2"
			state = recovers(t, j, messages.RunQueued{Version: "v1"}, said...)
			expect(t, state, messages.Failed, messages.ByRun, messages.CauseInvalidOutput)
			if why := state.End.Error.Message; !strings.Contains(why, c.notice) || !strings.Contains(why, `"v2"`) {
				t.Errorf("another version: %s", why)
			}
		})
	}
}

// A step's own policy repeats its function within one attempt; a loop over a step that fails gets its first error.
func TestAStepsOwnPolicy(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		calls := 0
		state := wait(t, start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			fails := func(context.Context) (int, error) {
				if calls++; calls < 3 {
					return 0, supervision.RetryAfter(time.Second, errors.New("busy"))
				}
				return calls, nil
			}
			if v, err := actors.Do(ctx, c, "busy", fails, actors.Step{Policy: &supervision.Policy{Attempts: 3}}); v != 3 || err != nil {
				t.Errorf("after %d calls: %d, %v", calls, v, err)
			}
			for i := range 2 {
				if _, err := actors.Do(ctx, c, "broken", gives(0, errors.New([]string{"the first", "the second"}[i]))); err == nil || err.Error() != "the first" {
					t.Errorf("call %d gets %v", i, err)
				}
			}
			return nil
		}), actors.Options{}))
		if now, _ := state.Task("work"); now.Attempt != 1 || state.Status != messages.Completed {
			t.Errorf("%+v %+v", now, state.End)
		}
	})
}
