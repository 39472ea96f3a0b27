package lab_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// journalFigures put the same load on each journal. The baseline of a store is a bare loop of the same blocks.
func journalFigures() []figure {
	const load = "200 runs at 80 tokens a second, "
	memory, folder := loaded(inMemory), loaded(openFolder)
	cpu := func(l journalLoad) float64 { return l.cpu }
	figures := []figure{{name: load + "CPU of a core beyond that in memory, SQLite", unit: "%", goal: 30,
		ours: beyond(folder.tell(cpu), memory.tell(cpu))}}
	for _, s := range []struct {
		name string
		load *look[journalLoad]
		bare func(*testing.T, []arrival) float64
		goal float64
	}{
		{name: "memory", load: memory, goal: 1},
		{name: "SQLite", load: folder, bare: bareInserts, goal: 2},
		{name: "NATS, 1 server", load: loaded(openNATS(1)), bare: barePublishes(1), goal: 2},
		{name: "NATS, 3 replicas", load: loaded(openNATS(3)), bare: barePublishes(3), goal: 2},
	} {
		p99 := figure{name: load + "p99 of an append, " + s.name, unit: "ms", goal: s.goal,
			ours: s.load.tell(func(l journalLoad) float64 { return l.p99 })}
		if s.bare != nil {
			p99.baseline = func(t *testing.T) float64 { return s.bare(t, s.load.last().blocks) }
		}
		figures = append(figures, p99, figure{name: load + "p99 from token to reader, " + s.name, unit: "ms", goal: 5,
			ours: s.load.tell(func(l journalLoad) float64 { return l.tail })})
	}
	return figures
}

// beyond is what one figure has more than another.
func beyond(ours, base func(*testing.T) float64) func(*testing.T) float64 {
	return func(t *testing.T) float64 { return ours(t) - base(t) }
}

// loaded is the load on a journal that is opened for it.
func loaded(open func(*testing.T) (j actors.Journal, stop func())) *look[journalLoad] {
	return &look[journalLoad]{take: func(t *testing.T) journalLoad {
		j, stop := open(t)
		defer stop()
		return underLoad(t, j)
	}}
}

func inMemory(*testing.T) (actors.Journal, func()) { return journal.NewMemory(), func() {} }

func openFolder(t *testing.T) (actors.Journal, func()) {
	j := openSQLite(t, t.TempDir())
	return j, func() { _ = j.Close() }
}

func openNATS(servers int) func(*testing.T) (actors.Journal, func()) {
	return func(t *testing.T) (actors.Journal, func()) {
		s, stop := jetStream(t, servers)
		j, err := nats.Open(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)), nats.Replicas(servers))
		must(t, err)
		return j, func() { _ = j.Close(); stop() }
	}
}

// journalLoad is what a load has measured: the p99 of the appends and from a token to its reader in milliseconds, the
// share of a core in percent, and the blocks.
type journalLoad struct {
	p99, tail, cpu float64
	blocks         []arrival
}

// arrival is when a block came after the beginning, and its size.
type arrival struct {
	run  messages.RunID
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

func (j *timed) Append(b journal.Block, done func(error)) {
	begin := time.Now()
	j.Journal.Append(b, func(err error) {
		took, size := time.Since(begin), 0
		for _, e := range b.Events {
			line, _ := e.JSON()
			size += len(line)
		}
		j.mu.Lock()
		j.took, j.blocks = append(j.took, milliseconds(took)), append(j.blocks, arrival{b.Run, begin.Sub(j.begin), size})
		j.mu.Unlock()
		done(err)
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func p99(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)*99/100]
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
			if err := task.AppendText("answer", fmt.Sprintf("%012d ", time.Since(begin))); err != nil {
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
		must(t, err)
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
	t.Logf("%d blocks, p50 %.2f, p90 %.2f, p99 %.2f ms; %d tokens read, p99 %.2f ms; %.0f %% of a core", len(j.took), j.took[len(j.took)/2], j.took[len(j.took)*9/10], load.p99, len(late), load.tail, load.cpu)
	return load
}

// bareInserts is the p99 of a loop that inserts the same blocks as they come, each in its own transaction.
func bareInserts(t *testing.T, blocks []arrival) float64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE blocks (n INTEGER PRIMARY KEY, body BLOB)")
	must(t, err)
	insert, err := db.Prepare("INSERT INTO blocks (body) VALUES (?)")
	must(t, err)
	defer insert.Close()
	slices.SortFunc(blocks, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	var took []float64
	begin := time.Now()
	for _, b := range blocks {
		body := []byte(strings.Repeat("x", b.size))
		time.Sleep(b.at - time.Since(begin))
		_, err = insert.Exec(body)
		must(t, err)
		took = append(took, milliseconds(time.Since(begin)-b.at))
	}
	return p99(took)
}

// barePublishes is the p99 of bare messages with the same blocks as they come, a run's one after another.
func barePublishes(servers int) func(*testing.T, []arrival) float64 {
	return func(t *testing.T, blocks []arrival) float64 {
		s, stop := jetStream(t, servers)
		defer stop()
		js := jetStreamClient(t, s)
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare.>"}, Replicas: servers})
		must(t, err)
		runs := map[messages.RunID][]arrival{}
		for _, b := range blocks {
			runs[b.run] = append(runs[b.run], b)
		}
		for _, b := range runs {
			slices.SortFunc(b, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
		}
		begin := time.Now()
		var mu sync.Mutex
		var took []float64
		var all sync.WaitGroup
		for run, blocks := range runs {
			all.Go(func() {
				var mine []float64
				var seq uint64
				for _, b := range blocks {
					time.Sleep(b.at - time.Since(begin))
					began := time.Now()
					ack, err := js.Publish(t.Context(), "bare."+string(run), make([]byte, b.size), jetstream.WithExpectLastSequencePerSubject(seq))
					if err != nil {
						t.Error(err)
						return
					}
					mine, seq = append(mine, milliseconds(time.Since(began))), ack.Sequence
				}
				mu.Lock()
				took = append(took, mine...)
				mu.Unlock()
			})
		}
		all.Wait()
		return p99(took)
	}
}

func jetStreamClient(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	nc, err := natsgo.Connect("", natsgo.InProcessServer(s))
	must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	must(t, err)
	return js
}

// jetStream starts that many servers in this process, one cluster, and returns the first.
func jetStream(t *testing.T, servers int) (first *server.Server, stop func()) {
	t.Helper()
	var all []*server.Server
	var routes []*url.URL
	ports := freePorts(t, servers)
	for _, port := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", Host: "127.0.0.1:" + port})
	}
	for i := range servers {
		o := &server.Options{ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
			NoLog: true, JetStream: true, StoreDir: t.TempDir()}
		if servers > 1 {
			port, _ := strconv.Atoi(ports[i])
			o.Cluster, o.Routes = server.ClusterOpts{Name: "bench", Host: "127.0.0.1", Port: port}, routes
		}
		s, err := server.NewServer(o)
		must(t, err)
		s.Start()
		all = append(all, s)
	}
	for _, s := range all {
		if !s.ReadyForConnections(time.Minute) {
			t.Fatal("a server is not ready")
		}
	}
	js := jetStreamClient(t, all[0])
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // until they have a leader
		if _, err := js.AccountInfo(t.Context()); err == nil {
			break
		} else if time.Since(began) > time.Minute {
			t.Fatal(err)
		}
	}
	return all[0], func() {
		for _, s := range all {
			s.Shutdown()
			s.WaitForShutdown()
		}
	}
}

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
		must(t, s.Close(context.Background()))
		must(t, j.Close())
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
	begin, n := time.Now(), 0
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
