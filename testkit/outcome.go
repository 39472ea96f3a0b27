package testkit

import (
	"fmt"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// Outcome is how a run ended. Code says what came of a fault whose run ends with the cause injected.
type Outcome struct {
	Status messages.Status
	By     messages.Author
	Cause  messages.Cause
	Code   messages.Code
}

// Outcome returns how a run ends whose only fault this is, without a cancel.
func (f Fault) Outcome() Outcome {
	if f.harmless() {
		return Outcome{Status: messages.Completed, By: messages.ByRun}
	}
	failed := func(by messages.Author, came messages.Cause) Outcome {
		return Outcome{messages.Failed, by, messages.CauseInjected, messages.Code(came)}
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

func (f Fault) harmless() bool {
	switch {
	case f.Failure == None || f.Failure == Failure(Retry) || f.Failure == Flood:
		return true
	case f.Phase == Stopping || f.Phase == Stopped: // the work was done, and for the run the last word written
		return true
	case f.Actor == RunActor || slices.Contains(WorkFailures(), f.Failure):
		return false
	case f.Phase == Retrying: // the next attempt gets a new actor where the old one is gone
		return f.Failure != TurnBlock
	}
	order := Tasks()
	return slices.Index(order, f.Actor) < slices.Index(order, string(f.Phase)) // its task was done
}

// crashes reports whether the fault may end an attempt by a crash.
func (f Fault) crashes() bool {
	at := f.Phase == Phase(f.Actor) || f.Phase == Starting && f.Actor != RunActor
	return at && !f.harmless() && f.Outcome().Code == messages.Code(messages.CausePanic)
}

// Outcomes returns the ends that the plan allows.
func (p Plan) Outcomes() []Outcome {
	var ends []Outcome
	fatal, renews, lethal := false, false, false
	for _, f := range p.Faults {
		retried := p.Again && f.crashes()
		// Of two faults one may bring a new attempt, or a new actor, that the other does not happen to. And whether an
		// actor that crashes as it starts has been given its work is a matter of luck, but for the first task's.
		renews = renews || len(p.Faults) > 1 && (f.Phase == Retrying || retried) || retried && f.Phase == Starting
		if f.harmless() || retried && len(p.Faults) == 1 && (f.Phase != Starting || f.Actor == Fetch) {
			continue
		}
		fatal = true
		ends = append(ends, f.Outcome())
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

// blocked returns the ends that come of an actor that blocks, and does so where it would do no harm, because of the other
// fault: it cannot do its work, or, not yet gone, has no successor.
func (p Plan) blocked() []Outcome {
	var ends []Outcome
	for i, f := range p.Faults {
		if f.Failure != TurnBlock {
			continue
		}
		ends = append(ends, Fault{TurnBlock, f.Actor, Starting}.Outcome())
		if other := p.Faults[1-i]; other.Actor == f.Actor && !slices.Contains(WorkFailures(), other.Failure) {
			ends = append(ends, Fault{other.Failure, f.Actor, Starting}.Outcome())
			if p.Again && other.Failure != TurnBlock && f.Actor != RunActor { // its end is told when its task is at work
				ends = append(ends, Outcome{Status: messages.Completed, By: messages.ByRun})
			}
		}
	}
	return ends
}

// Judge says whether the plan allows the end.
func (p Plan) Judge(end messages.State) error {
	if end.End == nil {
		return fmt.Errorf("%s: the run has not ended", p)
	}
	got := Outcome{Status: end.Status, By: end.End.By, Cause: end.End.Cause}
	if got.Cause == messages.CauseInjected {
		got.Code = end.End.Error.Code
	}
	if allowed := p.Outcomes(); !slices.Contains(allowed, got) {
		return fmt.Errorf("%s: ended as %v, allowed are %v", p, got, allowed)
	}
	if got.Code == messages.Code(messages.CausePanic) && end.End.Error.Stack == "" {
		return fmt.Errorf("%s: a panic without its stack", p)
	}
	return nil
}
