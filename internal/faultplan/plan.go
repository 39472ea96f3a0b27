package faultplan

import (
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/actors"
)

// Failure is a way to fail: in a task's work, in the turn of an actor, or through its PID.
type Failure string

// Failures of an actor's turn, and failures through its PID. Failures of a task's work have the names of their
// [Action]: see [WorkFailures].
const (
	TurnPanic    Failure = "turn-panic"     // panic in Receive
	TurnPanicNil Failure = "turn-panic-nil" // panic(nil) in Receive
	TurnGoexit   Failure = "turn-goexit"    // runtime.Goexit in Receive
	TurnBlock    Failure = "turn-block"     // Receive does not return before Faults.Release

	Stop   Failure = "stop"   // the actor is stopped through its PID
	Poison Failure = "poison" // the actor is poisoned
	Flood  Failure = "flood"  // the actor gets 300 messages
)

// None is no failure. DeltasPanic is a panic right after 20 deltas.
const (
	None        Failure = "none"
	DeltasPanic Failure = "deltas-panic"
)

// WorkFailures returns the failures of a task's work.
func WorkFailures() []Failure {
	return []Failure{None, Failure(Fail), Failure(Retry), Failure(Panic), Failure(NilMap), Failure(PanicNil), Failure(Goexit),
		Failure(PanicInGo), DeltasPanic, Failure(Hang), Failure(Deaf)}
}

// TurnFailures returns the failures of an actor's turn.
func TurnFailures() []Failure { return []Failure{TurnPanic, TurnPanicNil, TurnGoexit, TurnBlock} }

// PIDFailures returns the failures through a PID.
func PIDFailures() []Failure { return []Failure{Stop, Poison, Flood} }

// RunActor stands for the run's own actor among the names of its tasks.
const RunActor = "run"

// Phase is when a fault happens. It is the name of a task, for the time while that task works; or a point of the
// actor ([actors.WorkBegins], or the kind of an event that the task is about to emit); or one of the phases below.
type Phase string

// Phases that are not names of tasks.
const (
	Starting Phase = actors.ActorStarted  // the actor handles Started
	Retrying Phase = "retrying"           // the actor's task, analyze for the run's own, waits for its second attempt
	Stopping Phase = actors.ActorStopping // the actor handles Stopping
	Stopped  Phase = actors.ActorStopped  // the actor handles Stopped
)

// Cancel says when the run is cancelled.
type Cancel string

// When the run is cancelled: never, accepted before the fault, at the same moment, or after it.
const (
	NoCancel     Cancel = "no-cancel"
	CancelBefore Cancel = "before"
	CancelWith   Cancel = "with"
	CancelAfter  Cancel = "after"
)

// Fault is a failure with its place and time.
type Fault struct {
	Failure Failure
	Actor   string // a task's name, or RunActor
	Phase   Phase  // "" means while the task works; for failures of the work, as it returns
}

// String returns failure@actor/phase.
func (f Fault) String() string { return fmt.Sprintf("%s@%s/%s", f.Failure, f.Actor, f.Phase) }

// Weather says how a run's journal behaves.
type Weather string

// The weathers.
const (
	Calm      Weather = "calm"
	Slow      Weather = "slow"      // every append takes 1 to 3 ms
	Refusing  Weather = "refusing"  // some appends are refused, never more than two in a row
	Uncertain Weather = "uncertain" // some appends have an unknown outcome
	Final     Weather = "final"     // one append is refused permanently, if the run makes that many
)

// FaultPlan says what goes wrong in one run. Equal seeds give equal plans.
type FaultPlan struct {
	Seed    uint64
	Faults  []Fault // the cancel goes with the first
	Cancel  Cancel
	Journal Weather
	// Again retries crashes: the policy of the run's tasks must have RetryCrash and three attempts.
	Again bool
}

// String returns the plan in one line.
func (p FaultPlan) String() string {
	var faults []string
	for _, f := range p.Faults {
		faults = append(faults, f.String())
	}
	line := fmt.Sprintf("seed %d: %s, cancel %s, journal %s", p.Seed, strings.Join(faults, " + "), p.Cancel, p.Journal)
	if p.Again {
		line += ", crashes retried"
	}
	return line
}
