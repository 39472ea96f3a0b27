package world

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

var seed = flag.Int64("seed", -1, "simulate the world of this seed alone")

// worlds is how many worlds TestWorlds simulates, of ten runs each: 10,000 with LASTWORD_SIM=1, or those of
// LASTWORD_SIM_RUNS.
func worlds() uint64 {
	switch n, err := strconv.ParseUint(os.Getenv("LASTWORD_SIM_RUNS"), 10, 64); {
	case err == nil:
		return n / runs
	case os.Getenv("LASTWORD_SIM") != "":
		return 10_000
	}
	return 40
}

// Each run of each world has one end, and each reader holds what the journal holds. A world that fails is named, with
// the fewest faults that still fail.
func TestWorlds(t *testing.T) {
	first, last := uint64(0), worlds()
	if *seed >= 0 {
		first, last = uint64(*seed), uint64(*seed)+1
	}
	for s := first; s < last && !t.Failed(); s++ {
		p := newPlan(s)
		t.Run(fmt.Sprint("seed ", s), func(t *testing.T) {
			if bad := simulate(t, p); len(bad) > 0 {
				t.Errorf("%s\ngo test ./world -run TestWorlds -seed %d", strings.Join(bad, "\n"), s)
				t.Errorf("it needs no more than %s", shrink(t, p))
			}
		})
	}
}

// shrink takes faults away as long as one of ten simulations still fails.
func shrink(t *testing.T, p plan) plan {
	for i := 0; i < len(p.faults); {
		fewer, fails := p.without(i), false
		for n := 0; n < 10 && !fails; n++ {
			fails = len(simulate(t, fewer)) > 0
		}
		if fails {
			p = fewer
		} else {
			i++
		}
	}
	return p
}

type world struct {
	plan  plan
	nodes [2]*node
	model *llm.Client

	mu         sync.Mutex
	complaints []string
	started    []messages.RunID
	readers    []*reader
	canceled   map[messages.RunID]time.Time // when the cancel was accepted
}

func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complaints = append(w.complaints, fmt.Sprintf(format, args...))
}

// simulate plays the plan in a bubble, and returns what is wrong. One world in fifty keeps its journal in SQLite.
func simulate(t *testing.T, p plan) []string {
	w, folder := &world{plan: p, canceled: map[messages.RunID]time.Time{}}, ""
	if p.seed%50 == 7 {
		folder = t.TempDir()
	}
	synctest.Test(t, func(t *testing.T) {
		var store journal.Journal = journal.NewMemory()
		if folder != "" {
			kept, err := sqlite.Open(folder)
			must(t, err)
			defer kept.Close()
			store = kept
		}
		w.play(t, store)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.complaints
}

func (w *world) play(t *testing.T, store journal.Journal) {
	defer time.Sleep(5 * time.Minute) // what is bounded ends; what is left then fails the test
	client, stop, err := w.newModel()
	must(t, err)
	defer stop()
	w.model = client
	for i := range w.nodes {
		w.nodes[i], err = newNode(string(rune('a'+i)), store, w.jobs(), w.disturber(i))
		must(t, err)
		defer w.nodes[i].close()
	}
	for _, f := range w.plan.faults {
		time.AfterFunc(f.at, func() { w.strike(f) })
	}
	var all sync.WaitGroup
	for i := range runs {
		dice := rand.New(rand.NewPCG(w.plan.seed, uint64(10+i)))
		all.Go(func() { w.use(i, dice, &all) })
	}
	all.Wait()
	w.judge(t, store)
}

// disturber says what happens to each append of the node.
func (w *world) disturber(number int) func() testkit.Disturbance {
	var n atomic.Int64
	began := time.Now()
	return func() (d testkit.Disturbance) {
		at := n.Add(1)
		for _, f := range w.plan.faults {
			if f.node != number || at%int64(f.n) != 0 || time.Since(began) < f.at {
				continue
			}
			switch f.kind {
			case journalRefuses:
				d.Refuse = true
			case journalSlow:
				d.Delay = time.Second
			case journalUnsure:
				d.Unknown = true
			case journalLoses:
				d.Unknown, d.Lose = true, true
			}
		}
		return d
	}
}

// strike makes a fault of a node happen, or a cancel.
func (w *world) strike(f fault) {
	n := w.nodes[f.node]
	switch f.kind {
	case nodeDies:
		n.link.gone.Store(true)
	case nodeSleeps:
		n.link.sleep(time.Minute)
	case hungUp:
		n.net.HangUp()
	case drained:
		n.close()
	case canceled:
		w.mu.Lock()
		var id messages.RunID
		if f.run < len(w.started) {
			id = w.started[f.run]
		}
		w.mu.Unlock()
		if id != "" {
			w.cancel(id)
		}
	}
}

func (w *world) cancel(id messages.RunID) {
	if _, err := w.post(w.nodes[0], "/v1/runs/"+string(id)+"/cancel", `{}`); err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.canceled[id] = time.Now()
	}
}

// use starts a run, and follows it with two readers. One run in five is a request of AG-UI, one of chat completions.
func (w *world) use(i int, dice *rand.Rand, all *sync.WaitGroup) {
	time.Sleep(time.Duration(dice.IntN(2000)) * time.Millisecond)
	body := fmt.Sprintf(`{"job":"prompt","input":{"text":"Tell me about run %d."}}`, i)
	switch n := dice.IntN(10); {
	case n < 2:
		w.dialect(i, "/agui", fmt.Sprintf(`{"threadId":"c","runId":"%d","protocolVersion":"1.0","forwardedProps":{"job":"prompt"},`+
			`"messages":[{"id":"u","role":"user","content":"Tell me about run %d."}]}`, i, i), `"outcome":{"type":"success"}`)
		return
	case n < 4:
		w.dialect(i, "/v1/chat/completions", fmt.Sprintf(`{"model":"prompt","stream":true,"messages":[{"role":"user","content":"Tell me about run %d."}]}`, i), "data: [DONE]")
		return
	case n < 8:
		in, _ := json.Marshal(work{Words: 1 + dice.IntN(40), Fails: dice.IntN(3) == 0, Asks: dice.IntN(3) == 0, Child: dice.IntN(4) == 0, Steps: dice.IntN(3)})
		body = fmt.Sprintf(`{"job":"work","input":%s}`, in)
	}
	id := w.start(fmt.Sprint("key ", i), body)
	if id == "" {
		return
	}
	all.Go(func() { w.people(id) })
	if wait := time.Duration(dice.IntN(9000)) * time.Millisecond; wait < 1500*time.Millisecond {
		all.Go(func() { time.Sleep(wait); w.cancel(id) })
	}
	for n := range 2 {
		r := &reader{w: w, run: id, dice: rand.New(rand.NewPCG(w.plan.seed, uint64(100*i+n)))}
		w.mu.Lock()
		w.readers = append(w.readers, r)
		w.mu.Unlock()
		all.Go(func() { time.Sleep(time.Duration(r.dice.IntN(3000)) * time.Millisecond); r.follow() })
	}
}

func (w *world) post(n *node, path, body string, header ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := n.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %s", response.StatusCode, said)
	}
	return string(said), err
}

// start starts a run, at any node that takes it.
func (w *world) start(key, body string) messages.RunID {
	for n := range 20 {
		said, err := w.post(w.nodes[n%2], "/v1/runs", body, "Idempotency-Key", key)
		var state messages.State
		if err == nil && json.Unmarshal([]byte(said), &state) == nil {
			w.mu.Lock()
			w.started = append(w.started, state.RunID)
			w.mu.Unlock()
			return state.RunID
		}
		time.Sleep(5 * time.Second)
	}
	w.complain("no node takes a run: %s", body)
	return ""
}

// dialect sends a request whose answer is a run. What says the end of a success comes only after one.
func (w *world) dialect(i int, path, body, success string) {
	said, err := w.post(w.nodes[i%2], path, body)
	whole := strings.Contains(said, "token19 ") || strings.Contains(said, `"token19 "`)
	if strings.Contains(said, success) && (err != nil || !whole) {
		w.complain("%s tells a success of what was cut: %v\n%s", path, err, said)
	}
	if err == nil && !strings.Contains(said, success) && !strings.Contains(strings.ToLower(said), "error") && !strings.Contains(said, "cancel") {
		w.complain("%s tells no end:\n%s", path, said)
	}
}

// people answers what the run asks.
func (w *world) people(id messages.RunID) {
	for began := time.Now(); time.Since(began) < patience; time.Sleep(2 * time.Second) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		state, err := w.nodes[0].system.State(ctx, id)
		if err == nil && !state.Status.IsEnded() {
			for _, in := range state.Inputs {
				if !in.Closed {
					_ = w.nodes[0].system.Answer(ctx, id, in.Request, json.RawMessage(`"yes"`), "")
				}
			}
		}
		cancel()
		if err == nil && state.Status.IsEnded() {
			return
		}
	}
}

// judge holds each log to the laws, and each reader to its log.
func (w *world) judge(t *testing.T, store journal.Journal) {
	var list []messages.Summary
	going := func(s messages.Summary) bool { return !s.Status.IsEnded() }
	for began := time.Now(); list == nil || slices.ContainsFunc(list, going) && time.Since(began) < patience; time.Sleep(10 * time.Second) {
		var err error
		list, err = store.List(t.Context(), messages.Query{Limit: 1000})
		must(t, err)
	}
	ends := map[messages.RunID]messages.State{}
	for _, s := range list {
		events, state := w.log(t, store, s.RunID)
		if err := testkit.CheckLog(0, events); err != nil {
			w.complain("the log of %s: %v", s.RunID, err)
		}
		if !state.Status.IsEnded() || s.Status != state.Status {
			w.complain("run %s is %s, and listed as %s", s.RunID, state.Status, s.Status)
		}
		w.inTime(events)
		ends[s.RunID] = state
	}
	for _, r := range w.readers {
		state, held := ends[r.run], r.fold.State()
		if !r.ended {
			continue // it has complained
		}
		if late := r.at.Sub(later(state.UpdatedAt, r.began)); late > 5*time.Second && w.isWell() && !w.plan.has(hungUp) {
			w.complain("a reader of %s has its terminal after %s", r.run, late)
		}
		for _, stream := range state.Streams {
			if r.texts[stream.Name] != stream.Text() {
				w.complain("a reader of %s holds %q of %s, which is %q", r.run, r.texts[stream.Name], stream.Name, stream.Text())
			}
		}
		if a, b := asJSON(t, held), asJSON(t, state); !bytes.Equal(a, b) {
			w.complain("a reader of %s holds\n%s\nand the journal\n%s", r.run, a, b)
		}
	}
}

func (w *world) log(t *testing.T, store journal.Journal, id messages.RunID) (events []messages.Event, state messages.State) {
	var fold messages.Fold
	for {
		page, err := store.Read(t.Context(), id, fold.Peek().Seq)
		must(t, err)
		if len(page.Events) == 0 {
			return events, fold.State()
		}
		for _, e := range page.Events {
			if err := fold.Apply(e); err != nil {
				w.complain("the log of %s: %v", id, err)
				return events, fold.State()
			}
			events = append(events, e)
		}
	}
}

// isWell reports whether nodes and journal are without a fault.
func (w *world) isWell() bool {
	return !w.plan.has(nodeDies, nodeSleeps, drained, journalRefuses, journalSlow, journalUnsure, journalLoses)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// inTime requires that a cancel which was accepted is in the log, unless the run had ended. Where nodes and journal are
// well it ends its run within a quarter of a second: all work here heeds its context.
func (w *world) inTime(events []messages.Event) {
	last := events[len(events)-1]
	i := slices.IndexFunc(events, func(e messages.Event) bool { return e.Kind() == messages.KindRunCanceling })
	w.mu.Lock()
	at, asked := w.canceled[last.RunID]
	w.mu.Unlock()
	if asked && i < 0 && last.Time.After(at) {
		w.complain("the cancel of %s was accepted and forgotten", last.RunID)
	}
	if i >= 0 && w.isWell() && last.Time.Sub(events[i].Time) > 250*time.Millisecond {
		w.complain("the cancel of %s took %s", last.RunID, last.Time.Sub(events[i].Time))
	}
}

func asJSON(t *testing.T, v any) []byte {
	data, err := json.Marshal(v)
	must(t, err)
	return data
}

var must = fatal.IfError
