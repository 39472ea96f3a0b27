//go:build unix

package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/nats"
)

// TestCluster runs three NATS servers and three nodes as processes, in real time, and talks to every node over HTTP.
// make cluster runs all of it. CI, and make test, leave out what takes long.
func TestCluster(t *testing.T) {
	c := startCluster(t, root, "--nats-streams", "3", "--model-tokens-per-day", fmt.Sprint(tokensEach))
	for _, s := range []struct {
		name string
		long bool
		test func(*cluster)
	}{
		{"every node serves every run", false, (*cluster).everywhere},
		{"a key is one run at every node", false, (*cluster).keys},
		{"a caller's quota counts at every node", false, (*cluster).quota},
		{"the tokens of a day are counted once for all nodes", false, (*cluster).tokensOfADay},
		{"a killed node loses its runs to another", false, (*cluster).killedNode},
		{"a plan goes on at another node", false, (*cluster).plan},
		{"each message to a run is delivered once, whatever is killed", true, (*cluster).messages},
		{"a paused node loses its runs, and stops its tasks", true, (*cluster).pausedNode},
		{"a node that is cut off loses its runs, and stops its tasks", true, (*cluster).cutNode},
		{"a node that is stopped hands its runs over", false, (*cluster).handedOver},
		{"a rolling restart fails no run", true, (*cluster).rolling},
		{"the ledgers of all nodes have every end", false, (*cluster).proven},
		{"of four nodes that set a shared value one does", false, (*cluster).shared},
		{"of four writers at one head one lands", true, (*cluster).writers},
		{"a killed NATS server costs no run", true, (*cluster).killedStore},
		{"without NATS servers no run starts, and with them again all is well", true, (*cluster).stoppedStores},
	} {
		if s.long && !c.long {
			continue
		}
		ok := t.Run(s.name, func(t *testing.T) {
			c := *c
			c.TB = t
			s.test(&c)
		})
		if !ok {
			t.FailNow() // the nodes are not as the next expects them
		}
	}
}

// published is a plan that waits for people between a file that it writes and a step that reads it.
const published = `
steps:
  - {name: draft, write: {name: draft.txt, text: a draft}}
  - {name: sure, needs: draft, ask: {prompt: "Publish?", schema: {type: boolean}}}
  - {name: text, needs: sure, read: {run: "${steps.draft.run}", name: draft.txt}}
  - {name: out, needs: text, write: {name: out.txt, text: "${steps.text.result.text}, published"}}
result: ${steps.text.result.text}
`

// plan kills the node of a plan that waits. Another goes on after the last step that ended, with its files.
func (c *cluster) plan() {
	const victim, reader = 0, 1
	input, err := json.Marshal(map[string]any{"plan": published})
	must(c, err)
	run := c.begin(victim, 1, messages.Request{Job: "plan", Input: input})[0]
	state, err := c.follow(reader, run, func(e messages.Event) {
		if asked, ok := e.Body.(messages.InputRequired); ok {
			c.nodes[victim].kill()
			if err := c.at(2).Answer(c.Context(), run, asked.Request, json.RawMessage(`true`)); err != nil {
				c.Errorf("an answer while no node has the run: %v", err)
			}
		}
	})
	if err == nil {
		err = continued(state)
	}
	if err == nil && (string(state.End.Result) != `"a draft"` || len(state.Children) != 3) {
		err = fmt.Errorf("%d sub-runs come to %s", len(state.Children), state.End.Result)
	}
	must(c, err)
	c.nodes[victim].start()
	c.nodes[victim].waitReady(c)
}

// proven verifies what all nodes have done so far. The first one trusts the others once its key has signed theirs.
func (c *cluster) proven() {
	n := c.nodes[0]
	command := func(args ...string) (string, error) {
		run := exec.Command(n.args[0], append(args, "--nats", strings.Join(c.urls, ","))...)
		run.Env = n.env
		out, err := run.CombinedOutput()
		return string(out), err
	}
	if out, err := command("verify", "--all"); err == nil || !strings.Contains(out, "trusted: no") {
		c.Errorf("without the keys of the others: %v\n%s", err, out)
	}
	keys, err := command("key")
	if err == nil {
		_, err = command("key", "--sign", strings.Join(strings.Fields(keys), ","))
	}
	if err != nil {
		c.Fatalf("%v\n%s", err, keys)
	}
	eventually(c, time.Minute, "the ledgers have every end", func() error { // a lost run is lent again after 10 s
		out, err := command("verify", "--all")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
}

// stopTimeout is how long a node may take to end: its drain, and the last answers.
const stopTimeout = 30 * time.Second

// handedOver stops a node with SIGTERM. It finishes what ends within its drain, and another node goes on with the rest.
func (c *cluster) handedOver() {
	victim, reader, before := 0, 1, len(c.questions())
	c.model.Always(testkit.Tokens(20, 100*time.Millisecond), testkit.Finish("stop"), testkit.Done())
	short := c.begin(victim, 5, askModel)
	c.asked(before, len(short))
	open, long := c.hold(), c.begin(victim, 5, c.generate(true))
	c.asked(before, len(short)+len(long))
	done := make(chan struct{})
	go func() { defer close(done); c.ends(reader, short, undisturbed) }()
	began := time.Now()
	c.nodes[victim].terminate(stopTimeout)
	c.Logf("the node has ended after %.1f s", time.Since(began).Seconds())
	c.asked(before, len(short)+2*len(long)) // again, by another
	c.Logf("another node goes on with the long runs %.1f s after SIGTERM", time.Since(began).Seconds())
	open()
	c.ends(reader, long, continued)
	<-done
	c.nodes[victim].start()
	c.nodes[victim].waitReady(c)
}

// rolling restarts the nodes one after the other while clients start runs at all of them.
func (c *cluster) rolling() {
	c.speak(time.Second)
	stop := make(chan struct{})
	var mu sync.Mutex
	var runs []messages.RunID
	var refused atomic.Int64
	var load sync.WaitGroup
	for i := range c.nodes {
		for _, q := range []messages.Request{askModel, c.generate(false), c.generate(true)} {
			load.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Millisecond):
					}
					q.Key = fmt.Sprint(time.Now().UnixNano(), q.Job, i, n)
					run, err := c.startAnywhere(i, q, &refused)
					if err != nil {
						c.Errorf("no node starts a run: %v", err)
						return
					}
					mu.Lock()
					runs = append(runs, run)
					mu.Unlock()
				}
			})
		}
	}
	for _, n := range c.nodes {
		time.Sleep(time.Second)
		n.terminate(stopTimeout)
		n.start()
		n.waitReady(c)
	}
	time.Sleep(time.Second)
	close(stop)
	load.Wait()
	c.ends(0, runs, completed)
	c.Logf("%d runs completed; a node that was stopping refused %d starts, which another took", len(runs), refused.Load())
}

// startAnywhere starts a run as a client behind a load balancer does: at the next node if one is stopping.
func (c *cluster) startAnywhere(first int, q messages.Request, refused *atomic.Int64) (run messages.RunID, err error) {
	for began := time.Now(); time.Since(began) < time.Minute; first++ {
		ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
		run, err = c.at(first%len(c.nodes)).Submit(ctx, q)
		cancel()
		if err == nil {
			return run, nil
		}
		refused.Add(1)
	}
	return "", err
}

// lastVersion is the version from which nodes are upgraded one by one: of no tag yet.
const lastVersion = "009ef1fa9e84b13093929402643b93bbf6798837"

// confirmed is a plan that waits for people and needs no file. On the way back, lastVersion looks for the caller in the
// inputs of plans and of generate, where later versions do not write it: it finds no files of what it takes over.
const confirmed = `steps: [{name: sure, ask: {prompt: "Publish?", schema: {type: boolean}}}]`

// TestRollingUpgrade replaces the nodes of the last version one by one with nodes of this one, and back. Each leaves
// runs that go on, wait for a person or have ended; the nodes of both versions show them to the end.
func TestRollingUpgrade(t *testing.T) {
	onlyBy(t, "cluster")
	c := startCluster(t, sourceOf(t, lastVersion))
	old, now := c.nodes[0].args[0], filepath.Join(t.TempDir(), "lastword")
	c.build(now, root, "./cmd/lastword")
	c.future()
	for _, to := range []struct {
		name, binary string
		back         bool
	}{{"upgrade", now, false}, {"back", old, true}} {
		for i := range c.nodes {
			ok := t.Run(fmt.Sprintf("%s of n%d", to.name, i), func(t *testing.T) {
				c := *c
				c.TB = t
				c.replace(i, to.binary, to.back)
			})
			if !ok {
				t.FailNow()
			}
		}
	}
}

// sourceOf unpacks the source of a commit.
func sourceOf(t testing.TB, commit string) (folder string) {
	t.Helper()
	if exec.Command("git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run() != nil {
		t.Skipf("the history has no commit %s: clone it in full", commit)
	}
	folder = t.TempDir()
	archive := filepath.Join(folder, ".tar")
	for _, args := range [][]string{{"git", "-C", root, "archive", "--output", archive, commit}, {"tar", "-xf", archive, "-C", folder}} {
		combined(t, exec.Command(args[0], args[1:]...))
	}
	return folder
}

// replace stops a node in order and starts it as another version. Its runs go on at the others meanwhile.
func (c *cluster) replace(victim int, binary string, back bool) {
	open, before, ended := c.hold(), len(c.questions()), c.begin(victim, 1, c.generate(false))
	c.ends(victim, ended, completed)
	live := c.begin(victim, 3, c.generate(true))
	c.asked(before, len(live))
	plan := published
	if back {
		plan = confirmed
	}
	input, err := json.Marshal(map[string]any{"plan": plan})
	must(c, err)
	waiting := c.begin(victim, 1, messages.Request{Job: "plan", Input: input})
	request := c.question((victim+1)%len(c.nodes), waiting[0])

	runs := slices.Concat(live, waiting)
	var readers sync.WaitGroup
	defer func() { open(); readers.Wait() }()
	seen := make([]map[messages.RunID]string, len(c.nodes))
	for i := range c.nodes {
		if seen[i] = map[messages.RunID]string{}; i == victim {
			continue // its streams end with it
		}
		readers.Go(func() {
			for _, run := range runs {
				seen[i][run] = c.milestones(i, run)
			}
		})
	}
	n := c.nodes[victim]
	n.terminate(stopTimeout)
	c.asked(before, len(live)+1) // again, by another
	n.args[0] = binary
	n.start()
	n.waitReady(c)
	must(c, c.at(victim).Answer(c.Context(), waiting[0], request, json.RawMessage(`true`)))
	open()
	readers.Wait()
	for _, run := range runs {
		for i := range c.nodes {
			after := c.milestones(i, run)
			if was, ok := seen[i][run]; ok && was != after {
				c.Errorf("run %s at %s was\n%sand is\n%s", run, c.nodes[i].name, was, after)
			}
			if first := c.milestones(0, run); first != after {
				c.Errorf("run %s at %s is\n%sand at %s\n%s", run, c.nodes[i].name, after, c.nodes[0].name, first)
			}
		}
	}
	if !back {
		ended = append(ended, live...)
	}
	for i := range c.nodes {
		for _, run := range ended {
			if err := c.sameFiles(i, run); err != nil {
				c.Errorf("run %s: %v", run, err)
			}
		}
		c.ends(i, c.begin((i+1)%len(c.nodes), 1, c.generate(false)), undisturbed)
		if shown := c.milestones(i, ofFuture); !strings.Contains(shown, "3 future.kind") {
			c.Errorf("%s shows the run of a later version as\n%s", c.nodes[i].name, shown)
		}
	}
}

// ofFuture is a run with a kind that no version knows.
const ofFuture = messages.RunID("r_future")

func (c *cluster) future() {
	j, err := nats.Open(c.Context(), c.urls[0])
	must(c, err)
	defer func() { _ = j.Close() }()
	b := journal.Block{Run: ofFuture, ID: journal.BlockID{1}, Writer: "later", Epoch: 1}
	for _, body := range []messages.Body{messages.RunQueued{Job: "prompt", Principal: principal, Mode: messages.Detached},
		messages.RunStarted{Epoch: 1}, messages.Unknown{Type: "future.kind", Payload: json.RawMessage(`{"what":"new"}`)},
		messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}}} {
		n := uint64(len(b.Events) + 1)
		b.Events = append(b.Events, messages.Event{RunID: ofFuture, From: n, Seq: n, Time: time.Now().UTC(), Body: body})
	}
	end := make(chan error, 1)
	j.Append(b, func(err error) { end <- err })
	must(c, <-end)
}

// milestones follows the run at a node until it has completed, and returns its milestones, a line each.
func (c *cluster) milestones(at int, run messages.RunID) string {
	var all strings.Builder
	state, err := c.follow(at, run, func(e messages.Event) {
		if !e.IsDelta() {
			fmt.Fprintln(&all, e.Seq, e.Kind(), e.Message) // an older node leaves out the members that it does not know
		}
	})
	if err == nil {
		err = completed(state)
	}
	if err != nil {
		c.Errorf("run %s at %s: %v\n%s", run, c.nodes[at].name, err, &all)
	}
	return all.String()
}

// question waits for the first question of a run.
func (c *cluster) question(at int, run messages.RunID) string {
	ctx, cancel := context.WithTimeout(c.Context(), endTimeout)
	defer cancel()
	for e, err := range c.at(at).Follow(ctx, run, messages.FollowOptions{}) {
		must(c, err)
		if asked, ok := e.Body.(messages.InputRequired); ok {
			return asked.Request
		}
	}
	c.Fatalf("run %s asks nothing", run)
	return ""
}
