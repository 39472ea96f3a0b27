package supervision

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// Task is blocking work in goroutines of its own, tied to one incarnation of its owner: a later actor with the same PID
// hears nothing of it. Its methods are safe for concurrent use.
type Task struct {
	node        *Node
	name        string
	owner, sink mailbox
	ctx         context.Context
	cancel      context.CancelCauseFunc
	credits     chan struct{}
	abandoned   atomic.Bool
	concluded   atomic.Int32 // what was sent after the cancel

	mu    sync.Mutex
	live  int // goroutines
	ended bool
	err   error
	onEnd []func()
}

// TaskMessage is a message of a task to its sink, which answers with [Task.Ack] when it has dealt with it. Task is nil
// where the message took no credit.
type TaskMessage struct {
	NoDeadLetterLog
	Task    *Task
	Message any
}

// TaskEnded tells the owner that the last goroutine of a task has ended, after all its messages. Err is a [*Crash] for a
// panic or a Goexit. Work that returns its context's error ends with the context's cause.
type TaskEnded struct {
	NoDeadLetterLog
	Task *Task
	Err  error
}

// Go runs fn in a goroutine of its own. What fn sends goes to sink as *[TaskMessage]; at most credits of them, at least
// one, are on the way at a time. Its end goes to owner as *[TaskEnded].
func (n *Node) Go(
	ctx context.Context, name string, owner, sink *actor.PID, credits int, fn func(ctx context.Context, t *Task) error,
) *Task {
	t := &Task{node: n, name: name, owner: n.mailbox(owner), sink: n.mailbox(sink), live: 1}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.credits = make(chan struct{}, max(credits, 1))
	t.start(fn)
	return t
}

// launch is the one place where goroutines start.
func launch(f func()) { go f() }

// Send sends msg to the sink. It blocks until there is a credit, and sends nothing but returns the cause when the task
// was canceled; an abandoned task was.
func (t *Task) Send(msg any) error {
	if err := t.credit(); err != nil {
		return err
	}
	t.sink.send(&TaskMessage{Task: t, Message: msg})
	return nil
}

// credit takes a credit. It is apart from Send to keep the stack of a goroutine that sends within its first 2 kB.
func (t *Task) credit() error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	select {
	case t.credits <- struct{}{}:
		return nil
	default:
		return t.await()
	}
}

// await waits for a credit.
func (t *Task) await() error {
	select {
	case t.credits <- struct{}{}:
	case <-t.ctx.Done():
	}
	return context.Cause(t.ctx)
}

// Ack returns one credit.
func (t *Task) Ack() {
	if t == nil { // of a message that took no credit
		return
	}
	select {
	case <-t.credits:
	default:
	}
}

// Go runs fn in another goroutine of the task. Its error, panic or Goexit is the task's, and cancels the others; the
// task ends when all have ended. Only the task's own goroutines may call it: on a task that has ended nothing runs.
func (t *Task) Go(fn func(ctx context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live > 0 {
		t.live++
		t.start(func(ctx context.Context, _ *Task) error { return fn(ctx) })
	}
}

// Name returns the task's name.
func (t *Task) Name() string { return t.name }

// Context returns the context of the task's goroutines. It is done when the task has ended.
func (t *Task) Context() context.Context { return t.ctx }

// Cancel cancels the task's context; nil is [context.Canceled]. Only the first cause counts.
func (t *Task) Cancel(cause error) { t.cancel(cause) }

// Running reports whether the task has not ended.
func (t *Task) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended
}

// OnEnd runs f once when the goroutines have all ended and the owner was told, at once if that is so.
func (t *Task) OnEnd(f func()) {
	t.mu.Lock()
	if !t.ended {
		t.onEnd = append(t.onEnd, f)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	f()
}

// Abandon gives a running task up: it is canceled, counted once, and what it sends from now on goes nowhere. Its end is
// still told.
func (t *Task) Abandon() {
	if t.Running() && t.abandoned.CompareAndSwap(false, true) {
		t.node.abandonedTasks.Add(1)
		t.cancel(ErrAbandoned)
	}
}

func (t *Task) start(fn func(context.Context, *Task) error) {
	t.node.tasks.Add(1)
	launch(func() { t.run(fn) })
}

func (t *Task) run(fn func(context.Context, *Task) error) {
	var err error
	returned := false
	defer func() {
		if !returned {
			err = caught(recover(), t.name)
		}
		t.done(err)
	}()
	err = fn(t.ctx, t)
	returned = true
}

// done ends one goroutine, and with the last one the task.
func (t *Task) done(err error) {
	err = t.causeOf(err)
	t.mu.Lock()
	// The first error counts: the others follow from its cancel. A crash does not follow from anything.
	if t.err == nil || crashOf(err) != nil && crashOf(t.err) == nil {
		t.err = err
	}
	t.live--
	last := t.live == 0
	t.mu.Unlock()
	t.node.tasks.Add(-1)
	if err != nil {
		t.cancel(err)
	}
	if last {
		t.end()
	}
}

func (t *Task) end() {
	t.cancel(nil)
	t.owner.send(&TaskEnded{Task: t, Err: t.err})
	t.mu.Lock()
	t.ended = true
	waiting := t.onEnd
	t.onEnd = nil
	t.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// causeOf returns the context's cause for the context's error.
func (t *Task) causeOf(err error) error {
	if t.ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(t.ctx)
	}
	return err
}

// mailbox is one incarnation of an actor.
type mailbox struct {
	pid     *actor.PID
	process actor.Process
}

func (n *Node) mailbox(pid *actor.PID) mailbox {
	process, _ := n.system.ProcessRegistry.Get(pid) // dead letters when there is none
	return mailbox{pid, process}
}

func (m mailbox) send(msg any) { m.process.SendUserMessage(m.pid, msg) }
