package faultplan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Names of a Script's tasks, in order.
const (
	Fetch   = "fetch"
	Analyze = "analyze"
	Write   = "write"
)

// Tasks returns the names of a Script's tasks in their order.
func Tasks() []string { return []string{Fetch, Analyze, Write} }

// Script is a job with the tasks fetch, analyze and write, which perform its steps. The zero Script completes without
// any text.
type Script struct {
	Fetch, Analyze, Write []Step
	// Policy and Deadline apply to each task.
	Policy   supervision.Policy
	Deadline time.Duration
}

// Step is one action of a task. If the run refuses its event because the task is cancelled, the task ends with the
// cause.
type Step struct {
	Do Action
	// Text is the text of Say, Said, Log and the failures.
	Text string
	// Times repeats the step; 0 is once.
	Times int
	// Done and Total are the progress of Report.
	Done, Total int64
	// Body is the event of Emit, or the messages.InputRequired of Ask.
	Body messages.Body
	// For is the duration of Sleep.
	For time.Duration
	// Gate ends Await and Deaf when it is closed. Deaf without a Gate waits forever.
	Gate <-chan struct{}
	// Attempt limits the step to the attempt of this number; 0 is every attempt.
	Attempt int
}

// Action says what a Step does.
type Action string

// Actions. A task's text has the name of the task.
const (
	Say    Action = "say"    // append Text to the task's text
	Said   Action = "said"   // close the task's text with Text
	Log    Action = "log"    // a line for the log, level info
	Report Action = "report" // progress: Done of Total steps
	Emit   Action = "emit"   // the Body, a milestone or not
	Ask    Action = "ask"    // with the Body, and make the answer the run's result
	Sleep  Action = "sleep"  // for the time, heeding the context
	Await  Action = "await"  // the Gate, heeding the context

	Fail      Action = "fail"        // return an error
	Retry     Action = "retry"       // return an error that is retryable
	Panic     Action = "panic"       // panic with an error
	NilMap    Action = "nil-map"     // write to a nil map
	PanicNil  Action = "panic-nil"   // panic(nil)
	Goexit    Action = "goexit"      // end the goroutine
	PanicInGo Action = "panic-in-go" // panic in a goroutine started through the TaskContext
	Hang      Action = "hang"        // until the context is done, and return its cause
	Deaf      Action = "deaf"        // until the Gate is closed, whatever the context says
)

// Job returns the job, named script.
func (s Script) Job() actors.Job {
	job := actors.Job{Name: "script"}
	for i, steps := range [][]Step{s.Fetch, s.Analyze, s.Write} {
		job.Tasks = append(job.Tasks, actors.Task{
			Name: Tasks()[i], Policy: s.Policy, Deadline: s.Deadline,
			Run: func(ctx context.Context, t *actors.TaskContext) error { return play(ctx, t, Tasks()[i], steps) },
		})
	}
	return job
}

// play performs the steps of this attempt, until one returns an error.
func play(ctx context.Context, t *actors.TaskContext, task string, steps []Step) error {
	for _, s := range steps {
		if s.Attempt != 0 && s.Attempt != t.Attempt() {
			continue
		}
		for range max(s.Times, 1) {
			if err := s.play(ctx, t, task); err != nil {
				return err
			}
		}
	}
	return nil
}

// play performs the step once.
func (s Step) play(ctx context.Context, t *actors.TaskContext, task string) error {
	switch s.Do {
	case Say:
		return t.AppendText(task, s.Text)
	case Said:
		return t.FinishText(task, s.Text)
	case Log:
		return t.Log(messages.LogInfo, s.Text)
	case Report:
		return t.Progress(s.Done, s.Total, "steps")
	case Emit:
		return t.Emit(s.Body, s.Text)
	case Ask:
		return s.ask(ctx, t)
	case Sleep:
		return Pause(ctx, s.For)
	case Await:
		return await(ctx, s.Gate)
	}
	return s.fail(ctx, t)
}

// ask makes the answer to the step's question the run's result.
func (s Step) ask(ctx context.Context, t *actors.TaskContext) error {
	question, ok := s.Body.(messages.InputRequired)
	if !ok {
		return fmt.Errorf("a step that asks needs a messages.InputRequired, not %T", s.Body)
	}
	answer, err := t.Ask(ctx, question)
	if err != nil {
		return err
	}
	return t.Result(answer, false)
}

// fail fails in the way that the step names.
func (s Step) fail(ctx context.Context, t *actors.TaskContext) error {
	switch s.Do {
	case Fail:
		return s.err()
	case Retry:
		return supervision.RetryAfter(0, s.err())
	case Panic:
		panic(s.err())
	case NilMap:
		count(nil, s.Text)
	case PanicNil:
		panic(nil)
	case Goexit:
		runtime.Goexit()
	case PanicInGo:
		t.Go(func(context.Context) error { panic(s.err()) })
	case Hang:
		return await(ctx, nil)
	case Deaf:
		<-s.Gate
	default:
		return fmt.Errorf("a script has no step %q", s.Do)
	}
	return nil
}

func count(words map[string]int, word string) { words[word]++ }

func (s Step) err() error {
	if s.Text == "" {
		return errScripted
	}
	return errors.New(s.Text)
}

var errScripted = errors.New("as the script says")

// Pause sleeps, or returns the cause of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	supervision.Sleep(ctx, d)
	return context.Cause(ctx)
}

// await waits for the gate, or returns the cause of ctx. A nil gate never opens.
func await(ctx context.Context, gate <-chan struct{}) error {
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
