package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

func (s *journalSuite) listed(q messages.Query) []messages.Summary {
	s.t.Helper()
	list, err := s.j.List(context.Background(), q)
	if err != nil {
		s.t.Fatalf("list of %+v: %v", q, err)
	}
	return list
}

// lists checks which runs the query selects, in which order.
func (s *journalSuite) lists(q messages.Query, want ...messages.RunID) {
	s.t.Helper()
	var got []messages.RunID
	for _, run := range s.listed(q) {
		got = append(got, run.RunID)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the list of %+v is %v, want %v", q, got, want)
	}
}

// at appends the bodies as events of one time, the given number of seconds after the epoch.
func (s *journalSuite) at(second int, run messages.RunID, from uint64, bodies ...messages.Body) {
	s.t.Helper()
	events := numbered(run, from, bodies...)
	for i := range events {
		events[i].Time = suiteEpoch.Add(time.Duration(second) * time.Second)
	}
	s.mustAppend(events)
}

// list checks the order: the run updated last is first, and equal times are ordered by ID.
func (s *journalSuite) list() {
	s.lists(messages.Query{})
	s.at(1, "r_a", 1, queued)
	s.at(3, "r_c", 1, queued, started)
	s.at(3, "r_b", 1, queued)
	s.at(2, "r_d", 1, queued)
	s.lists(messages.Query{}, "r_b", "r_c", "r_d", "r_a")
	s.at(4, "r_a", 2, started)
	s.at(5, "r_c", 3, failed(messages.ByRun))
	s.lists(messages.Query{}, "r_c", "r_a", "r_b", "r_d")
	s.lists(messages.Query{Limit: 2}, "r_c", "r_a")
}

// listStates checks that every row is the fold of the run's events, however they are divided into blocks.
func (s *journalSuite) listStates() {
	opened := queued
	opened.Principal, opened.Labels, opened.After = "ann", map[string]string{"topic": "gardens"}, "r_before"
	bodies := slices.Concat([]messages.Body{opened, messages.RunHeld{After: "r_before"}, messages.RunReleased{}, started, begun}, talk(3),
		[]messages.Body{messages.InputRequired{Request: "why", Prompt: "Why?"}, messages.InputRequired{Request: "a \"b\"", Prompt: "B?"},
			messages.InputReceived{Request: "why", Value: json.RawMessage(`1`)}},
		[]messages.Body{messages.RunCanceling{By: "ann"}, messages.RunCanceled{By: messages.ByRun,
			Cause: messages.CauseCanceledByUser, Artifacts: []messages.Artifact{}}})
	events := numbered("r_states", 1, bodies...)
	var want messages.Summary
	for i, e := range events {
		s.mustAppend(events[i : i+1])
		want.Add(e)
		got := s.listed(messages.Query{Principal: "ann"})
		x, _ := json.Marshal(got)
		y, _ := json.Marshal([]messages.Summary{want})
		if string(x) != string(y) {
			s.t.Fatalf("after event %d the list is\n%s, want\n%s", i+1, x, y)
		}
	}
}

// listSelects checks each member of a query, and the limits.
func (s *journalSuite) listSelects() {
	for i := range 60 {
		run := messages.RunID(fmt.Sprintf("r_%02d", i))
		opened := queued
		opened.Principal, opened.Job = []string{"", "ann"}[i%2], []string{"one", "two"}[i/2%2]
		s.at(i, run, 1, opened, started)
		if i%3 == 0 {
			s.at(i, run, 3, failed(messages.ByRun))
		}
	}
	ended := messages.Query{Principal: "ann", Status: []messages.Status{messages.Completed, messages.Failed}, Limit: 3}
	s.lists(ended, "r_57", "r_51", "r_45")
	s.lists(messages.Query{Principal: "ann", Job: "two", Limit: 2}, "r_59", "r_55")
	s.lists(messages.Query{Principal: "an"})
	s.lists(messages.Query{Principal: "ann", Runs: []messages.RunID{"r_01", "r_02", "r_57", "r_none"}}, "r_57", "r_01")
	s.lists(messages.Query{Everyone: true, Runs: []messages.RunID{"r_02"}}, "r_02")
	s.lists(messages.Query{Everyone: true, Limit: 2}, "r_59", "r_58")
	s.lists(messages.Query{Principal: "ann", Job: "three"})
	s.at(100, "r_x", 1, queued)
	for i := range 50 {
		s.at(101+i, messages.RunID(fmt.Sprintf("r_y%02d", i)), 1, queued)
	}
	for limit, want := range map[int]int{0: 50, 7: 7, 1000: 81, 5000: 81} {
		if got := len(s.listed(messages.Query{Limit: limit})); got != want {
			s.t.Errorf("%d runs within the limit %d, want %d", got, limit, want)
		}
	}
}

// listPages checks that the pages together are the list, even while runs go on.
func (s *journalSuite) listPages() {
	var want []messages.RunID
	for i := range 23 {
		want = append(want, messages.RunID(fmt.Sprintf("r_%02d", 22-i)))
		s.at(i, want[i], 1, queued) // the order of ids differs from the order of times
	}
	slices.Reverse(want)
	s.pages(messages.Query{Limit: 5}, want, func(int) {})
	s.pages(messages.Query{Limit: 23, ByQueued: true}, want, func(int) {})
	s.pages(messages.Query{Limit: 4, ByQueued: true}, want, func(page int) {
		s.at(100+page, want[0], uint64(2+page), messages.Progress{Task: "t", Done: int64(page)})
		s.at(100+page, want[22-page], 2, started) // the newest updated from now on
	})
}

// pages reads the list page by page, and calls between after each page.
func (s *journalSuite) pages(q messages.Query, want []messages.RunID, between func(page int)) {
	s.t.Helper()
	var got []messages.RunID
	for page := 0; ; page++ {
		list := s.listed(q)
		for _, run := range list {
			got = append(got, run.RunID)
		}
		if len(list) < q.Limit {
			break
		}
		q.After = &messages.Summary{RunID: list[q.Limit-1].RunID, QueuedAt: list[q.Limit-1].QueuedAt,
			UpdatedAt: list[q.Limit-1].UpdatedAt}
		between(page)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the pages of %d are %v, want %v", q.Limit, got, want)
	}
}

func (s *journalSuite) listExpired() {
	s.history(3)
	s.lists(messages.Query{}, "r_ended2", "r_ended1", "r_ended0", "r_live")
	s.expire(suiteEpoch.Add(90*time.Minute), plenty)
	s.lists(messages.Query{}, "r_ended2", "r_live")
}

// forget removes an ended run, and refuses a live one and an unknown one.
func (s *journalSuite) forget() {
	runs := s.history(3)
	for run, want := range map[messages.RunID]messages.Code{"r_ended1": "", "r_live": messages.CodeConflict,
		"r_unknown": messages.CodeNotFound} {
		if err := s.j.DeleteLog(context.Background(), run); messages.CodeOf(err) != want || want == "" && err != nil {
			s.t.Errorf("forget %s: %v, want %q", run, err, want)
		}
	}
	s.lists(messages.Query{}, "r_ended2", "r_ended0", "r_live")
	s.equals("r_ended0", runs[0])
	if left := s.expire(suiteEpoch.Add(90*time.Minute), plenty); left != 1 {
		s.t.Errorf("%d left, want 1", left)
	}
}

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
	must(s.t, err)
	return left
}

// left checks that exactly the latest ended runs remain, and the run that has not ended.
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

// expireByAge moves the limit of age over the logs.
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
	s.mustAppend(again) // the run's place is empty
	s.equals(again[0].RunID, again)
	if left := s.expire(suiteEpoch.Add(24*time.Hour), plenty); left != 0 {
		s.t.Errorf("%d left, want 0", left)
	}
	s.left(runs, 4)
}

// expireBySize halves the limit of bytes until no log is left.
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
