package actors_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/supervision/fault"
	"github.com/seed889630bf/lastword/testkit"
)

// injected counts the records of the point in the log.
func injected(t *testing.T, run *actors.Run, p fault.Point) (n int) {
	t.Helper()
	events, err := readAll(run, 0)
	noError(t, err)
	noError(t, testkit.CheckLog(0, events))
	for _, e := range events {
		if f, ok := e.Body.(messages.FaultInjected); ok && f.Fault == string(p) {
			n++
		}
	}
	return n
}

// Each point of the runtime and of the journal fires in a run, which says so and ends as the table says.
func TestFaultPoints(t *testing.T) {
	const second = messages.Duration(time.Second)
	ok := struct {
		status messages.Status
		cause  messages.Code
	}{messages.Completed, ""}
	failed := ok
	failed.status, failed.cause = messages.Failed, messages.CauseInjected
	lost, never := failed, failed
	lost.cause, never.cause = messages.CauseNodeLost, messages.CauseJournalUnavailable
	for _, c := range []struct {
		rule fault.Rule
		want any
	}{
		{fault.Rule{Point: fault.TaskError}, failed},
		{fault.Rule{Point: fault.TaskError, Count: 1, At: "text.delta"}, ok}, // it is retried
		{fault.Rule{Point: fault.TaskPanic, At: actors.WorkReturns}, failed},
		{fault.Rule{Point: fault.TaskGoexit, Task: "a"}, failed},
		{fault.Rule{Point: fault.TaskHang}, failed},
		{fault.Rule{Point: fault.TaskHang, For: second, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalSlow, For: 5 * second, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalFull, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalLost, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalLie, Count: 1}, lost},
		{fault.Rule{Point: fault.JournalEnd, Count: 1}, never},
		{fault.Rule{Point: fault.NodePause, Count: 1}, ok},
	} {
		t.Run(string(c.rule.Point), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				board := new(fault.Board)
				s := open(t, actors.Config{Faults: board})
				testkit.Arm(t, board, c.rule)
				talk := job(chatter)
				talk.Tasks[0].Name, talk.Tasks[0].Policy = "a", supervision.Policy{Attempts: 2}
				run := start(t, s, talk, actors.Options{})
				end := checkLimit(t, run, 10*time.Minute)
				got := ok
				if got.status = end.Status; end.End.Error != nil {
					got.cause = end.End.Cause
				}
				if got != c.want {
					t.Errorf("ended as %+v, want %+v: %v", got, c.want, end.End.Error)
				}
				if n := injected(t, run, c.rule.Point); n == 0 || c.rule.Count > 0 && n != c.rule.Count {
					t.Errorf("the log has %d records", n)
				}
			})
		})
	}
}
