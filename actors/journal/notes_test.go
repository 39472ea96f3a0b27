package journal

import (
	"context"
	"strconv"
	"testing"
)

// What a slow Watch has not been told yet is bounded, and it is told to look at every run.
func TestNotesAreBounded(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var notes Notes[string]
	told, all := 0, 0
	_ = notes.Watch(ctx, "", func(run string) {
		switch told++; {
		case told == 1:
			for i := range 10 * mostNotes {
				notes.Tell("writer", strconv.Itoa(i))
			}
			notes.Tell("", "last")
		case run == "last":
			leave()
		case run == "":
			all++
		}
	})
	if told > mostNotes+2 || all == 0 {
		t.Errorf("told %d notes, %d of them empty", told, all)
	}
}
