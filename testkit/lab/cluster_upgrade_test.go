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
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

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
	open := c.hold()
	before := len(c.questions())
	ended := c.begin(victim, 1, c.generate(false))
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
