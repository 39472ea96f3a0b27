package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// accept writes run.canceling; from then on the run can only end as canceled.
func (r *runActor) accept(c actor.Context, m *cancelRun) {
	if r.record(messages.RunCanceling{By: m.by, Reason: m.reason}, "canceling") != nil {
		return // it is canceling already, or has ended
	}
	r.wind(c, messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser}, "canceled", errCanceled)
}

func (r *runActor) expire(c actor.Context, cause messages.Cause) {
	why := map[messages.Cause]string{
		messages.CauseDeadline: "the run took longer than it may",
		messages.CauseStalled:  "the run made no progress for longer than it may",
		messages.CauseShutdown: errShutdown.Message,
		messages.CauseNodeLost: "another node has taken the run over",
	}[cause]
	r.fail(c, "", messages.Errorf(messages.Code(cause), "%s", why))
}

// fail ends the run with the error; its code is the cause where it is one.
func (r *runActor) fail(c actor.Context, task string, err error) {
	if r.word != nil {
		return
	}
	failed := failure(messages.ByRun, task, err)
	r.end(c, failed, failed.Error.Message)
}

// failure is the run.failed that an error makes.
func failure(by messages.Author, task string, err error) messages.RunFailed {
	d := supervision.Policy{Attempts: 1}.Decide(supervision.Failure{Attempt: 1, Err: err}, 0)
	return messages.RunFailed{By: by, Cause: d.Cause, Task: task, Error: d.Error}
}

func (r *runActor) end(c actor.Context, word messages.Body, says string) {
	if r.word != nil {
		return
	}
	cause := errEnding
	if failed, ok := word.(messages.RunFailed); ok {
		cause = failed.Error
	}
	r.wind(c, word, says, cause)
}

// wind cancels what runs and waits for it: for the soft limit by itself, then without its actors, and after the hard
// limit no more.
func (r *runActor) wind(c actor.Context, word messages.Body, says string, cause error) {
	first := r.word == nil
	r.word, r.says = word, says
	r.run.cancel(cause)
	for _, t := range r.held {
		t.Ack()
	}
	r.held = nil
	if !first {
		return
	}
	if r.working() == nil {
		r.stopChildren(c)
	} else {
		r.after(c, r.system.config.CancelSoft, &softLimit{})
	}
	r.settle(c)
}

// working returns the attempt whose work has not ended, or nil. Its actor may be gone, and it need not be the current
// one any more.
func (r *runActor) working() *attempt {
	if a := r.run.attempt(); a != nil && a.running() {
		return a
	}
	return nil
}

func (r *runActor) stopChildren(c actor.Context) {
	for _, t := range slices.Backward(r.run.job.Tasks) {
		r.Stop(c, t.Name)
	}
}

// settle writes the last word when nothing of the run is alive any more.
func (r *runActor) settle(c actor.Context) {
	if r.word == nil {
		return
	}
	if a := r.working(); a != nil && !r.gaveUp {
		r.await(c, a, &workGone{})
		if !r.limited {
			r.limited = true
			r.after(c, r.system.config.CancelHard, &hardLimit{})
		}
		return
	}
	r.stopChildren(c)
	if r.Len() > 0 {
		return
	}
	r.lastWord(c)
}

// await sends the actor the message when the attempt's work has ended.
func (r *runActor) await(c actor.Context, a *attempt, message any) {
	root, self := r.system.node.Root(), c.Self()
	a.work.Load().OnEnd(func() { root.Send(self, message) })
}

// abandon gives up on what the hard limit found alive.
func (r *runActor) abandon(c actor.Context) {
	r.gaveUp = true
	if a := r.working(); a != nil {
		a.work.Load().Abandon()
	}
	for _, t := range r.run.job.Tasks {
		if pid := r.PID(t.Name); pid != nil {
			r.system.node.Abandon(c.Self(), pid)
		}
	}
	r.settle(c)
}

// lastWord is reached once: the actor stops with it.
func (r *runActor) lastWord(c actor.Context) {
	if r.written {
		return
	}
	r.written = true
	r.stopTimers()
	r.run.log.finish(r.word, r.says)
	supervision.Goodbye(c)
}
