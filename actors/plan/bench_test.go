package plan_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/messages"
)

// chain is a plan of n steps, each after the one before.
func chain(n int) *plan.Plan {
	p := &plan.Plan{}
	for i := range n {
		step := plan.Step{Name: fmt.Sprint("s", i), Job: "work"}
		if i > 0 {
			before := fmt.Sprint("s", i-1)
			step.Needs, step.If = plan.Names{before}, "steps."+before+`.outcome == "completed"`
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

// finish runs the job to its end.
func finish(b *testing.B, s *actors.System, job actors.Job) {
	run, err := s.Start(b.Context(), job, actors.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if state, err := run.Wait(b.Context()); err != nil || state.Status != messages.Completed {
		b.Fatalf("%v: %s %+v", err, state.Status, state.End)
	}
}

func nothing(context.Context, *actors.TaskContext, any) (any, error) { return nil, nil }

func node(b *testing.B) *actors.System {
	s, err := actors.New(b.Context(), actors.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// A step takes less than 200 µs beyond its sub-run, however many steps there are.
func BenchmarkSteps(b *testing.B) {
	config := plan.Config{Jobs: map[string]plan.Kind{"work": {New: actors.Func("work", nothing)}}}
	for _, n := range []int{100, 1_000, 4_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := node(b)
			alone, err := actors.Func("work", nothing)(nil)
			if err != nil {
				b.Fatal(err)
			}
			children := actors.Job{Name: "parent", Tasks: []actors.Task{{Name: "start", Run: func(ctx context.Context, t *actors.TaskContext) error {
				for range n {
					run, err := t.Start(ctx, alone, actors.Options{})
					if err == nil {
						_, err = run.Wait(ctx)
					}
					if err != nil {
						return err
					}
				}
				return nil
			}}}}
			var whole, subRuns time.Duration
			for b.Loop() {
				begin := time.Now()
				job, err := plan.Job(plan.Input{Plan: chain(n)}, config)
				if err != nil {
					b.Fatal(err)
				}
				finish(b, s, job)
				whole += time.Since(begin)
				begin = time.Now()
				finish(b, s, children)
				subRuns += time.Since(begin)
			}
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*n) }
			b.ReportMetric(each(whole-subRuns), "µs/step")
			b.ReportMetric(each(subRuns), "µs/sub-run")
		})
	}
}

// 10,000 items with a limit of 100 take memory for what they leave in the log, and not for themselves.
func BenchmarkItems(b *testing.B) {
	config := plan.Config{Jobs: map[string]plan.Kind{"work": {New: actors.Func("work", nothing)}}}
	p := &plan.Plan{Limit: 100, Steps: []plan.Step{{Name: "each", Job: "work", ForEach: make([]any, 10_000)}}}
	s := node(b)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		job, err := plan.Job(plan.Input{Plan: p}, config)
		if err != nil {
			b.Fatal(err)
		}
		finish(b, s, job)
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse-min(before.HeapInuse, after.HeapInuse))/(1<<20), "MB")
	}
}
