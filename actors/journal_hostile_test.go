package actors_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// clinging answers its second append, and does not return from it.
type clinging struct {
	*actors.MemoryJournal
	appends int
	free    chan struct{}
}

func (j *clinging) Append(b actors.Block, done func(error)) {
	j.MemoryJournal.Append(b, done)
	if j.appends++; j.appends == 2 {
		<-j.free
	}
}

// An Append that answers and does not return is in the way of the next block: the run is told as of any other refusal.
func TestAppendThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &clinging{MemoryJournal: actors.NewMemoryJournal(), free: make(chan struct{})}
		run := start(t, open(t, actors.Config{Journal: j}), job(nothing), actors.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := run.Wait(ctx); messages.CodeOf(err) != messages.Code(messages.CauseJournalUnavailable) {
			t.Errorf("Wait: %v", err)
		}
		close(j.free)
		synctest.Wait()
		if state, err := run.Wait(ctx); err != nil || !state.Status.IsEnded() {
			t.Errorf("when it had returned: %s, %v", state.Status, err)
		}
	})
}
