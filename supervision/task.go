package supervision

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Routine is blocking work in its own goroutines. It belongs to one incarnation of its owner: a later actor with
// the same PID hears nothing of it. Its methods are safe for concurrent use.
type Routine struct {
	node        *Node
	name        string
	owner, sink mailbox
	ctx         context.Context
	cancel      context.CancelCauseFunc
	credits     chan struct{}
	abandoned   atomic.Bool
	concluded   atomic.Int32 // number of messages sent after the cancel

	mu    sync.Mutex
	live  int // number of running goroutines
	ended bool
	err   error
	onEnd []func()
}

// TaskMessage carries a message of a task to its sink. The sink calls [Routine.Ack] once it has handled the message.
// Task is nil if the message took no credit.
type TaskMessage struct {
	NoDeadLetterLog
	Task    *Routine
	Message any
}

// TaskEnded tells the owner that all goroutines of a task have ended. It comes after all the task's messages. Err is
// a [*Crash] after a panic or a Goexit. If the work returns its context's error, Err is the context's cause.
type TaskEnded struct {
	NoDeadLetterLog
	Task *Routine
	Err  error
}

// Go runs fn in a new goroutine. What fn sends goes to sink as *[TaskMessage]; at most credits of them, at least one,
// are unacknowledged. Its end goes to owner as *[TaskEnded].
func (n *Node) Go(
	ctx context.Context, name string, owner, sink *actor.PID, credits int, fn func(ctx context.Context, t *Routine) error,
) *Routine {
	t := &Routine{node: n, name: name, owner: n.mailbox(owner), sink: n.mailbox(sink), live: 1}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.credits = make(chan struct{}, max(credits, 1))
	t.start(fn)
	return t
}

// launch starts a goroutine. It is the only place that does.
func launch(f func()) { go f() }

// Sleep returns after d, or when ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	<-ctx.Done()
}

// Send sends msg to the sink when there is a credit. If the task was canceled or abandoned, it sends nothing and
// returns the cause.
func (t *Routine) Send(msg any) error {
	if err := t.credit(); err != nil {
		return err
	}
	t.sink.send(&TaskMessage{Task: t, Message: msg})
	return nil
}

// credit takes a credit. It is not part of Send, so that a goroutine that sends needs no more than its first 2 kB of
// stack.
func (t *Routine) credit() error {
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
func (t *Routine) await() error {
	select {
	case t.credits <- struct{}{}:
	case <-t.ctx.Done():
	}
	return context.Cause(t.ctx)
}

// Ack returns one credit.
func (t *Routine) Ack() {
	if t == nil { // the message took no credit
		return
	}
	select {
	case <-t.credits:
	default:
	}
}

// Go runs fn in another goroutine of the task; the task ends when all have ended. Its error, panic or Goexit is the
// task's, and cancels the others. Only the task's own goroutines may call Go. On an ended task it does nothing.
func (t *Routine) Go(fn func(ctx context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live > 0 {
		t.live++
		t.start(func(ctx context.Context, _ *Routine) error { return fn(ctx) })
	}
}

// Name returns the task's name.
func (t *Routine) Name() string { return t.name }

// Context returns the context of the task's goroutines. It is done when the task has ended.
func (t *Routine) Context() context.Context { return t.ctx }

// Cancel cancels the task's context; a nil cause is [context.Canceled]. Only the first cause counts.
func (t *Routine) Cancel(cause error) { t.cancel(cause) }

// Running reports whether the task has not ended.
func (t *Routine) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended
}

// OnEnd calls f once, when all goroutines have ended and the owner was told. That may be now.
func (t *Routine) OnEnd(f func()) {
	t.mu.Lock()
	if !t.ended {
		t.onEnd = append(t.onEnd, f)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	f()
}

// Abandon gives up a running task: it is canceled and counted, and its later messages are dropped. The owner is still
// told of its end.
func (t *Routine) Abandon() {
	if t.Running() && t.abandoned.CompareAndSwap(false, true) {
		t.node.abandonedTasks.Add(1)
		t.cancel(ErrAbandoned)
	}
}

// start runs fn in a goroutine and catches its panic or Goexit.
func (t *Routine) start(fn func(context.Context, *Routine) error) {
	t.node.tasks.Add(1)
	launch(func() {
		var err error
		returned := false
		defer func() {
			if !returned {
				err = crashOf(recover(), t.name)
			}
			t.done(err)
		}()
		err = fn(t.ctx, t)
		returned = true
	})
}

// done ends one goroutine, and the task with the last one.
func (t *Routine) done(err error) {
	err = t.causeOf(err)
	t.mu.Lock()
	// the first error counts, since others follow from its cancel; a crash follows from nothing
	if t.err == nil || isCaught(err) && !isCaught(t.err) {
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

// end tells the owner, and calls the OnEnd functions.
func (t *Routine) end() {
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

// causeOf replaces the context's error by its cause.
func (t *Routine) causeOf(err error) error {
	if t.ctx.Err() != nil {
		asking(err, func() {
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				err = context.Cause(t.ctx)
			}
		})
	}
	return err
}

// mailbox addresses one incarnation of an actor.
type mailbox struct {
	pid     *actor.PID
	process actor.Process
}

func (n *Node) mailbox(pid *actor.PID) mailbox {
	process, _ := n.system.ProcessRegistry.Get(pid) // dead letters if there is none
	return mailbox{pid, process}
}

func (m mailbox) send(msg any) { m.process.SendUserMessage(m.pid, msg) }

// Conclude is Send for what must arrive even after a cancel, such as the end of something that the task had begun. A
// canceled task may send as many such messages as it has credits, without taking one, so Conclude never blocks. An
// abandoned task sends nothing.
func (t *Routine) Conclude(msg any) error {
	err := t.Send(msg)
	if err == nil {
		return nil
	}
	if t.abandoned.Load() || int(t.concluded.Add(1)) > cap(t.credits) {
		return err
	}
	t.sink.send(&TaskMessage{Message: msg})
	return nil
}
