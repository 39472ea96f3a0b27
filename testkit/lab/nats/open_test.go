package nats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
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
		_, err := client(t, s).CreateStream(t.Context(), c)
		noError(t, err)
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

// "Over NATS a conversation goes on at every node": in one order, with messages of any size, after a year
func TestConversations(t *testing.T) {
	now, dir := time.Now(), t.TempDir()
	talks := func(j *nats.Journal, who string) *conversation.Store {
		return conversation.NewShared(conversation.Shared{
			Open: func(id string) (func(int64) ([]byte, error), func([]byte) error) { return j.Lines(who + "/" + id) },
			IDs:  func() ([]string, error) { return j.LineLogs(context.Background(), who) }}, 3)
	}
	large := strings.Repeat("Pots keeps tea warm.\n", 60_000)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		years(t, dir, func(s *server.Server) {
			a, b := open(t, s), open(t, s)
			defer func() { noError(t, errors.Join(a.Close(), b.Close())) }()
			for i, id := range []string{"c.1", "C.1", "c_3"} {
				turn, err := talks(a, "c/mia.7").Begin(id, conversation.Beginning{Owner: "r_1", Message: large})
				noError(t, err)
				if _, err := talks(b, "c/mia.7").Begin(id, conversation.Beginning{Owner: "r_2"}); messages.CodeOf(err) != messages.CodeConflict {
					t.Errorf("two nodes have turns of %s: %v", id, err)
				}
				noError(t, turn.Say(model.Message{Role: model.Assistant, Content: strconv.Itoa(i)}))
				noError(t, turn.End(""))
			}
			if _, err := talks(b, "c/mia.7").Begin("c_4", conversation.Beginning{}); messages.CodeOf(err) != messages.CauseLimitExceeded {
				t.Errorf("a fourth of three: %v", err)
			}
			if list, err := talks(b, "c/zoe").List(); len(list) != 0 || err != nil {
				t.Errorf("another caller has %+v, %v", list, err)
			}
			var all sync.WaitGroup
			var won atomic.Int32
			for i := range 20 {
				all.Go(func() {
					if _, err := talks([]*nats.Journal{a, b}[i%2], "c/zoe").Begin("c", conversation.Beginning{Owner: strconv.Itoa(i), Message: "?"}); err == nil {
						won.Add(1)
					} else if messages.CodeOf(err) != messages.CodeConflict {
						t.Error(err)
					}
				})
			}
			if all.Wait(); won.Load() != 1 {
				t.Errorf("%d turns have the conversation at once", won.Load())
			}
		})
		time.Sleep(366 * 24 * time.Hour)
		years(t, dir, func(s *server.Server) {
			j := open(t, s)
			defer func() { noError(t, j.Close()) }()
			turn, err := talks(j, "c/mia.7").Begin("C.1", conversation.Beginning{Owner: "r_3", Message: "And?"})
			noError(t, err)
			if h := turn.History(); len(h) != 3 || h[0].Content != large || h[1].Content != "1" || h[2].Content != "And?" {
				t.Errorf("after a year there are %d messages", len(h))
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

// proven checks the run's blocks, and returns how many there are.
func proven(t *testing.T, r journal.Reader, run messages.RunID) (n int) {
	t.Helper()
	var at journal.Chain
	for b, err := range r.Blocks(t.Context(), run) {
		if err == nil {
			at, _, err = b.Check(at)
		}
		if err != nil {
			t.Errorf("the block past %d: %v", at.Seq, err)
			return n
		}
		n++
	}
	return n
}

// listed returns the one run of ann that a journal lists.
func listed(t *testing.T, j *nats.Journal) messages.Summary {
	t.Helper()
	list, err := j.List(t.Context(), messages.Query{Principal: "ann"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d runs are listed (%v)", len(list), err)
	}
	return list[0]
}

// "sub-runs 58 deep pass its limits": a thousand deep has an id of 6 kB, longer than a subject may be.
func TestDeepRun(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s), open(t, s)
		run := messages.RunID("r_4kqxv2m5zj7ay3hd6tnwbfeu2c" + strings.Repeat(".c1234", 1000))
		told := make(chan journal.Note, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _ = b.Watch(ctx, "b", func(n journal.Note) { told <- n }) }()
		hears := func(what string, is func(journal.Note) bool) {
			t.Helper()
			for {
				select {
				case n := <-told:
					if is(n) {
						return
					}
				case <-ctx.Done():
					t.Fatalf("not told of %s", what)
				}
			}
		}
		hears("the beginning", func(n journal.Note) bool { return n == journal.Note{} })
		must(t, a, block(run, 0, 1, queued))
		hears("the run", func(n journal.Note) bool { return n.Run == run })
		if err := a.Send(ctx, journal.Command{Run: run, ID: "1", Attach: true}); err != nil {
			t.Error(err)
		}
		hears("the command", func(n journal.Note) bool { return n.Run == run && n.Command != nil })
		if c, err := b.Claim(ctx, "b"); err != nil || c.Run != run {
			t.Errorf("claimed a run with an id of %d bytes (%v)", len(c.Run), err)
		}
		must(t, b, block(run, 1, 2, messages.RunStarted{Node: "b", Epoch: 1},
			messages.Log{Lines: []messages.LogLine{{Number: 1, Level: messages.LogInfo, Text: strings.Repeat("words ", 400_000)}}}))
		must(t, b, block(run, 3, 3, failed))
		time.Sleep(time.Second)
		if got := listed(t, a); got.RunID != run || got.Status != messages.Failed {
			t.Errorf("the list says %s with an id of %d bytes", got.Status, len(got.RunID))
		}
		if got := listed(t, open(t, s)); got.RunID != run {
			t.Errorf("a new node lists an id of %d bytes", len(got.RunID))
		}
		if page, err := a.Read(ctx, run, 0); err != nil || len(page.Events) != 4 || proven(t, a, run) != 3 {
			t.Errorf("%d events (%v)", len(page.Events), err)
		}
		if err := a.DeleteLog(ctx, run); err != nil || stored(t, s) != 0 {
			t.Errorf("%d messages are left (%v)", stored(t, s), err)
		}
		hears("the removal", func(n journal.Note) bool { return n.Run == run })
		for _, id := range []messages.RunID{"", "r 1", messages.RunID(strings.Repeat("x", 20<<10))} {
			if err := add(a, block(id, 0, 4, queued)); !errors.Is(err, journal.ErrUnstorable) {
				t.Errorf("an id of %d bytes: %v", len(id), err)
			}
		}
	})
}

// "1,818 open questions pass its limits": what the header has no room for is in the data, and every node lists it.
func TestLargeMark(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b, opened := open(t, s), open(t, s), queued
		opened.Labels = map[string]string{"topic": strings.Repeat("parks ", 20_000)}
		must(t, a, block("r_1", 0, 1, opened))
		var asked []messages.Body
		for i := range 2000 {
			asked = append(asked, messages.InputRequired{Request: fmt.Sprintf("%s%04d", strings.Repeat("why ", 30), i), Prompt: "Why?"})
		}
		must(t, a, block("r_1", 1, 2, append([]messages.Body{messages.RunStarted{Node: "a", Epoch: 1}}, asked...)...))
		time.Sleep(time.Second)
		for name, j := range map[string]*nats.Journal{"its node": a, "another": b, "a new one": open(t, s)} {
			if got := listed(t, j); len(got.OpenRequests) != 2000 || got.Labels["topic"] != opened.Labels["topic"] {
				t.Errorf("%s lists %d requests and %d bytes of labels", name, len(got.OpenRequests), len(got.Labels["topic"]))
			}
		}
		c := open(t, s) // it knows the headers alone
		must(t, c, block("r_1", 2002, 3, messages.InputReceived{Request: asked[0].(messages.InputRequired).Request, Value: json.RawMessage("1")}))
		time.Sleep(time.Second)
		if got := listed(t, b); len(got.OpenRequests) != 1999 {
			t.Errorf("after an answer %d requests are open", len(got.OpenRequests))
		}
		if n := proven(t, b, "r_1"); n != 3 {
			t.Errorf("%d blocks", n)
		}
		huge := queued
		huge.Labels = map[string]string{"topic": strings.Repeat("parks ", 500_000)}
		if err := add(a, block("r_2", 0, 4, huge)); !errors.Is(err, journal.ErrUnstorable) {
			t.Errorf("3 MB of labels: %v", err)
		}
	})
}

// A log that an older version has begun can be read and goes on. It has no digests.
func TestOldMessages(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		j, js, first := open(t, s), client(t, s), block("r_old", 0, 1, queued)
		line, err := first.Events[0].JSON()
		noError(t, err)
		_, err = js.PublishMsg(t.Context(), &natsgo.Msg{Subject: "run.r_old.q", Data: append(line, '\n'), Header: natsgo.Header{
			"Lastword-Block": {`{"id":"01000000000000000000000000000000","first":1,"last":1,"writer":"a","bytes":200,"status":"pending",` +
				`"updated_at":"2026-11-20T20:00:00Z","opened":{"job":"test","principal":"ann","queued_at":"2026-11-20T20:00:00Z"}}`}}})
		noError(t, err)
		must(t, j, first) // it lands once
		must(t, j, block("r_old", 1, 2, failed))
		page, err := j.Read(t.Context(), "r_old", 0)
		if err != nil || len(page.Events) != 2 || !page.Head.Ended {
			t.Errorf("read %+v (%v)", page, err)
		}
		for b, err := range j.Blocks(t.Context(), "r_old") {
			if err != nil || b.Digest != (journal.Hash{}) || len(b.Lines) != 1 {
				t.Errorf("block %d has the digest %s, %d lines (%v)", b.First, b.Digest, len(b.Lines), err)
			}
		}
		if got := listed(t, j); got.Status != messages.Failed {
			t.Errorf("the list says %s", got.Status)
		}
	})
}

// What one node saves another loads, also if it is larger than a message; the last one saved counts.
func TestFilesOfRuns(t *testing.T) {
	s := serve(t, &server.Options{JetStream: true})
	here, there := open(t, s), open(t, s)
	load := func(name string) (string, error) {
		var b bytes.Buffer
		err := there.Load(t.Context(), name, &b)
		return b.String(), err
	}
	if _, err := load("r_a/llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("a file before any is saved: %v", err)
	}
	large := strings.Repeat("Pots keeps tea warm.\n", 200_000)
	for _, text := range []string{"first", large, ""} {
		noError(t, here.Save(t.Context(), "r_a/llms.txt", strings.NewReader(text)))
		if got, err := load("r_a/llms.txt"); err != nil || got != text {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
	}
	if _, err := load("r_b/llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("another run's file: %v", err)
	}
}
