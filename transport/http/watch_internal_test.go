package http

import (
	"fmt"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// More changes than are told at once, and a note of the journal that it has lost count, are a change of the whole list.
func TestChangesAreBounded(t *testing.T) {
	for notes, want := range map[int]bool{1: false, mostChanged: false, mostChanged + 1: true, 3 * mostChanged: true} {
		c := changes{wake: make(chan struct{}, 1), runs: map[messages.RunID]bool{}}
		for i := range notes {
			c.note(messages.RunID(fmt.Sprint(i)))
			c.note(messages.RunID(fmt.Sprint(i))) // again
		}
		runs, all := c.take()
		if all != want || !all && len(runs) != notes || len(runs) > mostChanged {
			t.Errorf("%d notes: %d runs, all %t", notes, len(runs), all)
		}
		if runs, all := c.take(); len(runs) > 0 || all {
			t.Errorf("%d notes are told twice", notes)
		}
	}
	c := changes{wake: make(chan struct{}, 1), runs: map[messages.RunID]bool{"a": true}}
	c.note("")
	if runs, all := c.take(); !all || len(runs) > 0 {
		t.Errorf("after a note of any run: %v, all %t", runs, all)
	}
}
