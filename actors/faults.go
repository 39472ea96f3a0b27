package actors

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// Fault returns the rule that makes the fault happen to the run now, or nil, and records the fault in the run's log.
// It is for code that serves the run outside of its tasks.
func (s *System) Fault(id messages.RunID, p fault.Point) *fault.Armed {
	if !s.config.Faults.Armed() {
		return nil
	}
	if r := s.runs.active(id); r != nil {
		return r.fault(p, "", "")
	}
	return nil
}

// fault asks the board for a rule that hits this run, and records the fault.
func (r *activeRun) fault(p fault.Point, task, at string) *fault.Armed {
	return r.system.config.Faults.Fire(p, &fault.Site{Job: r.job.Name, Task: task, At: at, Record: func() error {
		return r.log.Record(time.Now().UTC(), messages.FaultInjected{Fault: string(p), Task: task, Point: at}, "injected: "+string(p))
	}})
}

// hit is [activeRun.fault] for code that works for the task.
func (t *TaskContext) hit(p fault.Point) *fault.Armed {
	return t.attempt.run.fault(p, t.attempt.task.Name, "")
}

var errFault = messages.Errorf(messages.CauseInjected, "injected")

// passes applies the faults that a rule sets at this point of the task's work.
func (t *TaskContext) passes(at string) error {
	r := t.attempt.run
	if r.system.config.Faults.Armed() {
		for _, p := range []fault.Point{fault.TaskHang, fault.TaskPanic, fault.TaskGoexit, fault.TaskError, fault.NodeKill} {
			rule := r.fault(p, t.attempt.task.Name, at)
			if rule == nil {
				continue
			}
			switch p {
			case fault.TaskHang:
				if rule.Wait(context.Background(), 0); t.work.Context().Err() != nil {
					return context.Cause(t.work.Context())
				}
			case fault.TaskPanic:
				panic(errFault)
			case fault.TaskGoexit:
				runtime.Goexit()
			case fault.TaskError:
				return supervision.RetryAfter(0, errFault)
			case fault.NodeKill:
				durable := make(chan struct{})
				r.log.WhenDurable(0, func(error) { close(durable) })
				<-durable
				r.system.config.Faults.Kill()
			}
		}
	}
	return r.system.injectWork(t, at)
}

// faultyJournal adds the board's fault points to a node's journal. mu guards the fields below it.
type faultyJournal struct {
	journal.Hostile
	system *System

	mu     sync.Mutex
	runs   map[messages.RunID]*strike
	paused time.Time // until when
}

// strike is a fault that will hit a run's block: the block that holds the record of the fault or, if that block would
// be lost, the next one.
type strike struct {
	rule *fault.Armed
	kept bool      // the record of the fault is in the journal
	ends time.Time // end of a fault that lasts
}

func newFaultyJournal(s *System) *faultyJournal {
	f := &faultyJournal{system: s, runs: map[messages.RunID]*strike{}}
	f.Hostile.Journal, f.Disturb = s.journal, f.disturb
	return f
}

// Claim implements [journal.Journal].
func (f *faultyJournal) Claim(ctx context.Context, node string) (journal.Claim, error) {
	f.pause(ctx)
	return f.Journal.Claim(ctx, node)
}

// Keep implements [journal.Journal].
func (f *faultyJournal) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	f.pause(ctx)
	return f.Journal.Keep(ctx, c, k)
}

func (f *faultyJournal) pause(ctx context.Context) {
	supervision.Sleep(ctx, time.Until(locked(&f.mu, func() time.Time { return f.paused })))
}

// disturb returns what happens to the append of the block.
func (f *faultyJournal) disturb(b journal.Block) (d journal.Disturbance) {
	s := locked(&f.mu, func() *strike { return f.runs[b.Run] })
	switch {
	case s == nil && b.Epoch > 0 && !b.Head().Ended:
		s = f.choose(b.Run)
		defer f.keep(b.Run, s)
	case s != nil:
		var over bool
		if d, over = f.strike(s, b); over {
			defer f.keep(b.Run, nil)
		}
	}
	if wait := time.Until(locked(&f.mu, func() time.Time { return f.paused })); wait > 0 {
		d.Delay = wait
	}
	return d
}

// choose picks and records the next fault of the journal for the run. The fault does not happen yet.
func (f *faultyJournal) choose(run messages.RunID) *strike {
	for _, p := range []fault.Point{fault.NodePause, fault.JournalSlow, fault.JournalFull, fault.JournalLost, fault.JournalLie,
		fault.JournalEnd} {
		if rule := f.system.Fault(run, p); rule != nil {
			return &strike{rule: rule}
		}
	}
	return nil
}

// keep replaces the run's strike; nil removes it.
func (f *faultyJournal) keep(run messages.RunID, s *strike) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.runs, run); s != nil {
		f.runs[run] = s
	}
}

// strike returns what happens to the block, and whether the fault is then over.
func (f *faultyJournal) strike(s *strike, b journal.Block) (d journal.Disturbance, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := s.rule.Point
	if !s.kept {
		s.kept = slices.ContainsFunc(b.Events, func(e messages.Event) bool {
			record, ok := e.Body.(messages.FaultInjected)
			return ok && record.Fault == string(p)
		})
		if !s.kept || p == fault.JournalLie || p == fault.JournalEnd {
			return d, b.Head().Ended
		}
	}
	switch p {
	case fault.NodePause:
		f.paused = time.Now().Add(s.rule.Lasts(15 * time.Second))
	case fault.JournalSlow:
		d.Delay = s.rule.Lasts(time.Second)
	case fault.JournalFull:
		if s.ends.IsZero() {
			s.ends = time.Now().Add(s.rule.Lasts(5 * time.Second))
		}
		d.Full = time.Now().Before(s.ends)
		return d, !d.Full
	case fault.JournalLost:
		d.Unknown = true
	case fault.JournalLie:
		d.Lose = true
	case fault.JournalEnd:
		d.Never = true
	}
	return d, true
}
