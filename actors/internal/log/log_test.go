package log

import (
	"context"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// A reader of the journal may see the event of a new owner before the owner knows that it landed. Its cursor is far past
// the last durable event then, and it waits.
func TestReaderIsAheadOfANewOwner(t *testing.T) {
	now := time.Now()
	old := Ledger{ID: "r"}
	must(t, old.Record(now, messages.RunQueued{Job: "test", Mode: messages.Detached}, ""))
	l := New("r", NewAppender(t.Context(), Config{Node: supervision.NewNode(nil, nil)}), 1<<20)
	l.Resume(messages.NewFold(old.Fold.State()), journal.Head{Seq: 1})
	l.mu.Lock()
	err := l.ledger.Recover(now, "", func(rewind *messages.Rewind) messages.Body {
		return messages.RunRecovered{Node: "new", Epoch: 2, Rewind: rewind}
	})
	must(t, err)
	l.sending = true // so that commit sends nothing yet
	l.commit(now)
	l.sending = false
	block := l.nextBlock()
	l.mu.Unlock()
	if block == nil {
		t.Fatal("nothing is sent")
	}
	for after, want := range map[uint64]messages.Code{block.Head().Seq: "", block.Head().Seq + messages.Reserve + 1: messages.CodeReset} {
		if got, err := l.Read(after); messages.CodeOf(err) != want || len(got.Events) > 0 {
			t.Errorf("after %d: %+v, %v, want %q", after, got, err, want)
		}
	}
}

// A block that lands just when its run is told of trouble takes the trouble back whole: who waits for the run's end goes
// on to wait, and is not told that it has ended.
func TestTroubleThatPassesAtOnce(t *testing.T) {
	l := New("r", NewAppender(t.Context(), Config{Node: supervision.NewNode(nil, nil)}), 1<<20)
	l.AtEnd()
	l.WhenDurable(1, func(error) { l.landed(journal.Head{Seq: 1}) })
	l.unavailable(errNotAppended("r", 0, journal.ErrUnknown))
	select {
	case <-l.AtEnd():
		t.Error("the run is over, but has neither a terminal nor trouble")
	default:
	}
}

// A run that starts while a beat reads its log is still its node's own. Else the node drops it, and 10 s later takes it over
// as lost.
func TestOwnedWhileItStarts(t *testing.T) {
	var l *Log
	durable := func(seq, epoch uint64, body messages.Body) {
		stored := make(chan error, 1)
		l.WhenDurable(seq, func(err error) { stored <- err })
		l.With(time.Now(), func(g *Ledger) {
			g.Epoch = epoch
			must(t, g.Record(time.Now(), body, ""))
		})
		must(t, <-stored)
	}
	l = New("r", NewAppender(t.Context(), Config{Node: supervision.NewNode(nil, nil), Logger: zap.NewNop(), Journal: &readFirst{
		journal.NewMemory(), func() { durable(2, 1, messages.RunStarted{Epoch: 1}) }}}), 1<<20)
	durable(1, 0, messages.RunQueued{Job: "test", Mode: messages.Detached})
	if _, err := l.Owned(t.Context()); err != nil || l.Dropped() != nil {
		t.Errorf("the run was dropped: %v, %v", l.Dropped(), err)
	}
}

// readFirst calls first before each Read.
type readFirst struct {
	journal.Journal
	first func()
}

func (j *readFirst) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	j.first()
	return j.Journal.Read(ctx, run, after)
}
