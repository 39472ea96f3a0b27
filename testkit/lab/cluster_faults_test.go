//go:build unix

package lab_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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

const (
	// takeoverTimeout is the longest that a run may be without a node, and takeoverGoal what half of them should need.
	takeoverTimeout, takeoverGoal = 30 * time.Second, 10 * time.Second
	// halfBeat is half the time between two signs of a node's life: a fault comes when as much of it is over as is left.
	halfBeat = 1250 * time.Millisecond
)

// jobsFile has a command that leaves a daemon, and ends when its gate is there, and one that hears until the message end.
const jobsFile = `jobs: {hear: {messages: true, retry: {times: 9}, env: [PATH], command: [sh, -c, 'while echo "{\"type\":\"message\"}" >&3 && read -r line <&4; do id=${line#*\"message\":\"}; echo "{\"type\":\"seen\",\"message\":\"${id%%\"*}\"}" >&3; case $line in *\"end\"*) exit 0;; esac; done']}, work: {command: [sh, -c, 'setsid sleep 1000 & until [ -e "$1" ]; do sleep 0.1; done', sh, "{gate}"], input: {gate: {type: string}}, env: [PATH, LEFT], retry: {times: 1}}}`

// noneLeft wants no process of a command.
func (c *cluster) noneLeft() {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, file := range all {
		text, _ := os.ReadFile(file) // a process that has ended has none
		if entries := strings.Split(string(text), "\x00"); slices.Contains(entries, c.left) && slices.ContainsFunc(entries, isOfARun) {
			c.Errorf("%s is left of a command", filepath.Dir(file))
		}
	}
}

func isOfARun(entry string) bool { return strings.HasPrefix(entry, "LASTWORD_RUN=") }

func (c *cluster) killedNode() {
	c.lose(0, func(n *node) (restore func()) { n.kill(); return n.start })
}

func (c *cluster) pausedNode() {
	c.lose(1, func(n *node) (restore func()) {
		n.signal(syscall.SIGSTOP)
		return func() { n.signal(syscall.SIGCONT) }
	})
}

func (c *cluster) cutNode() { c.lose(2, (*node).cut) }

// lose has a node lose its runs to the others. Back again, the node stops what it still does for them.
func (c *cluster) lose(victim int, fault func(*node) (restore func())) {
	node, reader, open := c.nodes[victim], (victim+1)%len(c.nodes), c.hold()
	before := len(c.questions())
	again, prompts := c.begin(victim, 5, c.generate(true)), c.begin(victim, 5, askModel)
	theirs, gate := c.asked(before, len(again)+len(prompts)), filepath.Join(c.TempDir(), "gate")
	again = append(again, c.begin(victim, 2, messages.Request{Job: "work", Input: json.RawMessage(`{"gate":"` + gate + `"}`)})...)
	others := slices.Concat(c.begin(reader, 3, c.generate(true)), c.begin(reader, 3, askModel))
	c.asked(before, len(theirs)+len(others))

	time.Sleep(halfBeat)
	restore := sync.OnceFunc(fault(node))
	c.Cleanup(restore)
	began := time.Now()
	var mu sync.Mutex
	var taken []time.Duration
	note := func(e messages.Event) {
		if kind := e.Kind(); kind == messages.KindRunRecovered || kind == messages.KindRunFailed {
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, time.Since(began))
		}
	}
	var all sync.WaitGroup
	judge := func(runs []messages.RunID, judge func(messages.State) error) {
		for _, run := range runs {
			all.Go(func() {
				state, err := c.follow(reader, run, note)
				if err == nil {
					err = judge(state)
				}
				if err != nil {
					c.Error(err)
				}
			})
		}
	}
	judge(again, continued)
	judge(prompts, lost)
	eventually(c, takeoverTimeout, "the runs of "+node.name+" are taken over", func() error {
		mu.Lock()
		defer mu.Unlock()
		if want := len(again) + len(prompts); len(taken) < want {
			return fmt.Errorf("%d of %d", len(taken), want)
		}
		return nil
	})
	slices.Sort(taken)
	half := taken[len(taken)/2]
	c.Logf("taken over: half within %.1f s, all within %.1f s", half.Seconds(), taken[len(taken)-1].Seconds())
	if c.long && half > takeoverGoal { // beside other tests a machine may be slow
		c.Errorf("half of the runs have no node for more than %s", takeoverGoal)
	}
	restore()
	for _, request := range theirs {
		select {
		case <-c.model.Closed(request):
		case <-time.After(10 * time.Second):
			c.Errorf("%s goes on with a run that it has lost", node.name)
		}
	}
	open()
	must(c, os.WriteFile(gate, nil, 0o600))
	all.Wait()
	c.noneLeft()
	c.ends(reader, others, undisturbed)
	node.waitReady(c)
	c.ends(reader, c.begin(victim, 1, askModel), completed)
}

// questions are the requests for a completion that the model has had.
func (c *cluster) questions() (all []int) {
	for _, r := range c.model.Requests() {
		if r.Chat.Model != "" {
			all = append(all, r.Number)
		}
	}
	return all
}

// asked waits until the model has had so many more questions than before.
func (c *cluster) asked(before, n int) (questions []int) {
	c.Helper()
	eventually(c, 30*time.Second, "all runs ask the model", func() error {
		if questions = c.questions()[before:]; len(questions) < n {
			return fmt.Errorf("%d of %d have", len(questions), n)
		}
		return nil
	})
	return questions
}

// messages says five things to each of 99 runs at any node, each twice, while two nodes and a NATS server are killed. The
// last one ends the run.
func (c *cluster) messages() {
	var runs []messages.RunID
	for i := range c.nodes {
		runs = append(runs, c.begin(i, runsEach/len(c.nodes), messages.Request{Job: "hear"})...)
	}
	say := func(run messages.RunID, name string) {
		for try := rand.IntN(len(c.nodes)); try < 60; try++ {
			ctx, cancel := context.WithTimeout(c.Context(), 5*time.Second)
			_, err := c.at(try%len(c.nodes)).Say(ctx, run, messages.Said{Message: name, Content: name})
			if cancel(); err == nil {
				return
			}
			time.Sleep(time.Second / 2)
		}
		c.Errorf("nobody takes %s of %s", name, run)
	}
	var posts sync.WaitGroup
	for _, run := range runs {
		for k := range 10 {
			posts.Go(func() { time.Sleep(rand.N(12 * time.Second)); say(run, fmt.Sprint("m", k%5)) })
		}
	}
	for i, n := range c.nodes[:2] {
		time.Sleep(time.Second)
		n.kill()
		if store := c.leader(); i == 1 {
			store.kill()
			store.start()
		}
		time.Sleep(takeoverGoal / 4)
		n.start()
		n.waitReady(c)
	}
	posts.Wait()
	for _, run := range runs {
		say(run, "end")
	}
	c.ends(0, runs, func(s messages.State) error {
		missed := func(m messages.Message) bool { return m.At == "" }
		if len(s.Messages) != 6 || slices.ContainsFunc(s.Messages, missed) {
			return fmt.Errorf("the messages are %+v", s.Messages)
		}
		return completed(s)
	})
}

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
