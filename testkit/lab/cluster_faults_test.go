//go:build unix

package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/messages"
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
	theirs := c.asked(before, len(again)+len(prompts))
	gate := filepath.Join(c.TempDir(), "gate")
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
