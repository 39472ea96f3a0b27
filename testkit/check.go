package testkit

import (
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/messages"
)

// Check judges the whole log of an ended run, merged or not, as a reader got it from cursor 0: the law of numbers, one
// terminal and that last, and that [messages.State.Apply] accepts every event. It returns what is wrong first.
func Check(events []messages.Event) error {
	if err := CheckTail(0, events); err != nil {
		return err
	}
	var state messages.State
	for i, e := range events {
		next, err := state.Apply(e)
		if err != nil {
			return fmt.Errorf("event at %d: %w", i, err)
		}
		state = next
	}
	return nil
}

// CheckTail judges what a reader got past a cursor until the end of the run: the law of numbers from the cursor on, one
// run, one terminal and that last.
func CheckTail(after uint64, events []messages.Event) error {
	if len(events) == 0 {
		return fmt.Errorf("no events past %d, not even a terminal", after)
	}
	for i, e := range events {
		switch {
		case e.From < 1 || e.From > e.Seq:
			return fmt.Errorf("event at %d: from %d is not between 1 and seq %d", i, e.From, e.Seq)
		case e.From > after+1 || e.Seq <= after:
			return fmt.Errorf("event at %d: %d..%d does not continue %d", i, e.From, e.Seq, after)
		case e.RunID != events[0].RunID:
			return fmt.Errorf("event at %d: of run %q among those of %q", i, e.RunID, events[0].RunID)
		case e.IsTerminal() && i < len(events)-1:
			return fmt.Errorf("event at %d: %s is followed by %d more", i, e.Kind(), len(events)-1-i)
		}
		after = e.Seq
	}
	if last := events[len(events)-1]; !last.IsTerminal() {
		return fmt.Errorf("the last event is %s, not a terminal", last.Kind())
	}
	return nil
}

// fold adds a log up.
func fold(events []messages.Event) (messages.State, error) {
	var f messages.Fold
	for _, e := range events {
		if err := f.Apply(e); err != nil {
			return f.State(), err
		}
	}
	return f.State(), nil
}

// same compares two folds as their readers see them.
func same(a, b messages.State) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
