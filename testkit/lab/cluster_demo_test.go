//go:build unix

package lab_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// TestClusterDemo is make cluster-demo: it starts 50 runs at three nodes, kills one node, and prints what a client at
// another node sees of each run.
func TestClusterDemo(t *testing.T) {
	if os.Getenv("LASTWORD_CLUSTER_DEMO") == "" {
		t.Skip("make cluster-demo runs this")
	}
	c := startCluster(t)
	c.speak(4 * time.Second)
	d := &demo{cluster: c, began: time.Now(), names: map[string]string{}}
	d.say("three NATS servers and three nodes are up: n0, n1 and n2")
	for n := range 50 {
		q := askModel
		if n%2 == 0 {
			q = c.generate(true)
		}
		d.runs = append(d.runs, &demoRun{id: c.begin(n%3, 1, q)[0], job: q.Job, first: n % 3})
	}
	d.say("50 runs go on: every second is a generate, the others are prompts; a client at n2 watches them all")
	var all sync.WaitGroup
	for _, r := range d.runs {
		all.Go(func() { d.watch(r) })
	}
	time.Sleep(2 * time.Second)
	d.say("n0 is killed (kill -9)")
	c.nodes[0].kill()
	all.Wait()
	d.print()
}

type demo struct {
	*cluster
	began time.Time
	runs  []*demoRun
	names map[string]string // of the nodes, by what they call themselves

	mu    sync.Mutex
	taken bool
}

// demoRun is a run as the client sees it.
type demoRun struct {
	id     messages.RunID
	job    string
	first  int // the node that it was started at
	state  messages.State
	events int
	last   int // how many last words it had
	end    time.Duration
	err    error
}

func (d *demo) say(format string, args ...any) {
	fmt.Printf("%5.1f s  %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

func (d *demo) watch(r *demoRun) {
	r.state, r.err = d.follow(2, r.id, func(e messages.Event) {
		r.events++
		if e.Kind().IsTerminal() {
			r.last++
			r.end = time.Since(d.began)
		}
		if e.Kind() == messages.KindRunRecovered {
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.taken {
				d.taken = true
				d.say("the other nodes take the runs of n0 over")
			}
		}
	})
}

// print tells how each run ended.
func (d *demo) print() {
	for _, r := range d.runs {
		if r.first != 0 {
			d.names[r.state.Node] = d.nodes[r.first].name
		}
	}
	fmt.Printf("\n%-28s  %-8s  %-8s  %-20s  %6s  %s\n", "run", "job", "nodes", "last word", "after", "events")
	var completed, again, lostOnes int
	for _, r := range d.runs {
		nodes, word := d.nodes[r.first].name, string(r.state.Status)
		if r.state.Recoveries > 0 {
			nodes += ", " + d.names[r.state.Node]
		}
		switch {
		case r.err != nil || r.last != 1:
			d.Errorf("run %s had %d last words: %v", r.id, r.last, r.err)
		case r.state.Status == messages.Completed:
			completed++
			again += min(r.state.Recoveries, 1)
		default:
			word += ", " + string(r.state.End.Cause)
			if r.first != 0 || r.state.End.Cause != messages.CauseNodeLost {
				d.Errorf("run %s of %s is %s", r.id, nodes, word)
			}
			lostOnes++
		}
		fmt.Printf("%-28s  %-8s  %-8s  %-20s  %4.1f s  %d\n", r.id, r.job, nodes, word, r.end.Seconds(), r.events)
	}
	fmt.Printf("\nEach of %d runs had one last word, and no event was missing or came twice.\n", len(d.runs))
	fmt.Printf("%d are completed. %d of these were started again by another node: generate may run twice.\n", completed, again)
	fmt.Printf("%d failed with node_lost: a prompt is asked once.\n", lostOnes)
}
