package nats_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// TestOpenExplains opens what cannot be used. The errors say what to do.
func TestOpenExplains(t *testing.T) {
	for name, c := range map[string]struct {
		options server.Options
		prepare func(*testing.T, *server.Server)
		with    []nats.Option
		says    string
	}{
		"no JetStream": {says: "start nats-server with -js"},
		"no permission": {options: server.Options{JetStream: true, Users: []*server.User{{Username: "ann", Password: "guess",
			Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"live.>"}}}}}},
			says: "allow the user run.>"},
		"too many replicas": {options: server.Options{JetStream: true}, with: []nats.Option{nats.Replicas(3)}, says: "fewer replicas"},
		"another's stream": {options: server.Options{JetStream: true}, prepare: stream(jetstream.StreamConfig{Name: "RUNS"}),
			says: "not made by lastword"},
		"another's subjects": {options: server.Options{JetStream: true},
			prepare: stream(jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"run.>"}}), says: "a separate NATS account"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, &c.options)
				if c.prepare != nil {
					c.prepare(t, s)
				}
				j, err := nats.Open(t.Context(), "nats://ann:guess@example", append(c.with, nats.Connect(natsgo.InProcessServer(s)))...)
				if err == nil {
					_ = j.Close()
				}
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "guess") {
					t.Errorf("Open: %v, want %q in it", err, c.says)
				}
			})
		})
	}
	t.Run("at an address", func(t *testing.T) {
		s := listening(t, &server.Options{JetStream: true, Username: "ann", Password: "secret"})
		for url, says := range map[string]string{
			"nats://127.0.0.1:1": "nats-server -js runs there",
			strings.Replace(s.ClientURL(), "//", "//ann:guess@", 1): "check the user and password",
		} {
			if _, err := nats.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), says) ||
				strings.Contains(err.Error(), "guess") {
				t.Errorf("Open: %v, want %q in it", err, says)
			}
		}
	})
}

func stream(c jetstream.StreamConfig) func(*testing.T, *server.Server) {
	return func(t *testing.T, s *server.Server) {
		if _, err := client(t, s).CreateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWarnings(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		if w := open(t, s).Warnings(); len(w) != 1 || !strings.Contains(w[0], "one replica") {
			t.Errorf("warnings of a single server: %q", w)
		}
		limit(t, s, "RUNS", func(c *jetstream.StreamConfig) { c.Discard, c.MaxBytes = jetstream.DiscardOld, 1<<20 })
		if w := open(t, s).Warnings(); len(w) != 2 || !strings.Contains(w[1], "discards its oldest") {
			t.Errorf("warnings of a stream that discards: %q", w)
		}
	})
}

// TestRetention opens a stream with other retentions. It keeps messages for the longest of them, and the life of a run.
func TestRetention(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		const life, day = 7 * 24 * time.Hour, 24 * time.Hour
		for _, c := range []struct{ asked, want time.Duration }{{day, life + day}, {3 * day, life + 3*day}, {day, life + 3*day}} {
			j, err := nats.Open(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)), nats.Retention(c.asked))
			noError(t, err)
			_ = j.Close()
			stream, err := client(t, s).Stream(t.Context(), "RUNS")
			noError(t, err)
			if got := stream.CachedInfo().Config.MaxAge; got != c.want {
				t.Errorf("asked for %s, the stream keeps messages for %s, want %s", c.asked, got, c.want)
			}
		}
	})
}

// "what the nodes share is there after a year, and of two nodes that change it, the later one is told"
func TestState(t *testing.T) {
	now, dir := time.Now(), t.TempDir()
	with := func(t *testing.T, f func(a, b *nats.Journal)) {
		years(t, dir, func(s *server.Server) {
			a, b := open(t, s), open(t, s)
			f(a, b)
			noError(t, a.Close())
			noError(t, b.Close())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		with(t, func(a, b *nats.Journal) {
			if value, revision, err := a.Get(t.Context(), "pauses"); value != nil || revision != 0 || err != nil {
				t.Errorf("%q, %d, %v", value, revision, err)
			}
			noError(t, a.Save(t.Context(), "old", bytes.NewReader([]byte("file"))))
			noError(t, a.Set(t.Context(), "pauses", []byte("one"), 0))
			_, revision, err := b.Get(t.Context(), "pauses")
			noError(t, err)
			for _, stale := range []uint64{0, revision - 1} {
				if err := b.Set(t.Context(), "pauses", []byte("none"), stale); messages.CodeOf(err) != messages.CodeConflict {
					t.Errorf("the change of revision %d: %v", stale, err)
				}
			}
			noError(t, b.Set(t.Context(), "pauses", []byte("two"), revision))
			noError(t, a.SetSession(t.Context(), "s", []byte("kept"), 0, time.Hour))
			if value, _, err := b.GetSession(t.Context(), "s"); string(value) != "kept" || err != nil {
				t.Errorf("another node has %q of a session, %v", value, err)
			}
			if err := a.Set(t.Context(), "pauses", []byte("none"), revision); messages.CodeOf(err) != messages.CodeConflict {
				t.Errorf("it undoes the other one: %v", err)
			}
		})
		time.Sleep(366 * 24 * time.Hour)
		with(t, func(a, _ *nats.Journal) {
			if err := a.Load(t.Context(), "old", io.Discard); messages.CodeOf(err) != messages.CodeNotFound {
				t.Errorf("a file of runs is as old: %v", err)
			}
			if value, _, err := a.GetSession(t.Context(), "s"); value != nil || err != nil {
				t.Errorf("a session is as old: %q, %v", value, err)
			}
			if value, _, err := a.Get(t.Context(), "pauses"); string(value) != "two" || err != nil {
				t.Errorf("after a year it is %q, %v", value, err)
			}
		})
	})
}

// years has a server with what is in the folder. It is not there in the years between.
func years(t *testing.T, dir string, f func(s *server.Server)) {
	t.Helper()
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: dir, DontListen: true, NoSigs: true, NoLog: true})
	noError(t, err)
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	f(s)
	s.Shutdown()
	s.WaitForShutdown()
}

// "N is in the stream's metadata at creation and never changes; a node that finds another N refuses to start." "A tree
// lies in one stream." "Lists and searches ask all streams."
func TestStreams(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s, nats.Streams(3)), open(t, s)
		for _, other := range []int{1, 2, 65} {
			j, err := nats.Open(t.Context(), "", nats.Streams(other), nats.Connect(natsgo.InProcessServer(s)))
			if err == nil {
				_ = j.Close()
			}
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%d streams: %v", other, err)
			}
		}
		const roots = 30
		for i := range roots {
			root := messages.RunID(fmt.Sprint("r_", i))
			must(t, a, block(root, 0, 1, queued))
			if err := add(b, block(root, 0, 2, queued)); !errors.Is(err, journal.ErrFenced) {
				t.Errorf("the same run at another node: %v", err)
			}
			must(t, b, block(root+".c1", 0, 1, queued, failed))
			must(t, b, block(root, 1, 3, failed))
		}
		js, total := client(t, s), 0
		for _, name := range []string{"RUNS", "RUNS-1", "RUNS-2"} {
			stream, err := js.Stream(t.Context(), name)
			noError(t, err)
			info, err := stream.Info(t.Context())
			noError(t, err)
			blocks, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
			noError(t, err)
			if info.State.Msgs == 0 {
				t.Errorf("stream %s has no block", name)
			}
			for subject := range blocks.State.Subjects {
				if root, child := strings.CutSuffix(subject, "~c1.q"); child && blocks.State.Subjects[root+".q"] != 1 {
					t.Errorf("%s is not in the stream of its root", subject)
				}
			}
			total += int(info.State.Msgs)
		}
		if total != 3*roots {
			t.Errorf("%d blocks, want %d", total, 3*roots)
		}
		time.Sleep(time.Second)
		for _, j := range []*nats.Journal{a, b} {
			list, err := j.List(t.Context(), messages.Query{Principal: "ann", Limit: 1000})
			if err != nil || len(list) != 2*roots {
				t.Errorf("%d runs are listed (%v)", len(list), err)
			}
		}
		for i := range roots {
			noError(t, b.DeleteLog(t.Context(), messages.RunID(fmt.Sprint("r_", i))))
		}
		reader, err := nats.OpenReader(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)))
		noError(t, err)
		defer reader.Close()
		report, err := reader.Check(t.Context())
		if err != nil || len(report.Faults) > 0 || report.Runs != roots || len(report.Removed) != roots {
			t.Errorf("%d runs, %d removed, %+v (%v)", report.Runs, len(report.Removed), report.Faults, err)
		}
	})
}
