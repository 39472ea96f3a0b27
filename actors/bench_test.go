package actors_test

import (
	"context"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// BenchmarkRun is a run of three tasks that do nothing, from Start to Wait.
func BenchmarkRun(b *testing.B) {
	s := system(b)
	nothing := func(context.Context, *actors.TaskContext) error { return nil }
	job := actors.Job{Name: "trivial", Tasks: []actors.Task{
		{Name: "fetch", Run: nothing}, {Name: "analyze", Run: nothing}, {Name: "write", Run: nothing},
	}}
	b.ReportAllocs()
	for b.Loop() {
		run, err := s.Start(b.Context(), job, actors.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEmit is a delta, from the task to the log; nobody reads.
func BenchmarkEmit(b *testing.B) {
	s := system(b)
	b.ReportAllocs()
	run, err := s.Start(b.Context(), job(func(_ context.Context, task *actors.TaskContext) error {
		for b.Loop() {
			if err := task.Say("answer", "token "); err != nil {
				return err
			}
		}
		return nil
	}), actors.Options{Limits: messages.Limits{Bytes: 1 << 40}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := run.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCatchUp reads a live run's 10,000 deltas from the beginning, merged as they are for a reader that is behind.
func BenchmarkCatchUp(b *testing.B) {
	s := system(b)
	said, done := make(chan struct{}), make(chan struct{})
	run, err := s.Start(b.Context(), job(func(_ context.Context, task *actors.TaskContext) error {
		for range 10_000 {
			if err := task.Say("answer", "token "); err != nil {
				return err
			}
		}
		err := task.Said("other", "")
		close(said)
		<-done
		return err
	}), actors.Options{})
	if err != nil {
		b.Fatal(err)
	}
	<-said
	b.ReportAllocs()
	for b.Loop() {
		for e, err := range run.Events(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
			if e.Kind() == messages.KindTextDone {
				break
			}
		}
	}
	close(done)
	if _, err := run.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// system starts a node outside any bubble: benchmarks run on the real clock.
func system(b *testing.B) *actors.System {
	b.Helper()
	s, err := actors.New(b.Context(), actors.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return s
}
