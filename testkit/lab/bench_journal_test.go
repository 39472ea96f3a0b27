package lab_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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
)

// journalFigures put the same load on each journal.
func journalFigures() []figure {
	const load = "200 runs at 80 tokens a second, "
	var figures []figure
	for _, s := range []struct {
		name string
		open func(*testing.T) (j actors.Journal, stop func())
	}{
		{"memory", inMemory}, {"SQLite", openFolder}, {"NATS, 1 server", openNATS(1)}, {"NATS, 3 replicas", openNATS(3)},
	} {
		figures = append(figures, figure{name: load + "p99 from token to reader, " + s.name, unit: "ms", goal: 5,
			ours: func(t *testing.T) float64 {
				j, stop := s.open(t)
				defer stop()
				return underLoad(t, j).tail
			}})
	}
	return append(figures, figure{name: load + "CPU of a core beyond that in memory, SQLite", unit: "%", goal: 30,
		ours: func(t *testing.T) float64 {
			base := underLoad(t, journal.NewMemory()).cpu
			j, stop := openFolder(t)
			defer stop()
			return underLoad(t, j).cpu - base
		}})
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
		if err != nil {
			t.Fatal(err)
		}
		return j, func() {
			_ = j.Close()
			stop()
		}
	}
}

// journalLoad is what a load has measured: the p99 from a token to its reader in milliseconds, and the share of a core in
// percent.
type journalLoad struct{ tail, cpu float64 }

const (
	loadRuns   = 200
	loadTime   = 5 * time.Second
	tokenEvery = time.Second / 80
)

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func p99(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)*99/100]
}

// underLoad runs the load. One reader follows each run; tokens carry the time when they were said.
func underLoad(t *testing.T, j actors.Journal) (load journalLoad) {
	begin := time.Now()
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
	load.tail = p99(late)
	t.Logf("%d tokens read, p99 %.2f ms; %.0f %% of a core", len(late), load.tail, load.cpu)
	return load
}

func jetStreamClient(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	nc, err := natsgo.Connect("", natsgo.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
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
