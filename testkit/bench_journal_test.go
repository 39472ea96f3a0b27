package testkit_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// The load of a journal: runs that say 80 tokens a second, which come as ten blocks of eight merged deltas.
const (
	pacedRuns   = 200
	pacedFor    = 3 * time.Second
	blocksASec  = 10
	tokensBlock = 8
	loopAppends = 5000
)

func journalFigures() []figure {
	return []figure{
		{name: "200 runs x 80 tokens/s on NATS, append p99", unit: "ms", goal: 2, ours: appendsToNATS(paced), baseline: publishes(paced)},
		{name: "an append to NATS, CPU", unit: "us", goal: 2, ours: appendsToNATS(oneByOne), baseline: publishes(oneByOne)},
	}
}

// load appends blocks and returns a figure.
type load func(t *testing.T, add func(actors.Block) error) float64

// paced is the 99th percentile of an append's time, in milliseconds, while all runs append at their rate.
func paced(t *testing.T, add func(actors.Block) error) float64 {
	var mu sync.Mutex
	var took []float64
	var all sync.WaitGroup
	for i := range pacedRuns {
		all.Go(func() {
			time.Sleep(time.Second / blocksASec * time.Duration(i) / pacedRuns) // runs do not keep step
			tale := &tale{run: messages.NewRunID()}
			tick := time.NewTicker(time.Second / blocksASec)
			defer tick.Stop()
			for began := time.Now(); time.Since(began) < pacedFor; <-tick.C {
				b := tale.next()
				at := time.Now()
				err := add(b)
				ms := float64(time.Since(at)) / 1e6
				mu.Lock()
				took = append(took, ms)
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took[len(took)*99/100]
}

// oneByOne is the CPU time of one append, in microseconds, the server's included.
func oneByOne(t *testing.T, add func(actors.Block) error) float64 {
	tale := &tale{run: messages.NewRunID()}
	return cpuPer(loopAppends, func() {
		if err := add(tale.next()); err != nil {
			t.Fatal(err)
		}
	})
}

// tale makes the blocks of a run.
type tale struct {
	run    messages.RunID
	head   actors.Head
	blocks uint64
}

func (l *tale) next() actors.Block {
	b := actors.Block{Run: l.run, After: l.head, Writer: "bench", Epoch: 1}
	binary.BigEndian.PutUint64(b.ID[8:], l.blocks)
	copy(b.ID[:8], l.run[2:])
	e := messages.Event{RunID: l.run, From: l.head.Seq + 1, Seq: l.head.Seq + tokensBlock, Time: time.Now().UTC(),
		Body: messages.TextDelta{Stream: "answer", Task: "write", Text: strings.Repeat("token ", tokensBlock)}}
	if l.blocks == 0 {
		e.Seq, e.Body = 1, messages.RunQueued{Job: "bench", Mode: messages.Detached}
	}
	b.Events = []messages.Event{e}
	l.blocks, l.head = l.blocks+1, b.Head()
	return b
}

func appendsToNATS(l load) func(*testing.T) float64 {
	return func(t *testing.T) float64 {
		s := jetStream(t)
		j, err := nats.Open(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		return l(t, func(b actors.Block) error {
			end := make(chan error, 1)
			j.Append(b, func(err error) { end <- err })
			return <-end
		})
	}
}

// publishes sends the same events in bare messages, each after the one before it.
func publishes(l load) func(*testing.T) float64 {
	return func(t *testing.T) float64 {
		nc, err := natsgo.Connect("", natsgo.InProcessServer(jetStream(t)))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare.>"}}); err != nil {
			t.Fatal(err)
		}
		var heads sync.Map
		return l(t, func(b actors.Block) error {
			data, err := json.Marshal(b.Events)
			if err != nil {
				return err
			}
			at, _ := heads.LoadOrStore(b.Run, uint64(0))
			ack, err := js.Publish(context.Background(), "bare."+string(b.Run), data,
				jetstream.WithExpectLastSequencePerSubject(at.(uint64)))
			if err == nil {
				heads.Store(b.Run, ack.Sequence)
			}
			return err
		})
	}
}

func jetStream(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s
}
