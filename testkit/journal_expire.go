package testkit

import (
	"context"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// history appends logs that end an hour apart, and one that does not end.
func (s *journalSuite) history(n int) [][]messages.Event {
	s.t.Helper()
	var runs [][]messages.Event
	for i := range n {
		events := story(messages.RunID(fmt.Sprintf("r_ended%d", i)))
		for k := range events {
			events[k].Time = events[k].Time.Add(time.Duration(i) * time.Hour)
		}
		s.mustAppend(events)
		runs = append(runs, events)
	}
	s.mustAppend(liveEvents)
	return runs
}

var liveEvents = numbered("r_live", 1, queued, started)

func (s *journalSuite) expire(before time.Time, bytes int64) int {
	s.t.Helper()
	left, err := s.j.Expire(context.Background(), before, bytes)
	if err != nil {
		s.t.Fatal(err)
	}
	return left
}

// left checks that exactly the last of the ended runs are there, and the one that has not ended.
func (s *journalSuite) left(runs [][]messages.Event, gone int) {
	s.t.Helper()
	for i, events := range runs {
		run := events[0].RunID
		if i >= gone {
			s.equals(run, events)
		} else if _, err := s.j.Read(context.Background(), run, 0); messages.CodeOf(err) != messages.CodeNotFound {
			s.t.Errorf("log %d of %d, of which %d have expired: %v", i, len(runs), gone, err)
		}
	}
	s.equals("r_live", liveEvents)
}

const plenty = 1 << 40

func (s *journalSuite) expireByAge() {
	runs := s.history(4)
	if left := s.expire(suiteEpoch, plenty); left != 4 {
		s.t.Errorf("%d left, want 4", left)
	}
	s.left(runs, 0)
	if left := s.expire(suiteEpoch.Add(90*time.Minute), plenty); left != 2 {
		s.t.Errorf("%d left, want 2", left)
	}
	s.left(runs, 2)
	again := numbered(runs[0][0].RunID, 1, queued, failed(messages.ByRun))
	s.mustAppend(again) // the place is empty
	s.equals(again[0].RunID, again)
	if left := s.expire(suiteEpoch.Add(24*time.Hour), plenty); left != 0 {
		s.t.Errorf("%d left, want 0", left)
	}
	s.left(runs, 4)
}

func (s *journalSuite) expireBySize() {
	runs := s.history(6)
	before, left := 6, 6
	for bytes := int64(1 << 20); bytes > 0; bytes /= 2 {
		left = s.expire(suiteEpoch, bytes)
		if left > before {
			s.t.Fatalf("%d left of %d", left, before)
		}
		s.left(runs, 6-left)
		before = left
	}
	if left = s.expire(suiteEpoch, 0); left != 0 {
		s.t.Errorf("%d left within no bytes", left)
	}
	s.left(runs, 6)
}
