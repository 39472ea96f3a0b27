package actors_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// phases returns all phases in their order.
func phases() []testkit.Phase {
	return []testkit.Phase{testkit.Starting, testkit.Phase(testkit.Fetch), testkit.Phase(testkit.Analyze), testkit.Phase(testkit.Write),
		testkit.Retrying, testkit.Stopping, testkit.Stopped}
}

// cancels returns all cancels.
func cancels() []testkit.Cancel {
	return []testkit.Cancel{testkit.NoCancel, testkit.CancelBefore, testkit.CancelWith, testkit.CancelAfter}
}

// cell is a cell of the table failure × actor × phase × cancel.
type cell struct {
	testkit.Fault
	Cancel testkit.Cancel
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
func makeFaults() []testkit.Fault {
	var all []testkit.Fault
	for _, task := range testkit.Tasks() {
		for _, f := range testkit.WorkFailures() {
			all = append(all, testkit.Fault{Failure: f, Actor: task, Phase: testkit.Phase(task)})
		}
	}
	for _, name := range append(testkit.Tasks(), testkit.RunActor) {
		for _, phase := range phases() {
			for _, f := range slices.Concat(testkit.TurnFailures(), testkit.PIDFailures()) {
				if fault := (testkit.Fault{Failure: f, Actor: name, Phase: phase}); possible(fault) {
					all = append(all, fault)
				}
			}
		}
	}
	return all
}

// possible reports whether the fault can happen. An actor that is stopping cannot be stopped. One that has stopped
// has no parent that could abandon it. A task's actor lives from the first attempt until its task is done.
func possible(f testkit.Fault) bool {
	order := testkit.Tasks()
	switch {
	case f.Phase == testkit.Stopping:
		return slices.Contains(testkit.TurnFailures(), f.Failure)
	case f.Phase == testkit.Stopped:
		return slices.Contains(testkit.TurnFailures(), f.Failure) && f.Failure != testkit.TurnBlock
	case slices.Contains(order, string(f.Phase)):
		return f.Actor == testkit.RunActor || f.Actor == string(f.Phase)
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
			early := f.Actor == testkit.RunActor && f.Phase == testkit.Starting || f.Phase == testkit.Retrying
			if c != testkit.CancelBefore || !early {
				all = append(all, cell{Fault: f, Cancel: c})
			}
		}
	}
	return all
}

// weathers returns all weathers.
func weathers() []testkit.Weather {
	return []testkit.Weather{testkit.Calm, testkit.Slow, testkit.Refusing, testkit.Uncertain, testkit.Final}
}

// newPlan makes the plan of the seed. In any len(allCells()) consecutive seeds, each cell is the first fault of one
// plan. Every other such stretch of seeds adds a second fault.
func newPlan(seed uint64) testkit.FaultPlan {
	cells := allCells()
	n := uint64(len(cells))
	first := cells[seed%n]
	dice := rand.New(rand.NewPCG(seed, 0))
	p := testkit.FaultPlan{Seed: seed, Faults: []testkit.Fault{first.Fault}, Cancel: first.Cancel}
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
func endOf(f testkit.Fault) outcome {
	if harmless(f) {
		return outcome{Status: messages.Completed, By: messages.ByRun}
	}
	failed := func(by messages.Author, came messages.Code) outcome {
		return outcome{messages.Failed, by, messages.CauseInjected, came}
	}
	switch f.Failure {
	case testkit.TurnBlock:
		if f.Actor == testkit.RunActor {
			return failed(messages.BySupervisor, messages.CauseStalled)
		}
		return failed(messages.BySupervisor, messages.CauseDeadline)
	case testkit.Failure(testkit.Hang):
		return failed(messages.ByRun, messages.CauseDeadline)
	case testkit.Failure(testkit.Deaf):
		return failed(messages.BySupervisor, messages.CauseDeadline)
	case testkit.Failure(testkit.Fail):
		return failed(messages.ByRun, messages.CauseError)
	case testkit.Stop, testkit.Poison:
		return failed(messages.BySupervisor, messages.CauseError)
	}
	return failed(messages.BySupervisor, messages.CausePanic)
}

// harmless reports whether a run completes in spite of the fault.
func harmless(f testkit.Fault) bool {
	switch {
	case f.Failure == testkit.None || f.Failure == testkit.Failure(testkit.Retry) || f.Failure == testkit.Flood:
		return true
	case f.Phase == testkit.Stopping || f.Phase == testkit.Stopped: // the work was done, and for the run's actor the terminal was written
		return true
	case f.Actor == testkit.RunActor || slices.Contains(testkit.WorkFailures(), f.Failure):
		return false
	case f.Phase == testkit.Retrying: // the next attempt gets a new actor if the old one is gone
		return f.Failure != testkit.TurnBlock
	}
	order := testkit.Tasks()
	return slices.Index(order, f.Actor) < slices.Index(order, string(f.Phase)) // its task was already done
}

// crashes reports whether the fault may end an attempt with a crash.
func crashes(f testkit.Fault) bool {
	at := f.Phase == testkit.Phase(f.Actor) || f.Phase == testkit.Starting && f.Actor != testkit.RunActor
	return at && !harmless(f) && endOf(f).Code == messages.CausePanic
}

// allowed returns the outcomes that the plan allows.
func allowed(p testkit.FaultPlan) []outcome {
	var ends []outcome
	fatal, renews, lethal := false, false, false
	for _, f := range p.Faults {
		retried := p.Again && crashes(f)
		// One of two faults may cause a new attempt or a new actor, which the other fault does not hit. And it is a
		// matter of timing whether an actor that crashes as it starts has its work already, except for the first
		// task.
		renews = renews || len(p.Faults) > 1 && (f.Phase == testkit.Retrying || retried) || retried && f.Phase == testkit.Starting
		if harmless(f) || retried && len(p.Faults) == 1 && (f.Phase != testkit.Starting || f.Actor == testkit.Fetch) {
			continue
		}
		fatal = true
		ends = append(ends, endOf(f))
		lethal = lethal || f.Actor == testkit.RunActor
	}
	if !fatal || renews {
		ends = append(ends, outcome{Status: messages.Completed, By: messages.ByRun})
	}
	if len(p.Faults) > 1 {
		ends = append(ends, blocked(p)...)
	}
	if p.Cancel == testkit.NoCancel {
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
func blocked(p testkit.FaultPlan) []outcome {
	var ends []outcome
	for i, f := range p.Faults {
		if f.Failure != testkit.TurnBlock {
			continue
		}
		ends = append(ends, endOf(testkit.Fault{Failure: testkit.TurnBlock, Actor: f.Actor, Phase: testkit.Starting}))
		if other := p.Faults[1-i]; other.Actor == f.Actor && !slices.Contains(testkit.WorkFailures(), other.Failure) {
			ends = append(ends, endOf(testkit.Fault{Failure: other.Failure, Actor: f.Actor, Phase: testkit.Starting}))
			if p.Again && other.Failure != testkit.TurnBlock && f.Actor != testkit.RunActor { // its end is reported while its task is at work
				ends = append(ends, outcome{Status: messages.Completed, By: messages.ByRun})
			}
		}
	}
	return ends
}

// judge returns an error unless the plan allows the run's end.
func judge(p testkit.FaultPlan, end messages.State) error {
	if end.End == nil {
		return fmt.Errorf("%s: the run has not ended", p)
	}
	got := outcome{Status: end.Status, By: end.End.By, Cause: end.End.Cause}
	if got.Cause == messages.CauseInjected {
		got.Code = end.End.Error.Code
	}
	may := allowed(p)
	if p.Journal == testkit.Final {
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
