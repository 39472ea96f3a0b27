package lab_test

import (
	"context"
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
