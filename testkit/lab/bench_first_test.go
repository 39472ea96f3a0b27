package lab_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

const (
	streamingRuns = 200
	firstEvents   = 1000
	// A model says 80 tokens a second, which leaves two cores idle; 25 times that is a load.
	modelPace, hardPace = time.Second / 80, time.Second / 2000
)

func firstFigures() []figure {
	return []figure{{
		name: "first event, 200 runs stream, p99", unit: "ms", goal: 2,
		ours: func(t *testing.T) float64 { return firstEvent(t, modelPace) },
	}, {
		name: "first event, 25 times that, p99", unit: "ms", goal: 2,
		ours: func(t *testing.T) float64 { return firstEvent(t, hardPace) },
	}}
}

// firstEvent is the 99th percentile of the time from the call of Start until a reader has the run's first event, in
// milliseconds, while 200 other runs say tokens at the pace and are read.
func firstEvent(t *testing.T, pace time.Duration) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	ctx, stop := context.WithCancel(t.Context())
	var streaming sync.WaitGroup
	for i := range streamingRuns {
		run, err := s.Start(ctx, stream(ctx, pace, time.Duration(i)*pace/streamingRuns), actors.Options{})
		must(t, err)
		streaming.Go(func() { read(t, run) })
	}
	begin, cpu := time.Now(), cpuTime()
	times := make([]float64, firstEvents)
	pause := time.NewTicker(3 * time.Millisecond)
	defer pause.Stop()
	for i := range times {
		<-pause.C
		times[i] = first(t, s)
	}
	t.Logf("the streams and the starts took %.0f %% of a core", 100*float64(cpuTime()-cpu)/float64(time.Since(begin)))
	stop()
	streaming.Wait()
	slices.Sort(times)
	return times[len(times)*99/100]
}

// stream says tokens at the pace until ctx is done.
func stream(until context.Context, pace, offset time.Duration) actors.Job {
	return actors.Job{Name: "stream", Tasks: []actors.Task{{Name: "speak",
		Run: func(_ context.Context, task *actors.TaskContext) error {
			time.Sleep(offset)
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
				case <-until.Done():
					return nil
				}
				if err := task.AppendText("answer", "token "); err != nil {
					return err
				}
			}
		},
	}}}
}

func read(t *testing.T, run *actors.Run) {
	for _, err := range run.Events(t.Context(), 0) {
		if err != nil {
			t.Error(err)
		}
	}
}

func first(t *testing.T, s *actors.System) float64 {
	begin := time.Now()
	run, err := s.Start(t.Context(), actors.Job{Name: "first", Tasks: []actors.Task{{Name: "work",
		Run: func(context.Context, *actors.TaskContext) error { return nil }}}}, actors.Options{})
	must(t, err)
	for e, err := range run.Events(t.Context(), 0) {
		if err != nil || e.Kind() != messages.KindRunQueued {
			t.Fatalf("the first event is %s: %v", e.Kind(), err)
		}
		break
	}
	return float64(time.Since(begin)) / float64(time.Millisecond)
}
