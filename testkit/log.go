package testkit

import (
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/messages"
)

// CheckLog checks the events after a cursor until the end of the run, merged or not: their numbers have no gap, they
// belong to one run, and the only terminal comes last. After cursor 0, [messages.State.Apply] must also accept every
// event. It returns the first violation.
func CheckLog(after uint64, events []messages.Event) error {
	if len(events) == 0 {
		return fmt.Errorf("no events past %d, not even a terminal", after)
	}
	whole := after == 0
	var fold messages.Fold
	for i, e := range events {
		switch {
		case e.From < 1 || e.From > e.Seq:
			return fmt.Errorf("event at %d: from %d is not between 1 and seq %d", i, e.From, e.Seq)
		case e.From > after+1 || e.Seq <= after:
			return fmt.Errorf("event at %d: %d..%d does not continue %d", i, e.From, e.Seq, after)
		case e.RunID != events[0].RunID:
			return fmt.Errorf("event at %d: of run %q among the events of run %q", i, e.RunID, events[0].RunID)
		case e.IsTerminal() && i < len(events)-1:
			return fmt.Errorf("event at %d: %s is followed by %d more", i, e.Kind(), len(events)-1-i)
		}
		if whole {
			if err := fold.Apply(e); err != nil {
				return fmt.Errorf("event at %d: %w", i, err)
			}
		}
		after = e.Seq
	}
	if last := events[len(events)-1]; !last.IsTerminal() {
		return fmt.Errorf("the last event is %s, not a terminal", last.Kind())
	}
	return nil
}

// same compares two folds as their readers see them.
func same(a, b messages.State) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
