package actors

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// attempt is one try at a task. The run actor makes it, the task actor starts its work, and the work speaks through it.
type attempt struct {
	run    *activeRun
	task   Task
	number int
	work   atomic.Pointer[supervision.Task] // nil until the task actor has started it

	mu      sync.Mutex
	summary string // goes with task.completed
}

// emission is what a task says on its way to the run actor.
type emission struct {
	attempt *attempt
	body    messages.Body
	message string
	answer  chan answer // of an input.required: where its answer goes
}

// answer is what comes of an input.required: a value, or why it was refused.
type answer struct {
	value json.RawMessage
	err   error
}

func (a *attempt) running() bool {
	w := a.work.Load()
	return w != nil && w.Running()
}

func (a *attempt) cancel(cause error) {
	if w := a.work.Load(); w != nil {
		w.Cancel(cause)
	}
}

// TaskContext is what a task says things with. Its methods may be called from any goroutine of the task; they block
// while the run is behind, and end with the context's cause once the attempt is cancelled.
type TaskContext struct {
	attempt *attempt
	work    *supervision.Task
}

// RunID returns the run's id.
func (t *TaskContext) RunID() messages.RunID { return t.attempt.run.id }

// Attempt returns 1 for the first attempt, and so on.
func (t *TaskContext) Attempt() int { return t.attempt.number }

// Emit says an event of the task. The run stamps the numbers, offsets and the task's name; an event that is not legal
// is refused, counted and logged.
func (t *TaskContext) Emit(body messages.Body, message string) error {
	if err := sayable(body); err != nil {
		return err
	}
	if b, ok := body.(messages.Log); ok {
		body = messages.Log{Lines: slices.Clone(b.Lines)} // they will be numbered
	}
	return t.work.Send(&emission{attempt: t.attempt, body: body, message: message})
}

// sayable reports why a task may not say the body: how the run and its tasks stand is for the run alone to say.
func sayable(body messages.Body) error {
	if body == nil {
		return invalid("an event needs a body")
	}
	if k := string(body.Kind()); strings.HasPrefix(k, "run.") || strings.HasPrefix(k, "task.") {
		return invalid("a task does not say %s: return from it, or return an error", k)
	}
	return nil
}

// Progress says how far the task is; total is 0 where it is not known.
func (t *TaskContext) Progress(done, total int64, unit string) error {
	return t.Emit(messages.Progress{Done: done, Total: total, Unit: unit}, "")
}

// Log says a line for the person who looks closer. Text beyond messages.LogLineBytes is cut.
func (t *TaskContext) Log(level messages.LogLevel, text string) error {
	text = strings.ToValidUTF8(text[:min(len(text), messages.LogLineBytes)], "")
	line := messages.LogLine{Level: level, Task: t.attempt.task.Name, Text: text}
	return t.Emit(messages.Log{Lines: []messages.LogLine{line}}, "")
}

// Say appends to the text of the name.
func (t *TaskContext) Say(stream, text string) error {
	return t.Emit(messages.TextDelta{Stream: stream, Text: text}, "")
}

// Said closes the text of the name with what it is as a whole.
func (t *TaskContext) Said(stream, text string) error {
	return t.Emit(messages.TextDone{Stream: stream, Text: text, SHA256: messages.Digest(text)}, "")
}

// Summarize sets the words that go with the task's completion.
func (t *TaskContext) Summarize(words string) {
	t.attempt.mu.Lock()
	defer t.attempt.mu.Unlock()
	t.attempt.summary = words
}

// Result sets the run's result, which run.completed carries; degraded says that it is less than was asked for.
func (t *TaskContext) Result(result any, degraded bool) error {
	data, err := json.Marshal(result)
	if err != nil {
		return invalid("the result is not JSON: %v", err)
	}
	t.attempt.run.setResult(data, degraded)
	return nil
}

// Ask says input.required and waits for the answer.
func (t *TaskContext) Ask(ctx context.Context, in messages.InputRequired) (json.RawMessage, error) {
	e := &emission{attempt: t.attempt, body: in, message: in.Prompt,
		answer: make(chan answer, 1)}
	if err := t.work.Send(e); err != nil {
		return nil, err
	}
	select {
	case a := <-e.answer:
		return a.value, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Go runs f in a goroutine of the task: its error, panic or Goexit is the task's, and the task waits for it.
func (t *TaskContext) Go(f func(ctx context.Context) error) { t.work.Go(f) }

// owned returns the body as the task's own. It needs much stack: the run actor calls it, not the task, whose goroutine
// may be one of very many.
func owned(body messages.Body, task string) messages.Body {
	switch b := body.(type) {
	case messages.TextDelta:
		b.Task = task
		return b
	case messages.ThoughtDelta:
		b.Task = task
		return b
	case messages.TextDone:
		b.Task = task
		return b
	case messages.ThoughtDone:
		b.Task = task
		return b
	case messages.Progress:
		b.Task = task
		return b
	case messages.Log:
		for i := range b.Lines {
			b.Lines[i].Task = task
		}
		return b
	}
	return ownedMilestone(body, task)
}

func ownedMilestone(body messages.Body, task string) messages.Body {
	switch b := body.(type) {
	case messages.LLMStarted:
		b.Task = task
		return b
	case messages.LLMCompleted:
		b.Task = task
		return b
	case messages.ToolStarted:
		b.Task = task
		return b
	case messages.ToolCompleted:
		b.Task = task
		return b
	case messages.ArtifactPartial:
		b.Task = task
		return b
	case messages.ArtifactWritten:
		b.Task = task
		return b
	case messages.InputRequired:
		b.Task = task
		return b
	case messages.FaultInjected:
		b.Task = task
		return b
	}
	return body
}
