package lab_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

const (
	watchers  = 1000
	fanEvents = 300
)

func fanFigures() []figure {
	return []figure{{
		name: "an event to 1,000 readers, CPU", unit: "us", goal: 2,
		ours: func(t *testing.T) float64 { return fanOut(t, pull) }, baseline: broadcast,
	}, {
		name: "an event to 1,000 actors, CPU", unit: "us", goal: 12,
		ours: func(t *testing.T) float64 { return fanOut(t, subscribe) }, baseline: broadcast,
	}}
}

// arrivals counts the watchers that have an event; all is told when everybody has it.
type arrivals struct {
	missing atomic.Int64
	all     chan struct{}
}

func newArrivals() *arrivals {
	a := &arrivals{all: make(chan struct{}, 1)}
	a.missing.Store(watchers)
	return a
}

func (a *arrivals) arrived() {
	if a.missing.Add(-1) == 0 {
		a.missing.Store(watchers)
		a.all <- struct{}{}
	}
}

// broadcast is the CPU time of handing an event to goroutines that each wait for it on their own channel, until
// all of them have it.
func broadcast(t *testing.T) float64 {
	have := newArrivals()
	var ended sync.WaitGroup
	channels := make([]chan messages.Event, watchers)
	for i := range channels {
		c := make(chan messages.Event)
		channels[i] = c
		ended.Go(func() {
			for range c {
				have.arrived()
			}
		})
	}
	cpu := cpuPer(fanEvents, func() {
		e := messages.Event{Seq: 1, From: 1, Time: time.Now(), Body: messages.TextDelta{Stream: "answer", Text: "token "}}
		for _, c := range channels {
			c <- e
		}
		<-have.all
	})
	for _, c := range channels {
		close(c)
	}
	ended.Wait()
	return cpu
}

// fanOut is the CPU time of an event of a run, from the task that says it until all watchers have it.
func fanOut(t *testing.T, watch func(t *testing.T, s *actors.System, run *actors.Run, from uint64, have func()) func()) float64 {
	s, done := newSystem(t, actors.Config{})
	defer done()
	ready, say := make(chan struct{}), make(chan struct{})
	run, err := s.Start(t.Context(), actors.Job{Name: "fan", Tasks: []actors.Task{{
		Name: "speak", Run: func(_ context.Context, task *actors.TaskContext) error {
			close(ready)
			for range say {
				if err := task.AppendText("answer", "token "); err != nil {
					return err
				}
			}
			return nil
		},
	}}}, actors.Options{})
	must(t, err)
	<-ready
	have := newArrivals()
	wait := watch(t, s, run, 3, have.arrived)
	next := func() {
		say <- struct{}{}
		<-have.all
	}
	next() // everybody watches
	cpu := cpuPer(fanEvents, next)
	close(say)
	wait()
	return cpu
}

// pull has goroutines read the run, each with its own context, as connections have.
func pull(t *testing.T, _ *actors.System, run *actors.Run, from uint64, have func()) func() {
	var ended sync.WaitGroup
	for range watchers {
		ended.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for e, err := range run.Events(ctx, from) {
				if err != nil {
					t.Error(err)
				}
				if e.Kind() == messages.KindTextDelta {
					have()
				}
			}
		})
	}
	return ended.Wait
}

// subscribe has actors told of the run's events.
func subscribe(t *testing.T, s *actors.System, run *actors.Run, from uint64, have func()) func() {
	var ended sync.WaitGroup
	ended.Add(watchers)
	for range watchers {
		pid := s.Node().Root().Spawn(s.Node().Props(func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				d, ok := c.Message().(*actors.Delivery)
				if !ok {
					return
				}
				d.Task.Ack()
				switch m := d.Message.(type) {
				case messages.Event:
					if m.Kind() == messages.KindTextDelta {
						have()
					}
				case actors.SubscriptionEnd:
					c.Stop(c.Self())
					ended.Done()
				}
			})
		}))
		if _, err := s.Subscribe(pid, run.ID(), from, 8); err != nil {
			t.Fatal(err)
		}
	}
	return ended.Wait
}

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
