package actors

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/messages"
)

// activeRun is what the node keeps of a run until its terminal is in the journal. The run actor, the runs' supervisor
// and callers share it.
type activeRun struct {
	id       messages.RunID
	job      Job
	log      *liveLog
	ctx      context.Context // ends when the run is to wind down; its cause says why
	end      context.CancelCauseFunc
	deadline time.Time
	stall    time.Duration
	pid      *actor.PID

	mu       sync.Mutex
	left     bool        // the run has ended, perhaps before leave was set
	leave    func() bool // ends the watch on an attached run's caller
	current  *attempt    // the attempt under way, or the last
	result   json.RawMessage
	degraded bool
}

// cancel ends the run's context and cancels the attempt under way. An attempt whose work has not started yet looks at
// the context once it has: deriving the work's context from the run's would cost each run half a kilobyte.
func (r *activeRun) cancel(cause error) {
	r.end(cause)
	if a := r.attempt(); a != nil {
		a.cancel(cause)
	}
}

func (r *activeRun) setResult(result json.RawMessage, degraded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result, r.degraded = result, degraded
}

// attach keeps what ends the watch on the caller; detach calls it.
func (r *activeRun) attach(leave func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave = leave
	if r.left {
		leave()
	}
}

func (r *activeRun) detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	if r.leave != nil {
		r.leave()
	}
}

func (r *activeRun) completed() messages.RunCompleted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return messages.RunCompleted{By: messages.ByRun, Result: r.result, Degraded: r.degraded}
}

func (r *activeRun) begin(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = a
}

func (r *activeRun) attempt() *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// taskPID returns the PID of a task's actor.
func (r *activeRun) taskPID(task string) *actor.PID {
	return actor.NewPID(r.pid.Address, r.pid.Id+"/"+task)
}
