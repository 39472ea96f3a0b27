package fault_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
)

func fired(b *fault.Board, n int, at *fault.Site) (list []bool) {
	at.Record = func() error { return nil }
	for range n {
		list = append(list, b.Fire(fault.TaskPanic, at) != nil)
	}
	return list
}

func arm(t *testing.T, b *fault.Board, r fault.Rule) {
	t.Helper()
	r.Point = fault.TaskPanic
	fatal.IfError(t, b.Arm(r))
}

// The same seed fires at the same places, and a probability is one.
func TestSeed(t *testing.T) {
	var runs [][]bool
	for _, seed := range []uint64{7, 7, 8} {
		b := new(fault.Board)
		arm(t, b, fault.Rule{Probability: 0.25, Seed: seed})
		runs = append(runs, fired(b, 400, &fault.Site{}))
	}
	n := 0
	for _, hit := range runs[0] {
		if hit {
			n++
		}
	}
	if !slices.Equal(runs[0], runs[1]) || slices.Equal(runs[0], runs[2]) || n < 60 || n > 140 {
		t.Errorf("%d of 400 fired; the same seed the same: %t", n, slices.Equal(runs[0], runs[1]))
	}
}

// A rule ends with its count, its time, or when it is disarmed, and costs nothing after that.
func TestRulesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(fault.Board)
		arm(t, b, fault.Rule{Count: 2, Job: "prompt"})
		if got := fired(b, 1, &fault.Site{Job: "chat"}); got[0] {
			t.Error("another job was hit")
		}
		if got := fired(b, 3, &fault.Site{Job: "prompt"}); !slices.Equal(got, []bool{true, true, false}) || b.Armed() {
			t.Errorf("with a count of 2: %t, armed %t", got, b.Armed())
		}
		refusing := &fault.Site{Record: func() error { return errors.New("the run is over") }}
		arm(t, b, fault.Rule{Count: 1, Expires: messages.Duration(time.Minute)})
		if b.Fire(fault.TaskPanic, refusing) != nil || !b.Armed() {
			t.Error("a fault that is in no log happened")
		}
		time.Sleep(time.Minute)
		if got := fired(b, 1, &fault.Site{}); got[0] {
			t.Error("fired after its time")
		}
		arm(t, b, fault.Rule{})
		rule := b.Fire(fault.TaskPanic, &fault.Site{Record: func() error { return nil }})
		waited := make(chan struct{})
		go func() { rule.Wait(context.Background(), 0); close(waited) }()
		synctest.Wait()
		if n := b.Disarm(""); n != 3 || b.Armed() || len(b.List()) != 0 {
			t.Errorf("%d disarmed, %+v are left", n, b.List())
		}
		<-waited
	})
}

func TestArmRefuses(t *testing.T) {
	b := new(fault.Board)
	for _, r := range []fault.Rule{{}, {Point: "task.dance"}, {Point: fault.TaskPanic, Probability: 1.5},
		{Point: fault.TaskPanic, Count: -1}, {Point: fault.NodeKill}} {
		if err := b.Arm(r); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// BenchmarkDisarmed is what a point costs that nobody armed.
func BenchmarkDisarmed(b *testing.B) {
	for name, board := range map[string]*fault.Board{"none": nil, "empty": new(fault.Board)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if board.Fire(fault.TaskPanic, &fault.Site{}) != nil {
					b.Fatal("fired")
				}
			}
		})
	}
}
