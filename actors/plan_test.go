package actors_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// phases returns all phases in their order.
func phases() []faultplan.Phase {
	return []faultplan.Phase{faultplan.Starting, faultplan.Phase(faultplan.Fetch), faultplan.Phase(faultplan.Analyze), faultplan.Phase(faultplan.Write),
		faultplan.Retrying, faultplan.Stopping, faultplan.Stopped}
}

// cancels returns all cancels.
func cancels() []faultplan.Cancel {
	return []faultplan.Cancel{faultplan.NoCancel, faultplan.CancelBefore, faultplan.CancelWith, faultplan.CancelAfter}
}

// cell is a cell of the table failure × actor × phase × cancel.
type cell struct {
	faultplan.Fault
	Cancel faultplan.Cancel
}

// String returns the fault and the cancel.
func (c cell) String() string { return c.Fault.String() + " " + string(c.Cancel) }

// hits counts how often each cell has happened.
func (st *stage) hits() map[cell]int {
	all := map[cell]int{}
	for _, trial := range st.trials {
		all[cell{trial.Plan.Faults[0], trial.Plan.Cancel}] += trial.Hits()
	}
	return all
}

// The tables are made once, because a simulation asks for them a million times.
var (
	allFaults = sync.OnceValue(makeFaults)
	allCells  = sync.OnceValue(makeCells)
)

// makeFaults lists each failure of each actor in each phase in which it can happen.
func makeFaults() []faultplan.Fault {
	var all []faultplan.Fault
	for _, task := range faultplan.Tasks() {
		for _, f := range faultplan.WorkFailures() {
			all = append(all, faultplan.Fault{Failure: f, Actor: task, Phase: faultplan.Phase(task)})
		}
	}
	for _, name := range append(faultplan.Tasks(), faultplan.RunActor) {
		for _, phase := range phases() {
			for _, f := range slices.Concat(faultplan.TurnFailures(), faultplan.PIDFailures()) {
				if fault := (faultplan.Fault{Failure: f, Actor: name, Phase: phase}); possible(fault) {
					all = append(all, fault)
				}
			}
		}
	}
	return all
}

// possible reports whether the fault can happen. An actor that is stopping cannot be stopped. One that has stopped
// has no parent that could abandon it. A task's actor lives from the first attempt until its task is done.
func possible(f faultplan.Fault) bool {
	order := faultplan.Tasks()
	switch {
	case f.Phase == faultplan.Stopping:
		return slices.Contains(faultplan.TurnFailures(), f.Failure)
	case f.Phase == faultplan.Stopped:
		return slices.Contains(faultplan.TurnFailures(), f.Failure) && f.Failure != faultplan.TurnBlock
	case slices.Contains(order, string(f.Phase)):
		return f.Actor == faultplan.RunActor || f.Actor == string(f.Phase)
	}
	return true
}

// makeCells combines each fault with each time of a cancel.
func makeCells() []cell {
	var all []cell
	for _, f := range allFaults() {
		for _, c := range cancels() {
			// the run's actor cannot accept a cancel before it has started, and a run that waits for an attempt ends
			// at once when it is cancelled
			early := f.Actor == faultplan.RunActor && f.Phase == faultplan.Starting || f.Phase == faultplan.Retrying
			if c != faultplan.CancelBefore || !early {
				all = append(all, cell{Fault: f, Cancel: c})
			}
		}
	}
	return all
}

// weathers returns all weathers.
func weathers() []faultplan.Weather {
	return []faultplan.Weather{faultplan.Calm, faultplan.Slow, faultplan.Refusing, faultplan.Uncertain, faultplan.Final}
}

// newPlan makes the plan of the seed. In any len(allCells()) consecutive seeds, each cell is the first fault of one
// plan. Every other such stretch of seeds adds a second fault.
func newPlan(seed uint64) faultplan.FaultPlan {
	cells := allCells()
	n := uint64(len(cells))
	first := cells[seed%n]
	dice := rand.New(rand.NewPCG(seed, 0))
	p := faultplan.FaultPlan{Seed: seed, Faults: []faultplan.Fault{first.Fault}, Cancel: first.Cancel}
	if seed/n%2 == 1 {
		all := allFaults()
		p.Faults = append(p.Faults, all[dice.IntN(len(all))])
	}
	p.Journal = weathers()[dice.IntN(len(weathers()))]
	p.Again = dice.IntN(3) == 0
	return p
}

// outcome says how a run ended. Code is the error code if the cause is injected.
type outcome struct {
	Status messages.Status
	By     messages.Author
	Cause  messages.Code
	Code   messages.Code
}

// endOf returns how a run ends with this one fault and no cancel.
func endOf(f faultplan.Fault) outcome {
	if harmless(f) {
		return outcome{Status: messages.Completed, By: messages.ByRun}
	}
	failed := func(by messages.Author, came messages.Code) outcome {
		return outcome{messages.Failed, by, messages.CauseInjected, came}
	}
	switch f.Failure {
	case faultplan.TurnBlock:
		if f.Actor == faultplan.RunActor {
			return failed(messages.BySupervisor, messages.CauseStalled)
		}
		return failed(messages.BySupervisor, messages.CauseDeadline)
	case faultplan.Failure(faultplan.Hang):
		return failed(messages.ByRun, messages.CauseDeadline)
	case faultplan.Failure(faultplan.Deaf):
		return failed(messages.BySupervisor, messages.CauseDeadline)
	case faultplan.Failure(faultplan.Fail):
		return failed(messages.ByRun, messages.CauseError)
	case faultplan.Stop, faultplan.Poison:
		return failed(messages.BySupervisor, messages.CauseError)
	}
	return failed(messages.BySupervisor, messages.CausePanic)
}

// harmless reports whether a run completes in spite of the fault.
func harmless(f faultplan.Fault) bool {
	switch {
	case f.Failure == faultplan.None || f.Failure == faultplan.Failure(faultplan.Retry) || f.Failure == faultplan.Flood:
		return true
	case f.Phase == faultplan.Stopping || f.Phase == faultplan.Stopped: // the work was done, and for the run's actor the terminal was written
		return true
	case f.Actor == faultplan.RunActor || slices.Contains(faultplan.WorkFailures(), f.Failure):
		return false
	case f.Phase == faultplan.Retrying: // the next attempt gets a new actor if the old one is gone
		return f.Failure != faultplan.TurnBlock
	}
	order := faultplan.Tasks()
	return slices.Index(order, f.Actor) < slices.Index(order, string(f.Phase)) // its task was already done
}

// crashes reports whether the fault may end an attempt with a crash.
func crashes(f faultplan.Fault) bool {
	at := f.Phase == faultplan.Phase(f.Actor) || f.Phase == faultplan.Starting && f.Actor != faultplan.RunActor
	return at && !harmless(f) && endOf(f).Code == messages.CausePanic
}

// allowed returns the outcomes that the plan allows.
func allowed(p faultplan.FaultPlan) []outcome {
	var ends []outcome
	fatal, renews, lethal := false, false, false
	for _, f := range p.Faults {
		retried := p.Again && crashes(f)
		// One of two faults may cause a new attempt or a new actor, which the other fault does not hit. And it is a
		// matter of timing whether an actor that crashes as it starts has its work already, except for the first
		// task.
		renews = renews || len(p.Faults) > 1 && (f.Phase == faultplan.Retrying || retried) || retried && f.Phase == faultplan.Starting
		if harmless(f) || retried && len(p.Faults) == 1 && (f.Phase != faultplan.Starting || f.Actor == faultplan.Fetch) {
			continue
		}
		fatal = true
		ends = append(ends, endOf(f))
		lethal = lethal || f.Actor == faultplan.RunActor
	}
	if !fatal || renews {
		ends = append(ends, outcome{Status: messages.Completed, By: messages.ByRun})
	}
	if len(p.Faults) > 1 {
		ends = append(ends, blocked(p)...)
	}
	if p.Cancel == faultplan.NoCancel {
		return ends
	}
	canceled := outcome{Status: messages.Canceled, By: messages.ByRun, Cause: messages.CauseCanceledByUser}
	ends = append(ends, canceled)
	if lethal {
		canceled.By = messages.BySupervisor
		ends = append(ends, canceled)
	}
	return ends
}

// blocked returns the outcomes if an actor blocks where the fault alone would do no harm, because of the other fault:
// it cannot do its work, or, since it is not gone, it has no successor.
func blocked(p faultplan.FaultPlan) []outcome {
	var ends []outcome
	for i, f := range p.Faults {
		if f.Failure != faultplan.TurnBlock {
			continue
		}
		ends = append(ends, endOf(faultplan.Fault{Failure: faultplan.TurnBlock, Actor: f.Actor, Phase: faultplan.Starting}))
		if other := p.Faults[1-i]; other.Actor == f.Actor && !slices.Contains(faultplan.WorkFailures(), other.Failure) {
			ends = append(ends, endOf(faultplan.Fault{Failure: other.Failure, Actor: f.Actor, Phase: faultplan.Starting}))
			if p.Again && other.Failure != faultplan.TurnBlock && f.Actor != faultplan.RunActor { // its end is reported while its task is at work
				ends = append(ends, outcome{Status: messages.Completed, By: messages.ByRun})
			}
		}
	}
	return ends
}

// judge returns an error unless the plan allows the run's end.
func judge(p faultplan.FaultPlan, end messages.State) error {
	if end.End == nil {
		return fmt.Errorf("%s: the run has not ended", p)
	}
	got := outcome{Status: end.Status, By: end.End.By, Cause: end.End.Cause}
	if got.Cause == messages.CauseInjected {
		got.Code = end.End.Error.Code
	}
	may := allowed(p)
	if p.Journal == faultplan.Final {
		may = append(may, outcome{Status: messages.Failed, By: messages.ByRecovery, Cause: messages.CauseJournalUnavailable},
			outcome{Status: messages.Canceled, By: messages.ByRecovery, Cause: messages.CauseCanceledByUser})
	}
	if !slices.Contains(may, got) {
		return fmt.Errorf("%s: ended as %v, allowed are %v", p, got, may)
	}
	if got.Code == messages.CausePanic && end.End.Error.Stack == "" {
		return fmt.Errorf("%s: a panic without its stack", p)
	}
	return nil
}

func TestPlansAreReproducible(t *testing.T) {
	cells := map[cell]bool{}
	for seed := range uint64(len(allCells())) {
		p := newPlan(seed)
		if again := newPlan(seed); again.String() != p.String() {
			t.Errorf("seed %d makes %s and %s", seed, p, again)
		}
		cells[cell{Fault: p.Faults[0], Cancel: p.Cancel}] = true
	}
	if len(cells) != len(allCells()) {
		t.Errorf("a stretch of seeds has %d of %d cells", len(cells), len(allCells()))
	}
	if pair := newPlan(uint64(len(cells))); len(pair.Faults) != 2 {
		t.Errorf("the second stretch begins with %s, want a pair", pair)
	}
}
