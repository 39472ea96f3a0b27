package world

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/transport/llm"
)

// work is the input of the job work: what a run does, decided by the world's seed.
type work struct {
	Words int  `json:"words"`
	Fails bool `json:"fails,omitempty"` // its first attempt, after half of the words
	Asks  bool `json:"asks,omitempty"`
	Child bool `json:"child,omitempty"`
	Steps int  `json:"steps,omitempty"`
}

// does is the job work. It says words, keeps steps, asks, and starts a sub-run.
func (w *world) does(ctx context.Context, t *actors.TaskContext, in work) (string, error) {
	for i := range in.Steps {
		got, err := actors.Do(ctx, t, fmt.Sprint("step ", i), func(ctx context.Context) (int, error) { return i, pause(ctx, 30*time.Millisecond) })
		if err != nil {
			return "", err
		}
		if got != i {
			w.complain("step %d gave %d", i, got)
		}
	}
	for i := range in.Words {
		if err := errors.Join(t.AppendText("answer", fmt.Sprintf("word%d ", i)), pause(ctx, 40*time.Millisecond)); err != nil {
			return "", err
		}
		if in.Fails && t.Attempt() == 1 && i == in.Words/2 {
			return "", supervision.RetryAfter(0, errors.New("not this time"))
		}
	}
	if in.Asks {
		if _, err := t.Ask(ctx, messages.InputRequired{Request: "go on", Prompt: "Go on?"}); err != nil {
			return "", err
		}
	}
	if in.Child {
		job, err := actors.Func("work", w.does).New(json.RawMessage(`{"words":3}`))
		if err != nil {
			return "", err
		}
		child, err := t.Start(ctx, job, actors.Options{Key: "part"})
		if err == nil {
			_, err = child.Wait(ctx)
		}
		if err != nil {
			return "", err
		}
	}
	return "done", t.FinishText("answer", words(in.Words))
}

func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// jobs are the jobs of each node. Its models are asked through the client.
func (w *world) jobs() []actors.Definition {
	work := actors.Func("work", w.does)
	work.Restart = true
	return []actors.Definition{work, prompt.Define(func() (prompt.Config, error) {
		return prompt.Config{Stream: w.model.Stream, Model: "m", Provider: "model.test"}, nil
	})}
}

// answer is the model's server: it says twenty words, or what the plan has it do for the run that its prompt names.
func (w *world) answer(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	out.Header().Set("Content-Type", "text/event-stream")
	trouble := ""
	for _, f := range w.plan.faults {
		if strings.HasPrefix(f.kind, "model") && strings.Contains(string(body), fmt.Sprintf("run %d.", f.run)) {
			trouble = f.kind
		}
	}
	say := func(frame string) { _, _ = io.WriteString(out, "data: "+frame+"\n\n"); out.(http.Flusher).Flush() }
	for i := range 20 {
		say(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":"token%d "}}]}`, i))
		if pause(r.Context(), 25*time.Millisecond) != nil {
			return
		}
		switch {
		case i < 10 || trouble == "":
		case trouble == modelStalls:
			<-r.Context().Done()
			return
		case trouble == modelCut:
			panic(http.ErrAbortHandler)
		case trouble == modelFails:
			say(`{"error":{"message":"out of memory"}}`)
			return
		case trouble == modelForgets:
			return
		}
	}
	say(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	say("[DONE]")
}

// newModel returns a client of the model's server.
func (w *world) newModel() (client *llm.Client, stop func(), err error) {
	http, stopServer := serve(standin.NewNetwork(), http.HandlerFunc(w.answer))
	if client, err = llm.New(llm.Config{BaseURL: "http://model.test/v1", Transport: http.Transport, Retries: -1}); err != nil {
		stopServer()
		return nil, nil, err
	}
	return client, func() { client.Close(); stopServer() }, nil
}

// fault is something that goes wrong in a world.
type fault struct {
	kind string
	at   time.Duration // since the world began
	node int           // 0 or 1
	run  int           // of a model's fault, and of a cancel
	n    int           // of the journal's faults: each n-th append
}

// kinds are what may go wrong. A world has one node at least that neither dies nor sleeps.
var kinds = []string{nodeDies, nodeSleeps, journalRefuses, journalSlow, journalUnsure, journalLoses, modelStalls, modelCut, modelFails,
	modelForgets, canceled, hungUp, drained}

const (
	nodeDies       = "node dies"
	nodeSleeps     = "node sleeps"      // a minute long it reaches no journal
	journalRefuses = "journal refuses"  // and takes the block when it comes again
	journalSlow    = "journal is slow"  // a second for a block
	journalUnsure  = "journal unsure"   // the block landed, and the node does not know
	journalLoses   = "journal loses"    // the block did not land, and the node does not know
	modelStalls    = "model stalls"     // after some words, for ever
	modelCut       = "model is cut"     // after some words
	modelFails     = "model fails"      // with an error in its stream
	modelForgets   = "model forgets"    // to end its stream
	canceled       = "cancel"           // by its user
	hungUp         = "connections lost" // the node's connections
	drained        = "node is closed"   // and hands its runs over
)

// plan is what happens in one world, besides what its seed decides.
type plan struct {
	seed   uint64
	faults []fault
}

func (p plan) String() string {
	said := make([]string, len(p.faults))
	for i, f := range p.faults {
		said[i] = fmt.Sprintf("%s (at %s, node %d, run %d, n %d)", f.kind, f.at, f.node, f.run, f.n)
	}
	return fmt.Sprintf("seed %d: %s", p.seed, strings.Join(said, ", "))
}

// without is the plan with one fault less.
func (p plan) without(i int) plan { return plan{p.seed, slices.Delete(slices.Clone(p.faults), i, i+1)} }

// runs is how many a world has.
const runs = 10

// newPlan returns the plan of the seed: up to four faults.
func newPlan(seed uint64) plan {
	dice, p := rand.New(rand.NewPCG(seed, 1)), plan{seed: seed}
	for range dice.IntN(5) {
		p.faults = append(p.faults, fault{kind: kinds[dice.IntN(len(kinds))], at: time.Duration(dice.IntN(4000)) * time.Millisecond,
			node: 1, run: dice.IntN(runs), n: 2 + dice.IntN(5)})
	}
	return p
}

// has reports whether the plan has a fault of one of the kinds.
func (p plan) has(kinds ...string) bool {
	return slices.ContainsFunc(p.faults, func(f fault) bool { return slices.Contains(kinds, f.kind) })
}

// reader follows one run through any door and node, is cut, and comes back with the cursor that the door gave it.
type reader struct {
	w      *world
	run    messages.RunID
	dice   *rand.Rand
	cursor string
	fold   messages.Fold
	texts  map[string]string // as an appending client holds them
	ended  bool
	began  time.Time
	at     time.Time // when it had the terminal
}

// patience is how long a reader waits for a run's end. Runs that ask, and nodes that sleep, take minutes.
const patience = 30 * time.Minute

func (r *reader) follow() {
	r.texts, r.began = map[string]string{}, time.Now()
	for !r.ended {
		if time.Since(r.began) > patience {
			r.w.complain("a reader of %s has no terminal after %s, with the cursor %s", r.run, patience, r.cursor)
			return
		}
		ctx, leave := context.WithTimeout(context.Background(), time.Minute)
		err := r.read(ctx, r.w.nodes[r.dice.IntN(2)], []string{"text/event-stream", "application/x-ndjson", "application/json"}[r.dice.IntN(3)])
		leave()
		if err != nil {
			time.Sleep(time.Second)
		}
	}
	r.at = time.Now()
}

// read reads from one node until the terminal, its own cut, or a cut of the server's.
func (r *reader) read(ctx context.Context, n *node, form string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://node/v1/runs/%s/events?wait=30s&after=%s", r.run, r.cursor), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", form)
	response, err := n.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		r.w.complain("a reader of %s that lacks its terminal is told that it has all", r.run)
		r.ended = true
		return nil
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	if form == "application/json" {
		return r.page(response)
	}
	lines, most := bufio.NewScanner(response.Body), 1+r.dice.IntN(60)
	lines.Buffer(nil, 1<<20)
	id, kind := "", ""
	for n := 0; n < most && !r.ended && lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case form != "text/event-stream" && line != "":
			var e struct {
				Seq    uint64
				Cursor string
				Type   messages.Kind
			}
			if json.Unmarshal([]byte(line), &e) != nil || e.Type == "" {
				return fmt.Errorf("told %s", line)
			}
			if e.Cursor == "" {
				e.Cursor = fmt.Sprint(e.Seq)
			}
			r.take(e.Cursor, line)
		case strings.HasPrefix(line, "id: "):
			id = line[len("id: "):]
		case strings.HasPrefix(line, "event: "):
			kind = line[len("event: "):]
		case strings.HasPrefix(line, "data: ") && (kind == "problem" || kind == "draining"):
			return fmt.Errorf("told %s", line)
		case strings.HasPrefix(line, "data: "):
			r.take(id, line[len("data: "):])
		}
	}
	return lines.Err()
}

func (r *reader) page(response *http.Response) error {
	var page struct {
		Events []json.RawMessage
		Next   json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return err
	}
	next := strings.Trim(string(page.Next), `"`)
	for _, line := range page.Events {
		r.take(next, string(line))
	}
	return nil
}

// take appends what an event says, and holds it to the law.
func (r *reader) take(cursor, line string) {
	var e messages.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		r.w.complain("a reader of %s gets %s: %v", r.run, line, err)
		return
	}
	if err := r.fold.Apply(e); err != nil {
		r.w.complain("a reader of %s with the cursor %s: %v", r.run, r.cursor, err)
	}
	r.cursor, r.ended = cursor, e.IsTerminal()
	r.append(e.Body)
	if e.IsDelta() {
		return
	}
	for _, stream := range r.fold.Peek().Streams { // a milestone may take text back, and close it with more
		if had := r.texts[stream.Name]; had != stream.Text() {
			if len(stream.Text()) > len(had) && !stream.Closed {
				r.w.complain("a reader of %s has %q of %s, which has %q", r.run, had, stream.Name, stream.Text())
			}
			r.texts[stream.Name] = stream.Text()
		}
	}
}

func (r *reader) append(body messages.Body) {
	switch b := body.(type) {
	case messages.TextDelta:
		if had := r.texts[b.Stream]; len(had) != b.Offset {
			r.w.complain("a reader of %s has %d bytes of %s, and gets those from %d", r.run, len(had), b.Stream, b.Offset)
		}
		r.texts[b.Stream] += b.Text
	case messages.Merged:
		for _, part := range b.Parts {
			r.append(part)
		}
	}
}
