package lab_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// longFigures are about runs that say much, are asked often, or have many children.
func longFigures() []figure {
	return []figure{{
		name: "8,000 tool calls beside 4,000, CPU", unit: "ms", goal: 2.2,
		ours:     func(t *testing.T) float64 { return toolCalls(t, 8000) },
		baseline: func(t *testing.T) float64 { return toolCalls(t, 4000) },
	}, {
		name: "a run whose State ten readers ask for 100 times a second, time", unit: "ms", goal: 1.05,
		ours:     func(t *testing.T) float64 { return underWatch(t, 10) },
		baseline: func(t *testing.T) float64 { return underWatch(t, 0) },
	}, {
		name: "a sub-run of a tree of 1,000, CPU", unit: "us", goal: 300, ours: subRun,
	}, {
		name: "allocations of a delta", unit: "", goal: 4, ours: deltaAllocs,
	}}
}

// perform runs a job of one task to its end.
func perform(t *testing.T, config actors.Config, work func(ctx context.Context, task *actors.TaskContext) error) {
	s, done := newSystem(t, config)
	defer done()
	run, err := s.Start(t.Context(), actors.Job{Name: "long", Tasks: []actors.Task{{Name: "work", Run: work}}}, actors.Options{})
	must(t, err)
	state, err := run.Wait(t.Context())
	if err != nil || state.Status != messages.Completed {
		t.Fatalf("%s: %v", state.Status, err)
	}
}

// toolCalls is the CPU time of a run of n tool calls, one after the other.
func toolCalls(t *testing.T, n int) float64 {
	return cpuPer(1, func() {
		perform(t, actors.Config{LogBytes: 1 << 40}, func(_ context.Context, task *actors.TaskContext) error {
			for i := range n {
				id := strconv.Itoa(i)
				if err := task.Emit(messages.ToolStarted{Call: id, Tool: "t"}, ""); err != nil {
					return err
				}
				if err := task.Emit(messages.ToolCompleted{Call: id}, ""); err != nil {
					return err
				}
			}
			return nil
		})
	}) / 1e3
}

// underWatch is how long a task takes for 400 milestones and 40,000 deltas, a hundredth of them at a time, while so
// many readers ask for the State.
func underWatch(t *testing.T, readers int) float64 {
	var took time.Duration
	s, done := newSystem(t, actors.Config{LogBytes: 1 << 40})
	defer done()
	run, err := s.Start(t.Context(), actors.Job{Name: "long", Tasks: []actors.Task{{Name: "work",
		Run: func(_ context.Context, task *actors.TaskContext) error {
			begin := time.Now()
			for i := range 400 {
				for range 100 {
					if err := task.AppendText("answer", "token "); err != nil {
						return err
					}
				}
				if err := task.Emit(messages.StepStarted{Step: strconv.Itoa(i)}, ""); err != nil {
					return err
				}
			}
			took = time.Since(begin)
			return nil
		}}}}, actors.Options{})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
				if _, err := run.State(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	all.Wait()
	return float64(took) / float64(time.Millisecond)
}

// subRun is the CPU time of each of 1,000 sub-runs that live at the same time, from its start to its parent's end.
func subRun(t *testing.T) float64 {
	const n = 1000
	return cpuPer(1, func() {
		perform(t, actors.Config{}, func(ctx context.Context, task *actors.TaskContext) error {
			release := make(chan struct{})
			child := actors.Job{Name: "child", Tasks: []actors.Task{{Name: "work",
				Run: func(context.Context, *actors.TaskContext) error { <-release; return nil }}}}
			children := make([]*actors.Run, n)
			for i := range children {
				var err error
				if children[i], err = task.Start(ctx, child, actors.Options{}); err != nil {
					return err
				}
			}
			close(release)
			for _, c := range children {
				if _, err := c.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}) / n
}

// deltaAllocs is how many allocations a delta makes on its way from the task to the board.
func deltaAllocs(t *testing.T) float64 {
	const n = 200_000
	var before, after runtime.MemStats
	perform(t, actors.Config{LogBytes: 1 << 40}, func(_ context.Context, task *actors.TaskContext) error {
		runtime.ReadMemStats(&before)
		for range n {
			if err := task.AppendText("answer", "token "); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		return nil
	})
	return float64((after.Mallocs - before.Mallocs) / n) // growth that is shared by many counts as none, as in testing.AllocsPerRun
}
