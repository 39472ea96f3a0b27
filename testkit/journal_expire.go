package testkit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

func (s journalSuite) unfinished() {
	var want []messages.RunID
	for i := range 6 {
		run := messages.RunID(fmt.Sprintf("r_open%d", i))
		s.mustAppend(numbered(run, 1, queued, started))
		if i%2 == 0 {
			s.mustAppend(numbered(run, 3, failed(messages.ByRun)))
		} else {
			want = append(want, run)
		}
	}
	got, err := s.j.Unfinished(context.Background())
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		s.t.Errorf("unfinished are %v (%v), want %v", got, err, want)
	}
}

// ended appends logs that end an hour apart, each with a key, and one that does not end.
func (s journalSuite) ended(n int) []messages.RunID {
	s.t.Helper()
	var runs []messages.RunID
	for i := range n {
		run := messages.RunID(fmt.Sprintf("r_ended%d", i))
		events := story(run)
		for k := range events {
			events[k].Time = events[k].Time.Add(time.Duration(i) * time.Hour)
		}
		if err := s.append(actors.Block{Run: run, Events: events, Key: actors.Key{Principal: "p", Key: string(run)}}); err != nil {
			s.t.Fatal(err)
		}
		runs = append(runs, run)
	}
	s.mustAppend(numbered("r_live", 1, queued, started))
	return runs
}

func (s journalSuite) expire(before time.Time, bytes int64) int {
	s.t.Helper()
	left, err := s.j.Expire(context.Background(), before, bytes)
	if err != nil {
		s.t.Fatal(err)
	}
	return left
}

// left checks that exactly the last of the ended runs are there, and the one that has not ended.
func (s journalSuite) left(runs []messages.RunID, gone int) {
	s.t.Helper()
	for i, run := range runs {
		events, err := s.j.Read(context.Background(), run, 0)
		if there := err == nil && len(events) > 0; there == (i < gone) {
			s.t.Errorf("log %d of %d is there: %t (%v), expired are %d", i, len(runs), there, err, gone)
		}
	}
	if head := s.head("r_live"); head != 2 {
		s.t.Errorf("the head of the run that has not ended is %d, want 2", head)
	}
}

const plenty = 1 << 40

func (s journalSuite) expireByAge() {
	runs := s.ended(4)
	if left := s.expire(suiteEpoch, plenty); left != 4 {
		s.t.Errorf("%d left, want 4", left)
	}
	s.left(runs, 0)
	if left := s.expire(suiteEpoch.Add(90*time.Minute), plenty); left != 2 {
		s.t.Errorf("%d left, want 2", left)
	}
	s.left(runs, 2)
	again := actors.Block{Run: "r_again", Events: numbered("r_again", 1, queued),
		Key: actors.Key{Principal: "p", Key: string(runs[0])}}
	if err := s.append(again); err != nil {
		s.t.Errorf("the key of a log that expired: %v", err)
	}
	if left := s.expire(suiteEpoch.Add(24*time.Hour), plenty); left != 0 {
		s.t.Errorf("%d left, want 0", left)
	}
	s.left(runs, 4)
}

func (s journalSuite) expireBySize() {
	runs := s.ended(6)
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
