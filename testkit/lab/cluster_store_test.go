//go:build unix

package lab_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// journals opens four connections.
func (c *cluster) journals() (all []*nats.Journal) {
	for i := range 4 {
		j, err := nats.Open(c.Context(), c.urls[i%len(c.urls)])
		must(c, err)
		c.Cleanup(func() { _ = j.Close() })
		all = append(all, j)
		if w := j.Warnings(); len(w) != 0 {
			c.Errorf("three servers are warned of: %q", w)
		}
	}
	return all
}

// race calls do at once for each of the journals, and returns how many calls had no error. The others must have lost.
func (c *cluster) race(journals []*nats.Journal, lost func(error) bool, do func(i int, j *nats.Journal) error) (landed int) {
	ends := make([]error, len(journals))
	var all sync.WaitGroup
	for i, j := range journals {
		all.Go(func() { ends[i] = do(i, j) })
	}
	all.Wait()
	for _, err := range ends {
		if err == nil {
			landed++
		} else if !lost(err) {
			c.Errorf("a loser got %v", err)
		}
	}
	return landed
}

// shared sets one shared value from four connections at once.
func (c *cluster) shared() {
	journals := c.journals()
	conflict := func(err error) bool { return messages.CodeOf(err) == messages.CodeConflict }
	for round := range 20 {
		name := fmt.Sprintf("race-%d", round)
		landed := c.race(journals, conflict, func(i int, j *nats.Journal) error { return j.Set(c.Context(), name, fmt.Append(nil, i), 0) })
		if landed != 1 {
			c.Errorf("%d of %d values landed", landed, len(journals))
		}
	}
}

// writers appends to one log from four connections at once.
func (c *cluster) writers() {
	journals, run := c.journals(), messages.RunID("r_race")
	add := func(j *nats.Journal, after uint64, id journal.BlockID, body messages.Body) error {
		end := make(chan error, 1)
		j.Append(journal.Block{Run: run, After: journal.Head{Seq: after}, ID: id, Writer: "a", Events: []messages.Event{
			{RunID: run, From: after + 1, Seq: after + 1, Time: time.Now().UTC(), Body: body}}}, func(err error) { end <- err })
		return <-end
	}
	queued := messages.RunQueued{Job: "race", Principal: "race", Mode: messages.Detached}
	must(c, add(journals[0], 0, journal.BlockID{1}, queued))
	fenced := func(err error) bool { return errors.Is(err, journal.ErrFenced) }
	const rounds = 200
	for round := range uint64(rounds) {
		landed := c.race(journals, fenced, func(i int, j *nats.Journal) error {
			return add(j, 1+round, journal.BlockID{byte(i), byte(round), 1}, messages.FaultInjected{Fault: fmt.Sprint(i)})
		})
		if landed != 1 {
			c.Fatalf("%d of %d blocks at one head landed", landed, len(journals))
		}
	}
	end := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.CauseError, "it failed")}
	must(c, add(journals[0], 1+rounds, journal.BlockID{9, 9}, end))
}

// leader is the NATS server that leads the stream of runs.
func (c *cluster) leader() *process {
	conn, err := natsgo.Connect(strings.Join(c.urls, ","))
	must(c, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	var name string
	if err == nil {
		var stream jetstream.Stream
		if stream, err = js.Stream(c.Context(), "RUNS"); err == nil {
			name = stream.CachedInfo().Cluster.Leader
		}
	}
	for _, s := range c.stores {
		if s.name == name {
			return s
		}
	}
	c.Fatalf("the stream has the leader %q (%v)", name, err)
	return nil
}

// killedStore kills the NATS server that leads, and then another, while runs go on and new ones are started.
func (c *cluster) killedStore() {
	c.speak(6 * time.Second)
	for range 2 {
		var runs []messages.RunID
		for i := range c.nodes {
			runs = append(runs, c.begin(i, 10, askModel)...)
		}
		victim := c.leader()
		victim.kill()
		began, q := time.Now(), askModel
		q.Key = "after " + victim.name + began.String()
		eventually(c, takeoverTimeout, "a start without the server that led", func() error {
			ctx, cancel := context.WithTimeout(c.Context(), takeoverTimeout)
			defer cancel()
			run, err := c.at(0).Submit(ctx, q)
			if err == nil {
				runs = append(runs, run)
			}
			return err
		})
		c.Logf("%s killed; a run started within %.1f s", victim.name, time.Since(began).Seconds())
		c.ends(1, runs, completed)
		victim.start()
		c.settled()
	}
}

// settled waits until all NATS servers have all of the stream.
func (c *cluster) settled() {
	eventually(c, time.Minute, "all NATS servers follow", func() error {
		conn, err := natsgo.Connect(strings.Join(c.urls, ","))
		if err != nil {
			return err
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), 5*time.Second)
		defer cancel()
		for _, name := range []string{"RUNS", "OBJ_ARTIFACTS"} {
			stream, err := js.Stream(ctx, name)
			if err != nil {
				return err
			}
			replicas := stream.CachedInfo().Cluster.Replicas
			if len(replicas) != len(c.stores)-1 {
				return fmt.Errorf("%s has %d replicas beside its leader", name, len(replicas))
			}
			for _, r := range replicas {
				if !r.Current || r.Offline {
					return fmt.Errorf("%s: %s is behind", name, cmp.Or(r.Name, "a server"))
				}
			}
		}
		return nil
	})
}

// stoppedStores stops all NATS servers for some seconds.
func (c *cluster) stoppedStores() {
	open, before, runs := c.hold(), len(c.questions()), c.begin(0, 5, askModel)
	c.asked(before, len(runs))
	for _, s := range c.stores {
		s.signal(syscall.SIGTERM)
	}
	for _, s := range c.stores {
		<-s.end
	}
	for i, n := range c.nodes {
		ctx, cancel := context.WithTimeout(c.Context(), takeoverTimeout)
		began := time.Now()
		_, err := c.at(i).Submit(ctx, askModel)
		cancel()
		if err == nil || messages.CodeOf(err) != messages.CauseJournalUnavailable {
			c.Errorf("%s, without a store, answers a start with %v", n.name, err)
		}
		c.Logf("%s refuses a start after %.1f s: %v", n.name, time.Since(began).Seconds(), err)
		eventually(c, 10*time.Second, n.name+" says that it is not ready", func() error {
			if status, text := n.ready(); status != http.StatusServiceUnavailable || text == "" {
				return fmt.Errorf("/readyz answers %d, %s", status, text)
			}
			return nil
		})
	}
	for _, s := range c.stores {
		s.start()
	}
	c.settled()
	for _, n := range c.nodes {
		n.waitReady(c)
	}
	open()
	c.ends(1, runs, undisturbed)
	for i := range c.nodes {
		c.ends((i+1)%len(c.nodes), c.begin(i, 2, c.generate(false)), completed)
	}
}
