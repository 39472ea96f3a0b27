//go:build unix

package lab_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// endTimeout is the longest that a run of these tests may take.
const endTimeout = 90 * time.Second

// hold makes the model wait after the first words of each answer until open is called.
func (c *cluster) hold() (open func()) {
	gate := make(chan struct{})
	c.model.Always(testkit.Tokens(10, 10*time.Millisecond), testkit.Until(gate), testkit.Text("end"), testkit.Finish("stop"),
		testkit.Done())
	open = sync.OnceFunc(func() { close(gate) })
	c.Cleanup(open)
	return open
}

// speak makes each answer of the model take about so long.
func (c *cluster) speak(d time.Duration) {
	c.model.Always(testkit.Tokens(20, d/20), testkit.Finish("stop"), testkit.Done())
}

// askModel takes as long as the model. It is not started again when its node was lost.
var askModel = messages.Request{Job: "prompt", Input: json.RawMessage(`{"text":"Say hello."}`)}

// pots is a small repository.
const pots = "-- README.md --\n# Pots\n\nPots keeps tea warm.\n-- go.mod --\nmodule example.com/pots\n"

// generate is started again when its node was lost. With a model it takes as long as the model.
func (c *cluster) generate(model bool) messages.Request {
	in := map[string]any{"repository": testkit.Repository(c, []byte(pots))}
	if model {
		in["model"] = "scripted"
	}
	input, err := json.Marshal(in)
	must(c, err)
	return messages.Request{Job: "generate", Input: input}
}

// begin starts so many runs at a node.
func (c *cluster) begin(at, n int, q messages.Request) (runs []messages.RunID) {
	c.Helper()
	for range n {
		ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
		run, err := c.at(at).Submit(ctx, q)
		cancel()
		if err != nil {
			c.Fatalf("%s does not start %s: %v", c.nodes[at].name, q.Job, err)
		}
		runs = append(runs, run)
	}
	return runs
}

// follow reads the run at a node until its terminal, tells seen of each event, and judges the whole.
func (c *cluster) follow(at int, run messages.RunID, seen func(messages.Event)) (messages.State, error) {
	ctx, cancel := context.WithTimeout(c.Context(), endTimeout)
	defer cancel()
	var log []messages.Event
	for e, err := range c.at(at).Follow(ctx, run, messages.FollowOptions{}) {
		if err != nil {
			return messages.State{}, fmt.Errorf("run %s at %s after %d events, which the nodes show as %s: %w", run,
				c.nodes[at].name, len(log), c.shown(run), err)
		}
		if log = append(log, e); seen != nil {
			seen(e)
		}
	}
	if err := testkit.CheckLog(0, log); err != nil {
		return messages.State{}, fmt.Errorf("run %s at %s: %w", run, c.nodes[at].name, err)
	}
	var all messages.Fold
	for _, e := range log {
		if err := all.Apply(e); err != nil {
			return messages.State{}, err
		}
	}
	return all.State(), nil
}

// shown is what each node says of the run now.
func (c *cluster) shown(run messages.RunID) (all []string) {
	for i, n := range c.nodes {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		state, err := c.at(i).State(ctx, run)
		cancel()
		if err != nil {
			state.Status = messages.Status(err.Error())
		}
		all = append(all, fmt.Sprintf("%s: %s, %d events", n.name, state.Status, state.Seq))
	}
	return all
}

// ends follows the runs at a node to their ends, and judges each.
func (c *cluster) ends(at int, runs []messages.RunID, judge func(messages.State) error) {
	c.Helper()
	var all sync.WaitGroup
	for _, run := range runs {
		all.Go(func() {
			state, err := c.follow(at, run, nil)
			if err == nil {
				err = judge(state)
			}
			if err != nil {
				c.Errorf("run %s (%s, recoveries %d): %v", run, state.Status, state.Recoveries, err)
			}
		})
	}
	all.Wait()
}

func completed(s messages.State) error {
	if s.Status != messages.Completed {
		return fmt.Errorf("want completed, not %s: %+v", s.Status, s.End)
	}
	return nil
}

// continued wants a run that was completed by another node than its first.
func continued(s messages.State) error {
	if s.Recoveries == 0 {
		return errors.New("no other node has started it again")
	}
	return completed(s)
}

// lost wants a run that has failed because its node was lost.
func lost(s messages.State) error {
	if s.Status != messages.Failed || s.End == nil || s.End.Cause != messages.CauseNodeLost {
		return fmt.Errorf("want failed, node_lost, not %s: %+v", s.Status, s.End)
	}
	return nil
}

// undisturbed wants a run that was completed by its first node.
func undisturbed(s messages.State) error {
	if s.Recoveries != 0 {
		return errors.New("it was taken from a node that was well")
	}
	return completed(s)
}

func (c *cluster) everywhere() {
	c.hold()
	run, live := c.begin(0, 1, askModel)[0], make(chan string, len(c.nodes))
	var readers sync.WaitGroup
	for i := range c.nodes {
		readers.Go(func() {
			words := 0
			state, err := c.follow(i, run, func(e messages.Event) {
				if e.Kind() == messages.KindTextDelta {
					if words++; words == 1 {
						live <- c.nodes[i].name
					}
				}
			})
			if err != nil || state.Status != messages.Canceled {
				c.Errorf("%s shows %s: %v", c.nodes[i].name, state.Status, err)
			}
		})
	}
	for range c.nodes {
		select {
		case <-live:
		case <-time.After(10 * time.Second):
			c.Fatal("a node does not show the words of a run that goes on")
		}
	}
	if err := c.at(2).Cancel(c.Context(), run, "enough"); err != nil {
		c.Errorf("a cancel at another node: %v", err)
	}
	readers.Wait()
	c.answers()
	c.files()
}

// answers asks a person at one node, who answers at another.
func (c *cluster) answers() {
	run := c.begin(0, 1, messages.Request{Job: "plan", Input: json.RawMessage(
		`{"plan":"steps:\n  - {name: sure, ask: {prompt: \"Delete it?\", schema: {type: boolean}}}\n"}`)})[0]
	state, err := c.follow(2, run, func(e messages.Event) {
		if asked, ok := e.Body.(messages.InputRequired); ok {
			if err := c.at(1).Answer(c.Context(), run, asked.Request, json.RawMessage(`true`)); err != nil {
				c.Errorf("an answer at another node: %v", err)
			}
		}
	})
	if err == nil {
		err = completed(state)
	}
	must(c, err)
}

// files wants the artifacts of runs of each node at every node.
func (c *cluster) files() {
	for first := range c.nodes {
		run := c.begin(first, 1, c.generate(false))[0]
		c.ends((first+1)%len(c.nodes), []messages.RunID{run}, completed)
		for i := range c.nodes {
			if err := c.sameFiles(i, run); err != nil {
				c.Errorf("a run of %s: %v", c.nodes[first].name, err)
			}
		}
	}
}

// sameFiles reads the run's artifacts at a node.
func (c *cluster) sameFiles(at int, run messages.RunID) error {
	state, err := c.at(at).State(c.Context(), run)
	if err != nil || len(state.Artifacts) == 0 {
		return fmt.Errorf("%s shows %d artifacts: %w", c.nodes[at].name, len(state.Artifacts), err)
	}
	for _, a := range state.Artifacts {
		file, err := c.at(at).Artifact(c.Context(), run, a.Name)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", a.Name, c.nodes[at].name, err)
		}
		data, err := io.ReadAll(file)
		_ = file.Close()
		if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != a.SHA256 {
			return fmt.Errorf("%s of %s is another: %d bytes, want %d (%w)", a.Name, c.nodes[at].name, len(data), a.Bytes, err)
		}
	}
	return nil
}

// keys starts a run with one key at all nodes at once.
func (c *cluster) keys() {
	c.speak(100 * time.Millisecond)
	for round := range 5 {
		q := askModel
		q.Key = fmt.Sprint("key", round)
		runs := make([]messages.RunID, len(c.nodes))
		var all sync.WaitGroup
		for i := range c.nodes {
			all.Go(func() {
				var err error
				if runs[i], err = c.at(i).Submit(c.Context(), q); err != nil {
					c.Errorf("%s: %v", c.nodes[i].name, err)
				}
			})
		}
		all.Wait()
		if len(slices.Compact(runs)) != 1 {
			c.Errorf("one key is the runs %v", runs)
		}
		q.Input = json.RawMessage(`{"text":"Say something else."}`)
		for i := range c.nodes {
			if _, err := c.at(i).Submit(c.Context(), q); messages.CodeOf(err) != messages.CodeConflict {
				c.Errorf("the same key with other input at %s: %v", c.nodes[i].name, err)
			}
		}
		c.ends(round%len(c.nodes), runs[:1], completed)
	}
}

// tokensEach is what each principal's runs may use of a model a day.
const tokensEach = 10_000_000

// tokensOfADay uses up the tokens of a principal at all nodes at once. Each call takes more than the node has estimated, so a
// node may exceed the ceiling by its last.
func (c *cluster) tokensOfADay() {
	const call = 400_000
	c.model.Always(testkit.Text("hello"), testkit.Finish("stop"), testkit.Usage(call-1, 1), testkit.Done())
	var calls atomic.Int64
	var all sync.WaitGroup
	for i := range c.nodes {
		all.Go(func() {
			to, code := c.as(spender, i), messages.Code("")
			for n := 0; code == "" && n <= tokensEach/call; n++ {
				run, err := to.Submit(c.Context(), askModel)
				if code = messages.CodeOf(err); code != "" {
					break
				}
				for e, err := range to.Follow(c.Context(), run, messages.FollowOptions{}) {
					if failed, is := e.Body.(messages.RunFailed); is {
						code = failed.Error.Code
					} else if e.IsTerminal() {
						calls.Add(1)
					}
					must(c, err)
				}
			}
			if code != messages.CodeBudget && code != messages.CauseLimitExceeded {
				c.Errorf("%s ends with %q after %d calls of %d tokens", c.nodes[i].name, code, calls.Load(), call)
			}
		})
	}
	all.Wait()
	if used := calls.Load() * call; used < tokensEach || used > tokensEach+int64(len(c.nodes))*call {
		c.Errorf("%d tokens of %d are used", used, tokensEach)
	}
	for i := range c.nodes {
		if days, err := c.as(spender, i).Days(c.Context()); len(days) != 1 || days[0].Drawn != tokensEach || days[0].Left != 0 {
			c.Errorf("%s says %+v, %v", c.nodes[i].name, days, err)
		}
	}
}

// quota fills one caller's quota at all nodes in turn.
func (c *cluster) quota() {
	open := c.hold()
	var runs []messages.RunID
	for n := range runsEach {
		run, err := c.as(other, n%len(c.nodes)).Submit(c.Context(), askModel)
		if err != nil {
			c.Fatalf("start %d of %d: %v", n+1, runsEach, err)
		}
		runs = append(runs, run)
	}
	for i, n := range c.nodes {
		eventually(c, 10*time.Second, n.name+" has heard of all runs", func() error {
			all, _, err := c.as(other, i).List(c.Context(), messages.Query{Status: []messages.Status{messages.Processing}, Limit: runsEach}, "")
			if len(all) < runsEach {
				return fmt.Errorf("%d of %d: %w", len(all), runsEach, err)
			}
			return nil
		})
		if _, err := c.as(other, i).Submit(c.Context(), askModel); messages.CodeOf(err) != messages.CauseLimitExceeded {
			c.Errorf("%s starts more runs than one caller may have: %v", c.nodes[i].name, err)
		}
	}
	open()
	for _, run := range runs {
		for e, err := range c.as(other, 1).Follow(c.Context(), run, messages.FollowOptions{}) {
			must(c, err)
			if e.Kind().IsTerminal() && e.Kind() != messages.KindRunCompleted {
				c.Errorf("%s: %s", run, e.Kind())
			}
		}
	}
}
