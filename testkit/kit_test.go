package testkit_test

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

func TestMemoryJournal(t *testing.T) { testkit.TestJournal(t, openMemory) }

func TestMemoryRuntime(t *testing.T) { testkit.TestRuntime(t, openMemory) }

func openMemory(*testing.T) (actors.Journal, journal.Reader) {
	j := journal.NewMemory()
	return j, j
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
	whole := log(t, faultplan.Script{Analyze: []faultplan.Step{{Do: faultplan.Say, Text: "word ", Times: 3}}})
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
func log(t *testing.T, script faultplan.Script) []messages.Event {
	t.Helper()
	s := faultplan.Open(t, actors.Config{})
	run, err := s.Start(t.Context(), script.Job(), actors.Options{})
	must(t, err)
	var events []messages.Event
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		events = append(events, e)
	}
	return events
}

var must = fatal.IfError
