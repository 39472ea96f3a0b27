package lab_test

import (
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

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
