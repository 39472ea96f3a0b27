package testkit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
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

// phases returns all phases in their order.
func phases() []Phase {
	return []Phase{Starting, Phase(Fetch), Phase(Analyze), Phase(Write), Retrying, Stopping, Stopped}
}

// Cancel says when the run is cancelled.
type Cancel string

// When the run is cancelled: never, accepted before the fault, at the same moment, or after it.
const (
	NoCancel     Cancel = "no-cancel"
	CancelBefore Cancel = "before"
	CancelWith   Cancel = "with"
	CancelAfter  Cancel = "after"
)

// Cancels returns all cancels.
func Cancels() []Cancel { return []Cancel{NoCancel, CancelBefore, CancelWith, CancelAfter} }

// Fault is a failure with its place and time.
type Fault struct {
	Failure Failure
	Actor   string // a task's name, or RunActor
	Phase   Phase  // "" means while the task works; for failures of the work, as it returns
}

// String returns failure@actor/phase.
func (f Fault) String() string { return fmt.Sprintf("%s@%s/%s", f.Failure, f.Actor, f.Phase) }

// Cell is a cell of the table failure × actor × phase × cancel.
type Cell struct {
	Fault
	Cancel Cancel
}

// String returns the fault and the cancel.
func (c Cell) String() string { return c.Fault.String() + " " + string(c.Cancel) }

// AllFaults returns every possible fault.
func AllFaults() []Fault { return slices.Clone(allFaults()) }

// Cells returns every possible cell.
func Cells() []Cell { return slices.Clone(allCells()) }

// The tables are made once, because a simulation asks for them a million times.
var (
	allFaults = sync.OnceValue(makeFaults)
	allCells  = sync.OnceValue(makeCells)
)

// makeFaults lists each failure of each actor in each phase in which it can happen.
func makeFaults() []Fault {
	var all []Fault
	for _, task := range Tasks() {
		for _, f := range WorkFailures() {
			all = append(all, Fault{f, task, Phase(task)})
		}
	}
	for _, name := range append(Tasks(), RunActor) {
		for _, phase := range phases() {
			for _, f := range slices.Concat(TurnFailures(), PIDFailures()) {
				if fault := (Fault{f, name, phase}); fault.possible() {
					all = append(all, fault)
				}
			}
		}
	}
	return all
}

// possible reports whether the fault can happen. An actor that is stopping cannot be stopped. One that has stopped
// has no parent that could abandon it. A task's actor lives from the first attempt until its task is done.
func (f Fault) possible() bool {
	order := Tasks()
	switch {
	case f.Phase == Stopping:
		return slices.Contains(TurnFailures(), f.Failure)
	case f.Phase == Stopped:
		return slices.Contains(TurnFailures(), f.Failure) && f.Failure != TurnBlock
	case slices.Contains(order, string(f.Phase)):
		return f.Actor == RunActor || f.Actor == string(f.Phase)
	}
	return true
}

// makeCells combines each fault with each time of a cancel.
func makeCells() []Cell {
	var all []Cell
	for _, f := range allFaults() {
		for _, c := range Cancels() {
			// the run's actor cannot accept a cancel before it has started, and a run that waits for an attempt ends
			// at once when it is cancelled
			early := f.Actor == RunActor && f.Phase == Starting || f.Phase == Retrying
			if c != CancelBefore || !early {
				all = append(all, Cell{f, c})
			}
		}
	}
	return all
}

// Weather says how a run's journal behaves.
type Weather string

// The weathers.
const (
	Calm      Weather = "calm"
	Slow      Weather = "slow"      // every append takes 1 to 3 ms
	Refusing  Weather = "refusing"  // some appends are refused, never more than two in a row
	Uncertain Weather = "uncertain" // some appends have an unknown outcome
	Final     Weather = "final"     // one append is refused for good, if the run makes that many
)

// Weathers returns all weathers.
func Weathers() []Weather { return []Weather{Calm, Slow, Refusing, Uncertain, Final} }

// FaultPlan says what goes wrong in one run. Equal seeds give equal plans.
type FaultPlan struct {
	Seed    uint64
	Faults  []Fault // the cancel goes with the first
	Cancel  Cancel
	Journal Weather
	// Again retries crashes: the policy of the run's tasks must have RetryCrash and three attempts.
	Again bool
}

// NewFaultPlan makes the plan of the seed. In any len(Cells()) consecutive seeds, each cell is the first fault of one
// plan. Every other such stretch of seeds adds a second fault.
func NewFaultPlan(seed uint64) FaultPlan {
	cells := allCells()
	n := uint64(len(cells))
	cell := cells[seed%n]
	dice := rand.New(rand.NewPCG(seed, 0))
	p := FaultPlan{Seed: seed, Faults: []Fault{cell.Fault}, Cancel: cell.Cancel}
	if seed/n%2 == 1 {
		all := allFaults()
		p.Faults = append(p.Faults, all[dice.IntN(len(all))])
	}
	p.Journal = Weathers()[dice.IntN(len(Weathers()))]
	p.Again = dice.IntN(3) == 0
	return p
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

// Outcome says how a run ended. Code is the error code if the cause is injected.
type Outcome struct {
	Status messages.Status
	By     messages.Author
	Cause  messages.Code
	Code   messages.Code
}

// outcome returns how a run ends with this one fault and no cancel.
func (f Fault) outcome() Outcome {
	if f.harmless() {
		return Outcome{Status: messages.Completed, By: messages.ByRun}
	}
	failed := func(by messages.Author, came messages.Code) Outcome {
		return Outcome{messages.Failed, by, messages.CauseInjected, came}
	}
	switch f.Failure {
	case TurnBlock:
		if f.Actor == RunActor {
			return failed(messages.BySupervisor, messages.CauseStalled)
		}
		return failed(messages.BySupervisor, messages.CauseDeadline)
	case Failure(Hang):
		return failed(messages.ByRun, messages.CauseDeadline)
	case Failure(Deaf):
		return failed(messages.BySupervisor, messages.CauseDeadline)
	case Failure(Fail):
		return failed(messages.ByRun, messages.CauseError)
	case Stop, Poison:
		return failed(messages.BySupervisor, messages.CauseError)
	}
	return failed(messages.BySupervisor, messages.CausePanic)
}

// harmless reports whether a run completes in spite of the fault.
func (f Fault) harmless() bool {
	switch {
	case f.Failure == None || f.Failure == Failure(Retry) || f.Failure == Flood:
		return true
	case f.Phase == Stopping || f.Phase == Stopped: // the work was done, and for the run's actor the terminal was written
		return true
	case f.Actor == RunActor || slices.Contains(WorkFailures(), f.Failure):
		return false
	case f.Phase == Retrying: // the next attempt gets a new actor if the old one is gone
		return f.Failure != TurnBlock
	}
	order := Tasks()
	return slices.Index(order, f.Actor) < slices.Index(order, string(f.Phase)) // its task was already done
}

// crashes reports whether the fault may end an attempt with a crash.
func (f Fault) crashes() bool {
	at := f.Phase == Phase(f.Actor) || f.Phase == Starting && f.Actor != RunActor
	return at && !f.harmless() && f.outcome().Code == messages.CausePanic
}

// outcomes returns the outcomes that the plan allows.
func (p FaultPlan) outcomes() []Outcome {
	var ends []Outcome
	fatal, renews, lethal := false, false, false
	for _, f := range p.Faults {
		retried := p.Again && f.crashes()
		// One of two faults may cause a new attempt or a new actor, which the other fault does not hit. And it is a
		// matter of timing whether an actor that crashes as it starts has its work already, except for the first
		// task.
		renews = renews || len(p.Faults) > 1 && (f.Phase == Retrying || retried) || retried && f.Phase == Starting
		if f.harmless() || retried && len(p.Faults) == 1 && (f.Phase != Starting || f.Actor == Fetch) {
			continue
		}
		fatal = true
		ends = append(ends, f.outcome())
		lethal = lethal || f.Actor == RunActor
	}
	if !fatal || renews {
		ends = append(ends, Outcome{Status: messages.Completed, By: messages.ByRun})
	}
	if len(p.Faults) > 1 {
		ends = append(ends, p.blocked()...)
	}
	if p.Cancel == NoCancel {
		return ends
	}
	canceled := Outcome{Status: messages.Canceled, By: messages.ByRun, Cause: messages.CauseCanceledByUser}
	ends = append(ends, canceled)
	if lethal {
		canceled.By = messages.BySupervisor
		ends = append(ends, canceled)
	}
	return ends
}

// blocked returns the outcomes if an actor blocks where the fault alone would do no harm, because of the other fault:
// it cannot do its work, or, since it is not gone, it has no successor.
func (p FaultPlan) blocked() []Outcome {
	var ends []Outcome
	for i, f := range p.Faults {
		if f.Failure != TurnBlock {
			continue
		}
		ends = append(ends, Fault{TurnBlock, f.Actor, Starting}.outcome())
		if other := p.Faults[1-i]; other.Actor == f.Actor && !slices.Contains(WorkFailures(), other.Failure) {
			ends = append(ends, Fault{other.Failure, f.Actor, Starting}.outcome())
			if p.Again && other.Failure != TurnBlock && f.Actor != RunActor { // its end is reported while its task is at work
				ends = append(ends, Outcome{Status: messages.Completed, By: messages.ByRun})
			}
		}
	}
	return ends
}

// Judge returns an error unless the plan allows the run's end.
func (p FaultPlan) Judge(end messages.State) error {
	if end.End == nil {
		return fmt.Errorf("%s: the run has not ended", p)
	}
	got := Outcome{Status: end.Status, By: end.End.By, Cause: end.End.Cause}
	if got.Cause == messages.CauseInjected {
		got.Code = end.End.Error.Code
	}
	allowed := p.outcomes()
	if p.Journal == Final {
		allowed = append(allowed, Outcome{Status: messages.Failed, By: messages.ByRecovery, Cause: messages.CauseJournalUnavailable},
			Outcome{Status: messages.Canceled, By: messages.ByRecovery, Cause: messages.CauseCanceledByUser})
	}
	if !slices.Contains(allowed, got) {
		return fmt.Errorf("%s: ended as %v, allowed are %v", p, got, allowed)
	}
	if got.Code == messages.CausePanic && end.End.Error.Stack == "" {
		return fmt.Errorf("%s: a panic without its stack", p)
	}
	return nil
}
