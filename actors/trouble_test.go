package actors

import (
	"context"
	"testing"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/supervision"
)

// A block that lands just when its run is told of trouble takes the trouble back whole: who waits for the run's end goes
// on to wait, and is not told that it has ended.
func TestTroubleThatPassesAtOnce(t *testing.T) {
	l := newLog("r", &appender{node: supervision.NewNode(nil, nil), ctx: context.Background(), counts: &counts{}}, 1<<20)
	l.atEnd()
	l.whenAt(1, func(error) { l.landed(journal.Head{Seq: 1}) })
	l.unavailable(errNotAppended("r", 0, journal.ErrUnknown))
	select {
	case <-l.atEnd():
		t.Error("the run is over, but has neither a terminal nor trouble")
	default:
	}
}
