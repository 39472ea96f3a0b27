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
	return []figure{
		{name: "NATS, 3 replicas: the beats of 1,000 runs of a node, one after the other", unit: "ms", goal: 2500,
			ours: func(t *testing.T) float64 { return beats(t, 1) }},
		{name: "NATS, 3 replicas: the beats of 1,000 runs, eight at a time", unit: "ms", goal: 1000,
			ours: func(t *testing.T) float64 { return beats(t, 8) }},
		{name: "NATS, 3 replicas: a block heard by one more node, CPU", unit: "us", goal: 100, ours: heard},
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

// heard is what 20 more nodes cost for each of 2,000 blocks, for one node.
func heard(t *testing.T) float64 {
	const blocks, more = 2000, 20
	s, stop := jetStream(t, 3)
	defer stop()
	open := func() *nats.Journal {
		j, err := nats.Open(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)), nats.Replicas(3))
		must(t, err)
		t.Cleanup(func() { _ = j.Close() })
		return j
	}
	cost := func(j *nats.Journal, writer string) time.Duration {
		before := cpuTime()
		appendAll(t, j, firstBlocks(writer, blocks))
		time.Sleep(time.Second) // until the last has heard the last
		return cpuTime() - before
	}
	writer := open()
	alone := cost(writer, "alone")
	for range more {
		open()
	}
	return float64(cost(writer, "among")-alone) / float64(time.Microsecond) / blocks / more
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
