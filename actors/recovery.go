package actors

import (
	"context"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// recover gives every run that the journal holds without a terminal its last word: run.canceled where a cancel was
// accepted, else run.failed with node_lost.
func (s *System) recover(ctx context.Context) error {
	open, err := s.journal.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, id := range open {
		if err := s.recoverRun(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *System) recoverRun(ctx context.Context, id messages.RunID) error {
	state, err := s.State(ctx, id)
	if err != nil {
		return err
	}
	from, seq, rewind := state.Recovery()
	why := "the node that ran it is gone"
	word := state.LastWord(messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost, Rewind: rewind,
		Error: messages.Errorf(messages.Code(messages.CauseNodeLost), "%s", why)})
	e := messages.Event{RunID: id, From: from, Seq: seq, Time: time.Now().UTC(), Message: why, Body: word}
	if _, err := state.Apply(e); err != nil {
		return err
	}
	done := make(chan error, 1)
	s.journal.Append(Block{Run: id, Events: []messages.Event{e}}, func(err error) { done <- err })
	if err := <-done; err != nil && !errors.Is(err, ErrSealed) {
		return err
	}
	return nil
}
