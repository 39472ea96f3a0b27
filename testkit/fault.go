package testkit

import (
	"errors"

	"github.com/seed889630bf/lastword/internal/faultplan"
)

// Fault is a [Failure] of an Actor, a task's name or [RunActor], in a [Phase]. Without a phase it happens while the
// task works; a failure of the work, as it returns.
type Fault = faultplan.Fault

// Failure is a way to fail: in a task's work, in the turn of an actor, or through its PID.
type Failure = faultplan.Failure

// Failures of a task's work, of an actor's turn, and through its PID.
const (
	Fail   = Failure(faultplan.Fail)   // the work returns an error
	Retry  = Failure(faultplan.Retry)  // it returns an error that a retry may mend
	Panic  = Failure(faultplan.Panic)  // it panics
	Goexit = Failure(faultplan.Goexit) // it calls runtime.Goexit
	Hang   = Failure(faultplan.Hang)   // it waits until it is cancelled
	Deaf   = Failure(faultplan.Deaf)   // it waits, and ignores the cancel

	TurnPanic  = faultplan.TurnPanic  // panic in Receive
	TurnGoexit = faultplan.TurnGoexit // runtime.Goexit in Receive
	Stop       = faultplan.Stop       // the actor is stopped through its PID
	Poison     = faultplan.Poison     // the actor is poisoned
	Flood      = faultplan.Flood      // the actor gets 300 messages
)

// RunActor stands for the run's own actor among the names of its tasks.
const RunActor = faultplan.RunActor

// Phase is when a fault happens. It is the name of a task, for the time while that task works; or a point of the
// actor ([actors.WorkBegins], or the kind of an event that the task is about to emit).
type Phase = faultplan.Phase

var errInjected = errors.New("injected")
