package testkit_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

func TestMemoryJournal(t *testing.T) {
	testkit.TestJournal(t, openMemory)
}

func TestMemoryRuntime(t *testing.T) {
	testkit.TestRuntime(t, openMemory)
}

func openMemory(*testing.T) (actors.Journal, journal.Reader) {
	j := journal.NewMemory()
	return j, j
}

func TestJournalWrapper(t *testing.T) {
	testkit.TestJournal(t, func(*testing.T) (actors.Journal, journal.Reader) {
		kept := journal.NewMemory()
		slow := func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: time.Microsecond} }
		return &testkit.Journal{Journal: kept, Disturb: slow}, kept
	})
}

func TestSystemEvents(t *testing.T) {
	testkit.TestStream(t, func(_ *testing.T, s *actors.System) testkit.Events { return s.Events })
}

func TestRepository(t *testing.T) {
	dir := testkit.Repository(t, []byte("-- go.mod --\nmodule m\n-- a/b/c.go --\npackage b\n"))
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if want := []string{"a/b/c.go", "go.mod"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("the repository holds %v (%v), want %v", names, err, want)
	}
}

// TestCheckRefuses breaks a log in every way that Check is to see.
func TestCheckRefuses(t *testing.T) {
	whole := log(t, testkit.Script{Analyze: []testkit.Step{{Do: testkit.Say, Text: "word ", Times: 3}}})
	if err := testkit.CheckLog(0, whole); err != nil {
		t.Fatalf("the whole log: %v", err)
	}
	last := len(whole) - 1
	breakAt := func(i int, f func(*messages.Event)) []messages.Event {
		events := slices.Clone(whole)
		f(&events[i])
		return events
	}
	for name, events := range map[string][]messages.Event{
		"empty":                 nil,
		"without its terminal":  whole[:last],
		"without its beginning": whole[1:],
		"with a hole":           slices.Delete(slices.Clone(whole), 3, 4),
		"with an event twice":   slices.Insert(slices.Clone(whole), 3, whole[3]),
		"in another order":      append(slices.Clone(whole[:last-1]), whole[last], whole[last-1]),
		"with two terminals":    append(slices.Clone(whole), renumber(whole[last], whole[last].Seq+1)),
		"of two runs":           breakAt(4, func(e *messages.Event) { e.RunID = "r_other" }),
		"that reaches back":     breakAt(4, func(e *messages.Event) { e.From = 1 }),
		"from nowhere":          breakAt(4, func(e *messages.Event) { e.From = 0 }),
		"with an illegal event": breakAt(2, func(e *messages.Event) { e.Body = messages.TaskCompleted{Task: "x", Attempt: 1} }),
	} {
		if testkit.CheckLog(0, events) == nil {
			t.Errorf("a log %s passes", name)
		}
	}
}

func renumber(e messages.Event, seq uint64) messages.Event {
	e.From, e.Seq = seq, seq
	return e
}

// log runs the script and returns its events.
func log(t *testing.T, script testkit.Script) []messages.Event {
	t.Helper()
	s, err := actors.New(t.Context(), actors.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	run, err := s.Start(t.Context(), script.Job(), actors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []messages.Event
	for e, err := range run.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// TestScript plays every step.
func TestScript(t *testing.T) {
	gate := make(chan struct{})
	close(gate)
	for _, c := range []struct {
		steps []testkit.Step
		want  messages.Code // "" completes
	}{
		{steps: []testkit.Step{{Do: testkit.Say, Text: "a", Times: 2}, {Do: testkit.Said, Text: "aa"}}},
		{steps: []testkit.Step{{Do: testkit.Log, Text: "line"}, {Do: testkit.Report, Done: 1, Total: 1}}},
		{steps: []testkit.Step{{Do: testkit.Emit, Body: messages.ToolStarted{Call: "c", Tool: "t"}}}},
		{steps: []testkit.Step{{Do: testkit.Sleep, For: time.Minute}, {Do: testkit.Await, Gate: gate}}},
		{steps: []testkit.Step{{Do: testkit.Deaf, Gate: gate}}},
		{steps: []testkit.Step{{Do: testkit.Retry, Attempt: 1}}},
		{steps: []testkit.Step{{Do: testkit.Retry}}, want: messages.CauseError},
		{steps: []testkit.Step{{Do: testkit.Fail, Text: "no"}}, want: messages.CauseError},
		{steps: []testkit.Step{{Do: "dance"}}, want: messages.CauseError},
		{steps: []testkit.Step{{Do: testkit.Panic}}, want: messages.CausePanic},
		{steps: []testkit.Step{{Do: testkit.NilMap}}, want: messages.CausePanic},
		{steps: []testkit.Step{{Do: testkit.PanicNil}}, want: messages.CausePanic},
		{steps: []testkit.Step{{Do: testkit.Goexit}}, want: messages.CausePanic},
		{steps: []testkit.Step{{Do: testkit.PanicInGo}}, want: messages.CausePanic},
		{steps: []testkit.Step{{Do: testkit.Hang}}, want: messages.CauseDeadline},
	} {
		synctest.Test(t, func(t *testing.T) {
			events := log(t, testkit.Script{Analyze: c.steps, Deadline: 2 * time.Minute})
			if err := testkit.CheckLog(0, events); err != nil {
				t.Fatalf("%+v: %v", c.steps, err)
			}
			switch end := events[len(events)-1].Body.(type) {
			case messages.RunFailed:
				if end.Cause != c.want || end.Task != testkit.Analyze {
					t.Errorf("%+v: failed with %s in %s, want %q", c.steps, end.Cause, end.Task, c.want)
				}
			case messages.RunCompleted:
				if c.want != "" {
					t.Errorf("%+v: completed, want %q", c.steps, c.want)
				}
			}
		})
	}
}

// TestJournalDisturbs appends a block twice, a minute apart, the first time under a disturbance. It looks at what was
// answered and what landed by then.
func TestJournalDisturbs(t *testing.T) {
	for name, c := range map[string]struct {
		disturb testkit.Disturbance
		want    error
		answers int           // to the first, before the second
		landed  bool          // before the second
		takes   time.Duration // until the answer
		blocks  time.Duration
	}{
		"calm": {answers: 1, landed: true},
		"slow": {answers: 1, disturb: testkit.Disturbance{Delay: time.Second}, landed: true, takes: time.Second},
		"blocked": {answers: 1, disturb: testkit.Disturbance{Delay: time.Second, Block: true}, landed: true,
			takes: time.Second, blocks: time.Second},
		"refused": {answers: 1, disturb: testkit.Disturbance{Refuse: true}, want: journal.ErrRefused},
		"unknown": {answers: 1, disturb: testkit.Disturbance{Unknown: true}, want: journal.ErrUnknown, landed: true},
		"lost":    {answers: 1, disturb: testkit.Disturbance{Unknown: true, Lose: true}, want: journal.ErrUnknown},
		"lied":    {answers: 1, disturb: testkit.Disturbance{Lose: true}},
		"twice":   {disturb: testkit.Disturbance{Twice: true}, answers: 2, landed: true},
		"late":    {disturb: testkit.Disturbance{Late: true}},
		"panics":  {disturb: testkit.Disturbance{Panic: true}},
		"gated":   {answers: 1, disturb: testkit.Disturbance{Gate: make(chan struct{})}, landed: true, takes: 30 * time.Second},
		"shut": {answers: 1, disturb: testkit.Disturbance{Gate: make(chan struct{}), Block: true}, landed: true,
			takes: 30 * time.Second, blocks: 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			if c.disturb.Gate != nil {
				gate := make(chan struct{}) // of this bubble
				c.disturb.Gate = gate
				time.AfterFunc(30*time.Second, func() { close(gate) })
			}
			first := true
			j := &testkit.Journal{Journal: journal.NewMemory(), Disturb: func(journal.Block) (d testkit.Disturbance) {
				if first {
					first, d = false, c.disturb
				}
				return d
			}}
			event := messages.Event{RunID: "r_x", From: 1, Seq: 1, Body: messages.RunQueued{Job: "x", Mode: messages.Detached}}
			b := journal.Block{Run: "r_x", ID: journal.BlockID{1}, Events: []messages.Event{event}}
			begin := time.Now()
			answers := make(chan error, 2)
			took := make(chan time.Duration, 1)
			func() {
				defer func() {
					if panicked := recover() != nil; panicked != c.disturb.Panic {
						t.Errorf("%s: panicked %t", name, panicked)
					}
				}()
				j.Append(b, func(err error) {
					select {
					case took <- time.Since(begin):
					default:
					}
					answers <- err
				})
			}()
			if blocked := time.Since(begin); blocked != c.blocks {
				t.Errorf("%s: Append blocked for %s", name, blocked)
			}
			time.Sleep(time.Minute)
			if n := len(answers); n != c.answers {
				t.Errorf("%s: %d answers", name, n)
			}
			for range len(answers) {
				if err := <-answers; !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v", name, err, c.want)
				}
			}
			if len(took) > 0 {
				if d := <-took; d != c.takes {
					t.Errorf("%s: answered after %s, want %s", name, d, c.takes)
				}
			}
			page, _ := j.Read(context.Background(), "r_x", 0)
			if landed := len(page.Events) == 1; landed != c.landed {
				t.Errorf("%s: landed %t, want %t", name, landed, c.landed)
			}
			again := make(chan error, 1)
			j.Append(b, func(err error) { again <- err })
			if err := <-again; err != nil {
				t.Errorf("%s: sent again: %v", name, err)
			}
			if c.disturb.Late && len(answers) != 1 {
				t.Errorf("%s: %d answers once it was sent again", name, len(answers))
			}
		})
	}
}

func TestPlansAreReproducible(t *testing.T) {
	cells := map[testkit.Cell]bool{}
	for seed := range uint64(len(testkit.Cells())) {
		p := testkit.NewFaultPlan(seed)
		if again := testkit.NewFaultPlan(seed); again.String() != p.String() {
			t.Errorf("seed %d makes %s and %s", seed, p, again)
		}
		cells[testkit.Cell{Fault: p.Faults[0], Cancel: p.Cancel}] = true
	}
	if len(cells) != len(testkit.Cells()) {
		t.Errorf("a stretch of seeds has %d of %d cells", len(cells), len(testkit.Cells()))
	}
	if pair := testkit.NewFaultPlan(uint64(len(cells))); len(pair.Faults) != 2 {
		t.Errorf("the second stretch begins with %s, want a pair", pair)
	}
}
