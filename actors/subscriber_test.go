package actors_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// listener is an embedder's actor.
type listener struct {
	delay   time.Duration // before each Ack, without blocking
	crashAt int           // the number of the delivery at which it panics
	events  []messages.Event
	waiting atomic.Int64 // deliveries not acknowledged
	most    int64
	ended   chan actors.SubscriptionEnd
}

func (l *listener) Receive(c actor.Context) {
	m, ok := c.Message().(*actors.Delivery)
	if !ok {
		return
	}
	if end, ok := m.Message.(actors.SubscriptionEnd); ok {
		l.ended <- end
		return
	}
	l.events = append(l.events, m.Message.(messages.Event))
	if len(l.events) == l.crashAt {
		panic("listener")
	}
	if l.delay == 0 {
		m.Task.Ack()
		return
	}
	l.most = max(l.most, l.waiting.Add(1))
	time.AfterFunc(l.delay, func() { l.waiting.Add(-1); m.Task.Ack() })
}

// talk says n pieces, a millisecond apart.
func talk(n int) actors.Job {
	return job(func(_ context.Context, task *actors.TaskContext) error {
		for range n {
			time.Sleep(time.Millisecond)
			if err := task.AppendText("answer", "x"); err != nil {
				return err
			}
		}
		return task.FinishText("answer", strings.Repeat("x", n))
	})
}

func folded(t *testing.T, events []messages.Event) messages.State {
	t.Helper()
	var s messages.State
	for _, e := range events {
		var err error
		s, err = s.Apply(e)
		noError(t, err)
	}
	return s
}

// "System.Subscribe(pid, run, after, credits) delivers events as ordered messages to any actor": a quick one gets all,
// a slow one merged deltas, and neither ever has more than its credits waiting.
func TestSubscribe(t *testing.T) {
	for name, delay := range map[string]time.Duration{"quick": 0, "slow": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, actors.Config{})
				l := &listener{delay: delay, ended: make(chan actors.SubscriptionEnd, 1)}
				pid := s.Node().Root().Spawn(s.Node().Props(func() actor.Actor { return l }))
				run := start(t, s, talk(3000), actors.Options{})
				began := time.Now()
				_, err := s.Subscribe(pid, run.ID(), 0, 4)
				noError(t, err)
				wait(t, run)
				if took := time.Since(began); took > 4*time.Second {
					t.Errorf("the subscriber held the run up: it took %s", took)
				}
				if end := <-l.ended; end.Err != nil || end.Run != run.ID() {
					t.Errorf("end: %+v", end)
				}
				state := folded(t, l.events)
				if answer, _ := state.Stream("answer"); state.Status != messages.Completed || answer.Len() != 3000 {
					t.Errorf("%s, %d bytes", state.Status, answer.Len())
				}
				if delay > 0 && (len(l.events) > 256 || l.most > 4) {
					t.Errorf("%d deliveries, %d at once", len(l.events), l.most)
				}
				s.Node().Root().Stop(pid)
				time.Sleep(2 * time.Second)
			})
		})
	}
}

// A subscribed actor that crashes costs the run nothing and leaves nothing behind; its successor goes on from the cursor.
func TestSubscriberCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		crashing := &listener{crashAt: 5}
		pid := s.Node().Root().Spawn(s.Node().Props(func() actor.Actor { return crashing }))
		run := start(t, s, talk(50), actors.Options{})
		_, err := s.Subscribe(pid, run.ID(), 0, 4)
		noError(t, err)
		expect(t, wait(t, run), messages.Completed, messages.ByRun, "")
		synctest.Wait()
		if n := s.Node().Counters().Tasks - idle; n != 0 || len(crashing.events) != 5 {
			t.Errorf("%d deliveries, and %d tasks left for an actor that is gone", len(crashing.events), n)
		}

		next := &listener{ended: make(chan actors.SubscriptionEnd, 1)}
		pid = s.Node().Root().Spawn(s.Node().Props(func() actor.Actor { return next }))
		_, err = s.Subscribe(pid, run.ID(), crashing.events[4].Seq, 4)
		noError(t, err)
		if end := <-next.ended; end.Err != nil {
			t.Errorf("end: %+v", end)
		}
		if state := folded(t, append(crashing.events, next.events...)); state.Status != messages.Completed {
			t.Errorf("both together: %s", state.Status)
		}
		s.Node().Root().Stop(pid)
		synctest.Wait()
	})
}

func TestSubscriptionClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		l := &listener{ended: make(chan actors.SubscriptionEnd, 1)}
		pid := s.Node().Root().Spawn(s.Node().Props(func() actor.Actor { return l }))
		run := start(t, s, job(heed), actors.Options{})
		sub, err := s.Subscribe(pid, run.ID(), 0, 1)
		noError(t, err)
		synctest.Wait()
		sub.Close()
		synctest.Wait()
		seen := len(l.events)
		noError(t, run.Cancel(t.Context(), ""))
		wait(t, run)
		synctest.Wait()
		if len(l.events) != seen || seen == 0 {
			t.Errorf("%d deliveries before Close, %d after", seen, len(l.events)-seen)
		}
		s.Node().Root().Stop(pid)
		synctest.Wait()
	})
}
