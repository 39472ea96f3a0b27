package lab_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	natsgo "github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
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
	next := func() { say <- struct{}{}; <-have.all }
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
		_, err := s.Subscribe(pid, run.ID(), from, 8)
		must(t, err)
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
	begin, cpu, times := time.Now(), cpuTime(), make([]float64, firstEvents)
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

// nodesFigures are what docs/scaling.md multiplies: what a node asks of JetStream. Servers and nodes are in this process.
func nodesFigures() []figure {
	three := look[float64]{take: func(t *testing.T) float64 { return blockAmong(t, 3) }}
	return []figure{
		{name: "NATS, 3 replicas: the beats of 1,000 runs of a node, one after the other", unit: "ms", goal: 2500,
			ours: func(t *testing.T) float64 { return beats(t, 1) }},
		{name: "NATS, 3 replicas: the beats of 1,000 runs, eight at a time", unit: "ms", goal: 1000,
			ours: func(t *testing.T) float64 { return beats(t, 8) }},
		{name: "NATS, 3 replicas: the opening of a run heard by one more node, CPU", unit: "us", goal: 100, ours: heard},
		{name: "NATS, 3 servers: a block of text at 6 nodes, against 3 nodes, CPU", unit: "us", goal: 1.15,
			ours: func(t *testing.T) float64 { return blockAmong(t, 6) }, baseline: three.tell(itself)},
		{name: "NATS, 3 servers: a block of text at 12 nodes, against 3 nodes, CPU", unit: "us", goal: 1.15,
			ours: func(t *testing.T) float64 { return blockAmong(t, 12) }, baseline: three.tell(itself)},
	}
}

// beats is the time in which the claims of 1,000 runs are renewed, so many at a time.
func beats(t *testing.T, atOnce int) float64 {
	const runs = 1000
	j, stop := openNATS(3)(t)
	defer stop()
	appendAll(t, j, firstBlocks("node", runs))
	var claims []journal.Claim
	for range runs {
		c, err := j.Claim(t.Context(), "node")
		must(t, err)
		claims = append(claims, c)
	}
	begin := time.Now()
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			for n := i; n < runs; n += atOnce {
				_, err := j.Read(t.Context(), claims[n].Run, 1)
				if err == nil {
					err = j.Keep(t.Context(), claims[n], journal.Held)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return milliseconds(time.Since(begin))
}

// heard is what 20 more nodes cost for each of 2,000 openings, for one node.
func heard(t *testing.T) float64 {
	const blocks, more = 2000, 20
	open, stop := openNodes(t)
	defer stop()
	cost := func(j *nats.Journal, writer string) time.Duration {
		return settled(func() { appendAll(t, j, firstBlocks(writer, blocks)) })
	}
	writer := open()
	alone := cost(writer, "alone")
	for range more {
		open()
	}
	return float64(cost(writer, "among")-alone) / float64(time.Microsecond) / blocks / more
}

// blockAmong is what each of 6,400 blocks of text costs so many nodes and their servers, where nobody reads them.
func blockAmong(t *testing.T, nodes int) float64 {
	const runs, each = 64, 100
	open, stop := openNodes(t)
	defer stop()
	writer := open()
	for range nodes - 1 {
		open()
	}
	first := firstBlocks("node", runs)
	appendAll(t, writer, first)
	return float64(settled(func() {
		var all sync.WaitGroup
		for _, b := range first {
			all.Go(func() {
				for seq := uint64(2); seq < each+2; seq++ {
					b.After.Seq, b.ID[15] = seq-1, byte(seq)
					b.Events = []messages.Event{{RunID: b.Run, From: seq, Seq: seq, Time: time.Now().UTC(),
						Body: messages.TextDelta{Stream: "answer", Index: seq - 2, Text: "word "}}}
					appendAll(t, writer, []journal.Block{b})
				}
			})
		}
		all.Wait()
	})) / float64(time.Microsecond) / runs / each
}

// openNodes starts three servers, and returns a function that opens the journal of a node.
func openNodes(t *testing.T) (open func() *nats.Journal, stop func()) {
	s, stop := jetStream(t, 3)
	return func() *nats.Journal {
		j, err := nats.Open(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)), nats.Replicas(3))
		must(t, err)
		t.Cleanup(func() { _ = j.Close() })
		return j
	}, stop
}

// settled is the CPU time of the work, and of a second more in which the last node hears the last of it.
func settled(work func()) time.Duration {
	before := cpuTime()
	work()
	time.Sleep(time.Second)
	return cpuTime() - before
}

func firstBlocks(writer string, n int) (all []journal.Block) {
	for range n {
		run, now := messages.NewRunID(), time.Now().UTC()
		all = append(all, journal.Block{Run: run, ID: journal.BlockID{byte(n), byte(n >> 8), byte(len(all)), byte(len(all) >> 8), byte(now.UnixNano())},
			Writer: writer, Events: []messages.Event{{RunID: run, From: 1, Seq: 1, Time: now, Body: messages.RunQueued{Job: "bench"}}}})
	}
	return all
}

// appendAll appends the blocks, 64 at a time.
func appendAll(t *testing.T, j interface {
	Append(journal.Block, func(error))
}, blocks []journal.Block) {
	t.Helper()
	var all sync.WaitGroup
	room := make(chan struct{}, 64)
	for _, b := range blocks {
		room <- struct{}{}
		all.Add(1)
		j.Append(b, func(err error) {
			if err != nil {
				t.Error(err)
			}
			<-room
			all.Done()
		})
	}
	all.Wait()
}
