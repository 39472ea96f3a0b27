package testkit_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// sqliteFigures are about the journal of one node, with a sync for each commit.
func sqliteFigures() []figure {
	var blocks []arrival // of the load that was measured last
	return []figure{{
		name: "SQLite, 200 runs at 80 tokens a second, p99 of an append", unit: "ms", goal: 2,
		ours: func(t *testing.T) float64 {
			load := loadSQLite(t)
			blocks = load.blocks
			return load.p99
		},
		baseline: func(t *testing.T) float64 { return bareInserts(t, blocks) },
	}, {
		name: "SQLite, 200 runs at 80 tokens a second, CPU of a core beyond that in memory", unit: "%", goal: 30,
		ours: func(t *testing.T) float64 {
			inMemory := underLoad(t, actors.NewMemoryJournal()).cpu
			return loadSQLite(t).cpu - inMemory
		},
	}, {
		name: "SQLite, 200 runs at 80 tokens a second, p99 from token to reader", unit: "ms", goal: 5,
		ours: func(t *testing.T) float64 { return loadSQLite(t).tail },
	}, {
		name: "SQLite, restart with 1,000,000 events and 20 orphans", unit: "ms", goal: 1000, ours: restartSQLite(),
	}, {
		name: "SQLite, a run of 10,000 events read back", unit: "ms", goal: 50, ours: readSQLite,
	}}
}

func openSQLite(t *testing.T, dir string) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// journalLoad is what a load has measured: the p99 of the appends and from a token to its reader in milliseconds, the
// share of a core in percent, and the blocks.
type journalLoad struct {
	p99, tail, cpu float64
	blocks         []arrival
}

// arrival is when a block came after the beginning, and its size.
type arrival struct {
	at   time.Duration
	size int
}

const (
	loadRuns   = 200
	loadTime   = 5 * time.Second
	tokenEvery = time.Second / 80
)

// timed measures the appends of a journal.
type timed struct {
	actors.Journal
	begin  time.Time
	mu     sync.Mutex
	took   []float64
	blocks []arrival
}

func (j *timed) Append(b actors.Block, done func(error)) {
	begin := time.Now()
	j.Journal.Append(b, func(err error) {
		took := time.Since(begin)
		size := 0
		for _, e := range b.Events {
			line, _ := e.JSON()
			size += len(line)
		}
		j.mu.Lock()
		j.took, j.blocks = append(j.took, milliseconds(took)), append(j.blocks, arrival{begin.Sub(j.begin), size})
		j.mu.Unlock()
		done(err)
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func p99(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)*99/100]
}

func loadSQLite(t *testing.T) journalLoad {
	j := openSQLite(t, t.TempDir())
	defer j.Close()
	return underLoad(t, j)
}

// underLoad runs the load. One reader follows each run; tokens carry the time when they were said.
func underLoad(t *testing.T, kept actors.Journal) (load journalLoad) {
	begin := time.Now()
	j := &timed{Journal: kept, begin: begin}
	s, done := newSystem(t, actors.Config{Journal: j, MaxRuns: loadRuns})
	job := actors.Job{Name: "load", Tasks: []actors.Task{{Name: "work", Run: func(_ context.Context, task *actors.TaskContext) error {
		tick := time.NewTicker(tokenEvery)
		defer tick.Stop()
		for born := time.Now(); time.Since(born) < loadTime; {
			<-tick.C
			if err := task.Say("answer", fmt.Sprintf("%012d ", time.Since(begin))); err != nil {
				return err
			}
		}
		return nil
	}}}}
	var mu sync.Mutex
	var late []float64
	var readers sync.WaitGroup
	before := cpuTime()
	for range loadRuns {
		time.Sleep(time.Second / 10 / loadRuns) // so that runs neither begin nor end together
		run, err := s.Start(t.Context(), job, actors.Options{})
		if err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			var mine []float64
			for e, err := range run.Events(t.Context(), 0) {
				if err != nil {
					t.Error(err)
					return
				}
				if d, ok := e.Body.(messages.TextDelta); ok {
					said, err := strconv.Atoi(d.Text[:12])
					if err != nil {
						t.Error(err)
					}
					mine = append(mine, milliseconds(time.Since(begin)-time.Duration(said)))
				}
			}
			mu.Lock()
			late = append(late, mine...)
			mu.Unlock()
		})
	}
	readers.Wait()
	load.cpu = 100 * float64(cpuTime()-before) / float64(time.Since(begin))
	done()
	load.p99, load.tail, load.blocks = p99(j.took), p99(late), j.blocks
	t.Logf("%d blocks, p99 %.2f ms; %d tokens read, p99 %.2f ms; %.0f %% of a core", len(j.took), load.p99, len(late), load.tail, load.cpu)
	return load
}

// bareInserts is the p99 of a loop that inserts the same blocks as they come, each in a transaction of its own.
func bareInserts(t *testing.T, blocks []arrival) float64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE blocks (n INTEGER PRIMARY KEY, body BLOB)"); err != nil {
		t.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO blocks (body) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	slices.SortFunc(blocks, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	var took []float64
	begin := time.Now()
	for _, b := range blocks {
		body := []byte(strings.Repeat("x", b.size))
		time.Sleep(b.at - time.Since(begin))
		if _, err := insert.Exec(body); err != nil {
			t.Fatal(err)
		}
		took = append(took, milliseconds(time.Since(begin)-b.at))
	}
	return p99(took)
}

// longLog returns the blocks of a log of n events that cannot be merged, a hundred in each.
func longLog(run messages.RunID, n int, ends bool) (blocks []actors.Block) {
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
	b := actors.Block{Run: run, Writer: "bench"}
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
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
		j := openSQLite(t, dir)
		appendLogs(t, j, 20, 1000, false)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		j = openSQLite(t, dir)
		s, err := actors.New(context.Background(), actors.Config{Journal: j})
		if err != nil {
			t.Fatal(err)
		}
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
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = openSQLite(t, dir)
	defer j.Close()
	begin := time.Now()
	n := 0
	for after := uint64(0); ; {
		page, err := j.Read(t.Context(), run, after)
		if err != nil {
			t.Fatal(err)
		}
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
