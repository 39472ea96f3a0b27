package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// attempt is one try at a task. The machine makes it, the task's actor starts its work, and the work speaks through
// it.
//
// The machine's goroutine owns overdue and due. mu guards what is below it, for the machine and the work.
type attempt struct {
	run     *activeRun // set before the work starts
	task    *Task
	number  int
	overdue error                               // owned by the machine: why it fails whatever it returns
	due     bool                                // owned by the machine: its backoff has passed
	lost    bool                                // the run was lost before, and started again
	work    atomic.Pointer[supervision.Routine] // nil until the task's actor has started it

	mu        sync.Mutex
	summary   string // sentence of task.completed
	result    json.RawMessage
	degraded  bool
	judged    bool                    // the machine has taken the outcome
	children  int                     // number of children that it asked for without a name
	interrupt context.CancelCauseFunc // ends what is interruptible now; nil if nothing is
	heard     chan struct{}           // closed when a message comes; nil until somebody waits for one
	noticed   map[messages.Notice]bool
	earlier   *retried // nil until a step needs it
	asked
}

// running reports whether the attempt's work runs.
func (a *attempt) running() bool {
	w := a.work.Load()
	return w != nil && w.Running()
}

// cancel cancels the attempt's work.
func (a *attempt) cancel(cause error) {
	if w := a.work.Load(); w != nil {
		w.Cancel(cause)
	}
}

// outcome takes the outcome. Later changes are refused.
func (a *attempt) outcome() (summary string, result json.RawMessage, degraded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.judged = true
	return a.summary, a.result, a.degraded
}

// setOutcome changes the outcome, unless it was taken.
func (a *attempt) setOutcome(f func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.judged {
		return errSilenced
	}
	f()
	return nil
}

// emission is an event on its way from a task to the run's actor.
type emission struct {
	attempt *attempt
	body    messages.Body
	message string
	verdict chan error // nil if nobody waits for it
	durable bool       // the verdict waits until the event is durable
	bill    *bill      // of an event that spends of the budget; else nil
}

// TaskContext is the interface of a task to its run. Its methods may be called from any goroutine of the task. They
// block while the run is behind, and return the context's cause once the attempt is cancelled.
type TaskContext struct {
	attempt *attempt
	work    *supervision.Routine
}

// RunID returns the run's id.
func (t *TaskContext) RunID() messages.RunID { return t.attempt.run.id }

// Principal returns who started the run, or "" if the caller named nobody.
func (t *TaskContext) Principal() string { return t.attempt.run.principal }

// Name returns the task's name.
func (t *TaskContext) Name() string { return t.attempt.task.Name }

// Attempt returns the number of the attempt, from 1.
func (t *TaskContext) Attempt() int { return t.attempt.number }

// Emit emits an event of the task: texts and thoughts, progress and log lines, model and tool calls, artifacts,
// steps. The run adds numbers, offsets and the task's name. The error says why a milestone is not legal. For a delta,
// Emit does not wait for that.
func (t *TaskContext) Emit(body messages.Body, message string) error {
	return t.emit(body, message, t.work.Send, t.work.Context().Done())
}

// Conclude emits how a call of a model or a tool ended, even if the attempt was cancelled meanwhile: so a cancelled
// run knows how its calls ended. After the cancel an attempt may conclude up to 8 calls.
func (t *TaskContext) Conclude(body messages.Body, message string) error {
	switch body.(type) {
	case messages.LLMCompleted, messages.ToolCompleted:
		return t.emit(body, message, t.work.Conclude, t.attempt.run.log.AtEnd())
	}
	return messages.InvalidInput("Conclude takes only the end of a call of a model or a tool: use Emit for anything else")
}

// emit checks and sends an event. For a milestone it waits for the verdict, or until over is closed.
func (t *TaskContext) emit(body messages.Body, message string, send func(any) error, over <-chan struct{}) error {
	if err := check(body, message); err != nil {
		return err
	}
	return t.tell(&emission{attempt: t.attempt, body: messages.Clone(body), message: message}, send, over)
}

// tell is emit for an event that was checked already.
func (t *TaskContext) tell(e *emission, send func(any) error, over <-chan struct{}) error {
	kind := messages.KindOf(e.body)
	if err := t.passes(string(kind)); err != nil {
		return err
	}
	if kind.Level() == messages.Delta {
		return send(e)
	}
	e.verdict = make(chan error, 1)
	if err := send(e); err != nil {
		return &unsent{err}
	}
	select {
	case err := <-e.verdict:
		if err != nil && e.bill != nil && e.bill.ask != nil {
			return t.addBudget(e, err, send, over)
		}
		return err
	case <-over:
		return replied(e.verdict, cmp.Or(context.Cause(t.work.Context()), error(errSilenced)))
	}
}

// unsent is the error of a milestone that never left the task.
type unsent struct{ cause error }

func (e *unsent) Error() string { return e.cause.Error() }
func (e *unsent) Unwrap() error { return e.cause }

// Unsent reports whether an error of Emit means that the log cannot hold the milestone. If a cancel came while Emit
// waited, the log may hold it.
func Unsent(err error) bool {
	_, ok := errors.AsType[*unsent](err)
	return ok
}

// Progress reports how far the task is; total is 0 if unknown.
func (t *TaskContext) Progress(done, total int64, unit string) error {
	unit = strings.ToValidUTF8(unit, "")
	return t.delta(messages.Progress{Done: done, Total: total, Unit: unit}, len(unit))
}

// Log writes a line of the run's log. Text beyond messages.LogLineBytes is cut.
func (t *TaskContext) Log(level messages.LogLevel, text string) error {
	text = strings.ToValidUTF8(text[:min(len(text), messages.LogLineBytes)], "")
	return t.Emit(messages.Log{Lines: []messages.LogLine{{Level: level, Text: text}}}, "")
}

// Notice says for people what the run goes without, as a milestone. Text beyond messages.LogLineBytes is cut. An
// attempt says the same only once.
func (t *TaskContext) Notice(code messages.NoticeCode, text string) error {
	text = words.Clip(words.OneLine(text), messages.LogLineBytes-len("…"))
	b, known := messages.Notice{Code: code, Text: text}, false
	_ = t.attempt.setOutcome(func() { // if it has ended, Emit says so
		if known = t.attempt.noticed[b]; t.attempt.noticed == nil {
			t.attempt.noticed = map[messages.Notice]bool{}
		}
		t.attempt.noticed[b] = true
	})
	if known {
		return nil
	}
	return t.Emit(b, text)
}

// AppendText appends to the text with that name. Its media type is the default: Markdown for an answer, and plain otherwise.
func (t *TaskContext) AppendText(stream, text string) error { return t.AppendTyped(stream, "", text) }

// AppendTyped is AppendText for a text of that media type, such as [messages.TextJSON]. Its first piece decides.
func (t *TaskContext) AppendTyped(stream, mediaType, text string) error {
	if !utf8.ValidString(text) || !utf8.ValidString(stream) {
		return messages.InvalidInput("the text of stream %q, or the stream's name, is not UTF-8", stream)
	}
	return t.delta(messages.TextDelta{Stream: stream, Text: text, MediaType: mediaType}, len(stream)+len(mediaType)+len(text))
}

// delta is Emit for frequent bodies that share no memory with the caller. Its stack fits into the first 2 kB of a
// goroutine, because very many may say something and then wait.
func (t *TaskContext) delta(body messages.Body, bytes int) error {
	if c := &t.attempt.run.system.config; bytes > messages.MaxEventBytes/2 || c.Inject != nil || c.Faults.Armed() {
		return t.Emit(body, "")
	}
	return t.work.Send(&emission{attempt: t.attempt, body: body})
}

// FinishText closes the text with that name, and repeats it as a whole.
func (t *TaskContext) FinishText(stream, text string) error {
	return t.Emit(messages.TextDone{Stream: stream, Text: text, SHA256: messages.Digest(text)}, "")
}

// Say is AppendText.
//
// Deprecated: Use [TaskContext.AppendText].
func (t *TaskContext) Say(stream, text string) error { return t.AppendText(stream, text) }

// Said is FinishText.
//
// Deprecated: Use [TaskContext.FinishText].
func (t *TaskContext) Said(stream, text string) error { return t.FinishText(stream, text) }

// mostMessage bounds the sentence of an event, in bytes.
const mostMessage = 64 << 10

// Summarize sets the sentence of task.completed, which is cut after 64 KiB.
func (t *TaskContext) Summarize(words string) {
	words = messages.Bound(words, mostMessage)
	_ = t.attempt.setOutcome(func() { t.attempt.summary = words })
}

// Result sets the run's result, which run.completed carries as JSON. degraded means that it lacks something that was asked
// for. It counts if this attempt completes. The last task that sets a result decides.
func (t *TaskContext) Result(result any, degraded bool) error {
	data, err := json.Marshal(result)
	if err == nil {
		err = messages.Check(messages.RunCompleted{Result: data})
	}
	switch {
	case err != nil:
		return messages.InvalidInput("the result is not JSON: %v", err)
	case len(data) > messages.MaxEventBytes/2:
		return messages.LimitExceeded("a result of %d bytes is too large: it has %d at most; write an artifact", len(data), messages.MaxEventBytes/2)
	}
	return t.attempt.setOutcome(func() { t.attempt.result, t.attempt.degraded = data, degraded })
}

// Commit waits until everything that the task has emitted is durable in the journal.
func (t *TaskContext) Commit(ctx context.Context) error {
	reply := make(chan error, 1)
	keepErr, err := request(ctx, t, &commitRequest{reply}, reply)
	return cmp.Or(err, keepErr)
}

// request sends the run's actor a request, and waits for the reply or for the end of ctx or of the attempt.
func request[T any](ctx context.Context, t *TaskContext, message any, reply <-chan T) (got T, err error) {
	if err := t.work.Send(message); err != nil {
		return got, err
	}
	select {
	case got = <-reply:
		return got, nil
	case <-ctx.Done():
	case <-t.work.Context().Done():
		ctx = t.work.Context()
	}
	return got, context.Cause(ctx)
}

// Earlier yields what the run's log held when this attempt began, or nothing in a first attempt. So an attempt can
// continue where an earlier one was lost.
func (t *TaskContext) Earlier(ctx context.Context) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		a := t.attempt
		if a.number == 1 {
			return
		}
		page, err := journal.Page{}, t.Commit(ctx) // the journal has the attempt's own start
		for after := uint64(0); ; {
			if err == nil {
				page, err = a.run.system.readers.readWithTimeout(ctx, a.run.id, after)
			}
			if err == nil && len(page.Events) == 0 {
				err = messages.Errorf(messages.CodeUnavailable, "the log ends at %d before the attempt began", after)
			}
			if err != nil {
				yield(messages.Event{}, err)
				return
			}
			for _, e := range page.Events {
				start, ok := e.Body.(messages.TaskRestarted)
				if ok && start.Task == a.task.Name && start.Attempt == a.number || !yield(e.Unshared(), nil) {
					return
				}
				after = e.Seq
			}
		}
	}
}

// Ask emits input.required, and waits until the answer is durable. The request's name identifies the question:
// another attempt that asks by that name gets the same answer, or continues to wait. If ctx ends, the question stays
// open, but for a cause with the code [messages.CodeWithdrawn]: then nobody can answer it any more. After the question's timeout the error has the code deadline.
func (t *TaskContext) Ask(ctx context.Context, in messages.InputRequired) (json.RawMessage, error) {
	in.Prompt = words.Visible(in.Prompt) // whoever wrote it: nothing that people decide about is hidden from them
	a := &question{attempt: t.attempt, body: messages.Clone(in).(messages.InputRequired), reply: make(chan answer, 1)}
	most := t.attempt.run.system.config.Ceilings.Answer
	if err := cmp.Or(log.Storable(a.body, in.Prompt), checkLimit("timeout_ms", in.TimeoutMS, most.Milliseconds())); err != nil {
		return nil, err
	}
	got, err := request(ctx, t, a, a.reply)
	if err != nil {
		t.attempt.run.post(&stopWaiting{request: in.Request, reply: a.reply, withdrawn: messages.CodeOf(err) == messages.CodeWithdrawn})
		return nil, err
	}
	return slices.Clone(got.value), got.err
}

// Recorded returns, in a test that replays a log, the recorded answer of the outside world. request is the llm.started
// or tool.started of a call, or a step.kept without a result. recorded holds the recorded bodies that follow, up to the
// end of what was asked. Outside of such a test ok is false, and the caller makes the call.
func (t *TaskContext) Recorded(ctx context.Context, request messages.Body) (recorded []messages.Body, ok bool, err error) {
	if t == nil || t.attempt.run.system.config.Recorded == nil {
		return nil, false, nil
	}
	recorded, err = t.attempt.run.system.config.Recorded(ctx, t, request)
	if err == nil && len(recorded) == 0 {
		err = errors.New("nothing was recorded")
	}
	return recorded, true, err
}

// Go runs f in another goroutine of the task; the task ends when all have ended. Its error, panic or Goexit is the
// task's.
func (t *TaskContext) Go(f func(ctx context.Context) error) {
	t.work.Go(func(ctx context.Context) error { return t.attempt.checked(ctx, f(ctx)) })
}

// credits is how many of a task's events may be on their way to its run.
const credits = 8

// taskActor is the actor of one task, a child of its run's actor. The work runs in a goroutine that belongs to this
// incarnation. Its panics are raised again in Receive, where supervision sees them.
type taskActor struct {
	system *System
	run    *activeRun
	now    *attempt
}

// begin starts an attempt.
type begin notice[*attempt]

var errActorStopped = errors.New("the task's actor was stopped")

// Receive never blocks.
func (a *taskActor) Receive(c actor.Context) {
	if a.system.config.Inject != nil {
		a.system.inject(a.run, taskName(c), c.Message(), func(record emission) {
			c.Send(c.Parent(), &supervision.TaskMessage{Message: &record})
		})
	}
	switch m := c.Message().(type) {
	case *begin:
		a.start(c, m.about)
	case *supervision.TaskEnded:
		a.ended(c, m)
	case *actor.Stopping:
		if a.now != nil {
			a.now.cancel(errActorStopped)
		}
	}
}

// taskName returns the name of the task whose actor this is.
func taskName(c actor.Context) string { return c.Self().Id[len(c.Parent().Id)+1:] }

// start runs the task's function in its own routine. A cancel that came before is passed on at once.
func (a *taskActor) start(c actor.Context, now *attempt) {
	a.now = now
	ctx := messages.WithTrace(context.Background(), now.run.trace)
	work := a.system.node.Go(ctx, now.task.Name, c.Self(), c.Parent(), credits,
		func(ctx context.Context, w *supervision.Routine) error {
			now.work.CompareAndSwap(nil, w)
			t := &TaskContext{attempt: now, work: w}
			if a.system.config.Inject != nil || a.system.config.Faults != nil {
				return t.injected(ctx)
			}
			return now.checked(ctx, now.task.Run(ctx, t))
		})
	now.work.Store(work)
	if cause := a.run.cause(); cause != nil {
		work.Cancel(cause)
	}
}

// checked asks a task's error for its text and cause in the task's own goroutine, where its methods may block or panic. A task
// cannot claim that its node shut down, nor that it was lost if the log does not say so. Its frame would cost every waiting task.
//
//go:noinline
func (a *attempt) checked(ctx context.Context, err error) error {
	if err == nil {
		a.findInherited(ctx)
		return nil
	}
	d := supervision.SnapshotError(err)
	if c := d.Cause(); c == messages.CauseNodeLost && !a.lost || c == messages.CauseShutdown {
		return supervision.SnapshotError(errors.New(d.Error()))
	}
	return d
}

// injected runs the task's work between two fault points.
func (t *TaskContext) injected(ctx context.Context) error {
	if err := t.passes(WorkBegins); err != nil {
		return err
	}
	err := t.attempt.checked(ctx, t.attempt.task.Run(fault.In(ctx, t.hit), t))
	return cmp.Or(t.passes(WorkReturns), err)
}

// ended reports the end of the function to the run's actor. A crash becomes the actor's own, which the supervisor
// sees.
func (a *taskActor) ended(c actor.Context, m *supervision.TaskEnded) {
	if a.now == nil || a.now.work.Load() != m.Task {
		return
	}
	if crash, ok := errors.AsType[*supervision.Crash](m.Err); ok {
		panic(crash)
	}
	if m.Err == nil { // a task that may be tried again keeps its actor
		supervision.Goodbye(c)
	}
	c.Send(c.Parent(), &returned{attempt: a.now, err: m.Err})
}
