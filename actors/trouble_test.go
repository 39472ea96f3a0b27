package actors

import (
	"context"
	"strconv"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// A block that lands just when its run is told of trouble takes the trouble back whole: who waits for the run's end goes
// on to wait, and is not told that it has ended.
func TestTroubleThatPassesAtOnce(t *testing.T) {
	l := newLog("r", &appender{node: supervision.NewNode(nil, nil), ctx: context.Background()}, 1<<20, &counts{})
	l.atEnd()
	l.whenAt(1, func(error) { l.landed(Head{Seq: 1}) })
	l.unavailable(errNotAppended("r", 0, ErrUnknown))
	select {
	case <-l.atEnd():
		t.Error("the run is over, but has neither a terminal nor trouble")
	default:
	}
}

// What a slow Watch has not been told yet is bounded, and it is told to look at every run.
func TestNotesAreBounded(t *testing.T) {
	j := NewMemoryJournal()
	ctx, leave := context.WithCancel(t.Context())
	told, all := 0, 0
	_ = j.Watch(ctx, "", func(n Note) {
		switch told++; {
		case told == 1:
			for i := range 10 * mostNotes {
				run := messages.RunID("r" + strconv.Itoa(i))
				j.Append(Block{Run: run, Events: []messages.Event{{RunID: run, From: 1, Seq: 1, Body: messages.RunQueued{}}}}, func(error) {})
			}
			_ = j.Send(ctx, Command{Run: "last"})
		case n.Command != nil:
			leave()
		case n.Run == "":
			all++
		}
	})
	if told > mostNotes+2 || all == 0 {
		t.Errorf("told %d notes, %d of them of every run", told, all)
	}
}
