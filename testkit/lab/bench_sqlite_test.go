package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// sqliteFigures are about the journal of one node, with a sync for each commit.
func sqliteFigures() []figure {
	return []figure{
		{name: "SQLite, restart with 1,000,000 events and 20 orphans", unit: "ms", goal: 1000, ours: restartSQLite()},
		{name: "SQLite, a run of 10,000 events read back", unit: "ms", goal: 50, ours: readSQLite},
	}
}

func openSQLite(t *testing.T, dir string) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(dir)
	must(t, err)
	return j
}

// longLog returns the blocks of a log of n events that cannot be merged, a hundred in each.
func longLog(run messages.RunID, n int, ends bool) (blocks []journal.Block) {
	bodies := []messages.Body{messages.RunQueued{Job: "long", Mode: messages.Detached}, messages.RunStarted{Node: "bench", Epoch: 1},
		messages.TaskStarted{Task: "work", Attempt: 1}}
	for i := 0; len(bodies) < n-2; i++ {
		id := fmt.Sprint(i)
		bodies = append(bodies, messages.ToolStarted{Call: id, Task: "work", Tool: "search", Arguments: json.RawMessage(`{"query":"a park"}`)},
			messages.ToolCompleted{Call: id, Task: "work", Result: json.RawMessage(`"three results about gardens and parks"`)})
	}
	if ends {
		bodies = append(bodies, messages.TaskCompleted{Task: "work", Attempt: 1},
			messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}})
	}
	b := journal.Block{Run: run, Writer: "bench"}
	for i, body := range bodies {
		seq := uint64(i + 1)
		b.Events = append(b.Events, messages.Event{RunID: run, Seq: seq, From: seq, Time: time.Now().UTC(), Body: body})
		if len(b.Events) == 100 || i == len(bodies)-1 {
			copy(b.ID[:], messages.NewRunID()[2:])
			blocks = append(blocks, b)
			b.After, b.Epoch, b.Events = b.Head(), 1, nil
		}
	}
	return blocks
}

// appendLogs appends the logs of n runs, all at once.
func appendLogs(t *testing.T, j actors.Journal, n, events int, ends bool) (runs []messages.RunID) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		run := messages.NewRunID()
		runs = append(runs, run)
		all.Go(func() {
			for _, b := range longLog(run, events, ends) {
				answer := make(chan error, 1)
				j.Append(b, func(err error) { answer <- err })
				if err := <-answer; err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return runs
}

// restartSQLite is the time to open a journal and to end what was orphaned.
func restartSQLite() func(t *testing.T) float64 {
	var dir string
	return func(t *testing.T) float64 {
		if dir == "" {
			dir = t.TempDir()
			j := openSQLite(t, dir)
			for range 20 {
				appendLogs(t, j, 50, 1000, true)
			}
			must(t, j.Close())
		}
		j := openSQLite(t, dir)
		appendLogs(t, j, 20, 1000, false)
		must(t, j.Close())
		begin := time.Now()
		j = openSQLite(t, dir)
		s, err := actors.New(context.Background(), actors.Config{Journal: j})
		must(t, err)
		took := milliseconds(time.Since(begin))
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		return took
	}
}

// readSQLite is the time to read a log from a journal that was just opened.
func readSQLite(t *testing.T) float64 {
	const events = 10_000
	dir := t.TempDir()
	j := openSQLite(t, dir)
	run := appendLogs(t, j, 1, events, true)[0]
	must(t, j.Close())
	j = openSQLite(t, dir)
	defer j.Close()
	begin := time.Now()
	n := 0
	for after := uint64(0); ; {
		page, err := j.Read(t.Context(), run, after)
		must(t, err)
		if n += len(page.Events); len(page.Events) == 0 {
			break
		}
		after = page.Events[len(page.Events)-1].Seq
	}
	took := milliseconds(time.Since(begin))
	if n < events {
		t.Errorf("%d events, want %d", n, events)
	}
	return took
}
