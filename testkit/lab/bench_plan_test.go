package lab_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
)

func planFigures() []figure {
	return []figure{
		{name: "plan: each of 1,000 steps beyond its sub-run", unit: "µs", goal: 200,
			ours: func(t *testing.T) float64 { return planStep(t, 1_000) }},
		{name: "plan: each of 4,000 steps beside each of 1,000", unit: "µs", goal: 2,
			ours:     func(t *testing.T) float64 { return planStep(t, 4_000) },
			baseline: func(t *testing.T) float64 { return planStep(t, 1_000) }},
		{name: "plan: 10,000 items with a limit of 100", unit: "MB", goal: 150, ours: planItems},
		{name: "plan: a comparison in a guard", unit: "µs", goal: 10, ours: guard},
	}
}

var planConfig = plan.Config{Jobs: []actors.Definition{actors.Func("work",
	func(context.Context, *actors.TaskContext, any) (any, error) { return nil, nil })}}

// planStep is how long each step of a plan takes, each after the one before, beyond what its sub-run takes alone.
func planStep(t *testing.T, n int) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	p := &plan.Plan{}
	for i := range n {
		step := plan.Step{Name: fmt.Sprint("s", i), Job: "work"}
		if i > 0 {
			before := fmt.Sprint("s", i-1)
			step.Needs, step.If = plan.Names{before}, "steps."+before+`.outcome == "completed"`
		}
		p.Steps = append(p.Steps, step)
	}
	whole := carried(t, s, func() (actors.Job, error) { return plan.Job(plan.Input{Plan: p}, planConfig) })
	subRuns := carried(t, s, func() (actors.Job, error) { return parentOf(n), nil })
	return float64((whole - subRuns).Nanoseconds()) / 1e3 / float64(n)
}

// parentOf is a job of n sub-runs, one after the other.
func parentOf(n int) actors.Job {
	start := func(ctx context.Context, t *actors.TaskContext) error {
		for range n {
			job, err := planConfig.Jobs[0].New(nil)
			if err != nil {
				return err
			}
			run, err := t.Start(ctx, job, actors.Options{})
			if err == nil {
				_, err = run.Wait(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return actors.Job{Name: "parent", Tasks: []actors.Task{{Name: "start", Run: start}}}
}

// carried is how long it takes to make the job and to run it to its end.
func carried(t *testing.T, s *actors.System, newJob func() (actors.Job, error)) time.Duration {
	t.Helper()
	begin := time.Now()
	job, err := newJob()
	must(t, err)
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	if state, err := run.Wait(t.Context()); err != nil || state.Status != messages.Completed {
		t.Fatalf("%v: %s %+v", err, state.Status, state.End)
	}
	return time.Since(begin)
}

// planItems is the memory of a plan after 10,000 items, with their logs.
func planItems(t *testing.T) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	p := &plan.Plan{Limit: 100, Steps: []plan.Step{{Name: "each", Job: "work", ForEach: make([]any, 10_000)}}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	carried(t, s, func() (actors.Job, error) { return plan.Job(plan.Input{Plan: p}, planConfig) })
	runtime.ReadMemStats(&after)
	return (float64(after.HeapInuse) - float64(before.HeapInuse)) / (1 << 20)
}

// guard is how long the evaluation of a guard takes: plans of equal steps differ in how much a guard compares.
func guard(t *testing.T) float64 {
	const steps, more = 1000, 100
	s, done := newSystem(t, actors.Config{})
	defer done()
	took := func(compares int) time.Duration {
		guard := strings.Repeat(`steps.a.outcome == "completed" and `, compares-1) + `steps.a.outcome == "completed"`
		p := &plan.Plan{Steps: []plan.Step{{Name: "a", Job: "work"}}}
		for i := range steps {
			p.Steps = append(p.Steps, plan.Step{Name: fmt.Sprint("s", i), Job: "work", Needs: plan.Names{"a"}, If: guard})
		}
		job, err := plan.Job(plan.Input{Plan: p}, planConfig)
		must(t, err)
		return carried(t, s, func() (actors.Job, error) { return job, nil })
	}
	return float64((took(1+more) - took(1)).Nanoseconds()) / 1e3 / steps / more
}
