package nats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/nats"
)

// TestMain starts the server's clock for access times outside all bubbles: its goroutine waits on a channel that was
// made there, and inside no virtual time would pass.
func TestMain(m *testing.M) {
	ats.Register()
	os.Exit(m.Run())
}

// bubble runs f on virtual time that begins now: the server removes old messages by the clock outside.
func bubble(t *testing.T, f func(t *testing.T, s *server.Server)) {
	t.Helper()
	now := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		f(t, serve(t, &server.Options{JetStream: true}))
	})
}

// serve starts a server without a port.
func serve(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.DontListen = true
	return listening(t, o)
}

// listening starts a server at a free port of this machine.
func listening(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog, o.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, true, t.TempDir()
	s, err := server.NewServer(o)
	noError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s
}

func open(t *testing.T, s *server.Server, with ...nats.Option) *nats.Journal {
	t.Helper()
	j, err := nats.Open(context.Background(), "", append(with, nats.Connect(natsgo.InProcessServer(s)))...)
	noError(t, err)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// "The contract tests run with N = 1 and 3."
func TestJournal(t *testing.T) {
	now := time.Now()
	for _, streams := range []int{1, 3} {
		t.Run(fmt.Sprint(streams), func(t *testing.T) {
			testkit.TestJournal(t, func(t *testing.T) (journal.Journal, journal.Reader) {
				time.Sleep(time.Until(now))
				s := serve(t, &server.Options{JetStream: true})
				return open(t, s, nats.Streams(streams)), open(t, s)
			})
		})
	}
}

func TestRuntime(t *testing.T) {
	now := time.Now()
	for _, streams := range []int{1, 3} {
		t.Run(fmt.Sprint(streams), func(t *testing.T) {
			testkit.TestRuntime(t, func(t *testing.T) (journal.Journal, journal.Reader) {
				time.Sleep(time.Until(now))
				s := serve(t, &server.Options{JetStream: true})
				return &each{Journal: open(t, s, nats.Streams(streams)), t: t, server: s, nodes: map[string]*nats.Journal{}}, open(t, s)
			})
		})
	}
}

// each gives each node its own journal. What names no node goes to one more.
type each struct {
	*nats.Journal
	t      *testing.T
	server *server.Server

	mu    sync.Mutex
	nodes map[string]*nats.Journal
}

func (e *each) of(node string) *nats.Journal {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.nodes[node] == nil {
		e.nodes[node] = open(e.t, e.server)
	}
	return e.nodes[node]
}

func (e *each) Append(b journal.Block, done func(error)) { e.of(b.Writer).Append(b, done) }

func (e *each) Watch(ctx context.Context, self string, fn func(journal.Note)) error {
	return e.of(self).Watch(ctx, self, fn)
}

func (e *each) Claim(ctx context.Context, node string) (journal.Claim, error) {
	return e.of(node).Claim(ctx, node)
}

// block makes a block of events after the number.
func block(run messages.RunID, after uint64, id byte, bodies ...messages.Body) journal.Block {
	b := journal.Block{Run: run, After: journal.Head{Seq: after}, ID: journal.BlockID{id}, Writer: "a"}
	for _, body := range bodies {
		after++
		b.Events = append(b.Events, messages.Event{RunID: run, From: after, Seq: after, Time: time.Now().UTC(), Body: body})
	}
	return b
}

func add(j journal.Journal, b journal.Block) error {
	end := make(chan error, 1)
	j.Append(b, func(err error) { end <- err })
	return <-end
}

func must(t *testing.T, j journal.Journal, b journal.Block) {
	t.Helper()
	if err := add(j, b); err != nil {
		t.Fatalf("append to %s after %d: %v", b.Run, b.After.Seq, err)
	}
}

var (
	queued = messages.RunQueued{Job: "test", Principal: "ann", Mode: messages.Detached}
	failed = messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.CauseError, "it failed")}
)

// TestLargeBlock appends more at once than a message may hold. A log that is removed leaves nothing.
func TestLargeBlock(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b, long := open(t, s), open(t, s), strings.Repeat("words and more words. ", 150_000)
		large := block("r_1.c1", 1, 2, messages.RunStarted{},
			messages.Log{Lines: []messages.LogLine{{Number: 1, Level: messages.LogInfo, Text: long}}})
		must(t, a, block("r_1.c1", 0, 1, queued))
		must(t, a, large)
		must(t, a, large) // it lands once
		must(t, a, block("r_1.c1", 3, 3, failed))
		page, err := b.Read(t.Context(), "r_1.c1", 1)
		noError(t, err)
		want, _ := json.Marshal(large.Events)
		if got, _ := json.Marshal(page.Events[:2]); !bytes.Equal(got, want) {
			t.Errorf("read %d bytes of events, want %d", len(got), len(want))
		}
		if n := stored(t, s); n < 4 {
			t.Errorf("%d messages hold %d bytes", n, len(want))
		}
		if left, err := a.Expire(t.Context(), time.Now(), 0); err != nil || left != 0 {
			t.Fatalf("%d are left (%v)", left, err)
		}
		if n := stored(t, s); n != 0 {
			t.Errorf("%d messages are left of a log that was removed", n)
		}
		time.Sleep(time.Second)
		if list, err := b.List(t.Context(), messages.Query{Principal: "ann"}); err != nil || len(list) != 0 {
			t.Errorf("another node still lists %v (%v)", list, err)
		}
	})
}

// stored returns how many messages the stream has.
func stored(t *testing.T, s *server.Server) uint64 {
	t.Helper()
	stream, err := client(t, s).Stream(t.Context(), "RUNS")
	noError(t, err)
	return stream.CachedInfo().State.Msgs
}

func client(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	nc, err := natsgo.Connect("", natsgo.InProcessServer(s))
	noError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	noError(t, err)
	return js
}

// TestFullStream appends until the stream is full. Nothing that was acknowledged goes, and the same block lands when there
// is room.
func TestFullStream(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		j := open(t, s)
		limit(t, s, "RUNS", func(c *jetstream.StreamConfig) { c.MaxBytes = 8 << 10 })
		must(t, j, block("r_full", 0, 1, queued))
		next, at := block("r_full", 1, 2, messages.FaultInjected{Fault: "a"}), uint64(1)
		for err := error(nil); err == nil; {
			if err = add(j, next); err == nil {
				at++
				next = block("r_full", at, byte(at+1), messages.FaultInjected{Fault: strings.Repeat("a", 500)})
				continue
			}
			if !errors.Is(err, journal.ErrRefused) || messages.CodeOf(err) != messages.CauseJournalUnavailable ||
				!strings.Contains(err.Error(), "make room") {
				t.Errorf("the full stream says %v", err)
			}
		}
		if page, err := j.Read(t.Context(), "r_full", 0); err != nil || uint64(len(page.Events)) != at {
			t.Errorf("%d events are left of %d (%v)", len(page.Events), at, err)
		}
		limit(t, s, "RUNS", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 })
		must(t, j, next)
	})
}

// limit changes the stream's configuration.
func limit(t *testing.T, s *server.Server, name string, change func(*jetstream.StreamConfig)) {
	t.Helper()
	js := client(t, s)
	stream, err := js.Stream(t.Context(), name)
	noError(t, err)
	c := stream.CachedInfo().Config
	change(&c)
	_, err = js.UpdateStream(t.Context(), c)
	noError(t, err)
}

// TestServerRestarts stops the only server and starts it again. What was acknowledged is there, and the journal goes on.
func TestServerRestarts(t *testing.T) {
	s := listening(t, &server.Options{JetStream: true})
	url, dir := s.ClientURL(), s.StoreDir()
	a, errA := nats.Open(t.Context(), url)
	b, errB := nats.Open(t.Context(), url)
	noError(t, errors.Join(errA, errB))
	defer func() { _, _ = a.Close(), b.Close() }()
	must(t, a, block("r_1", 0, 1, queued))
	s.Shutdown()
	s.WaitForShutdown()
	next := block("r_1", 1, 2, messages.RunStarted{Node: "a", Epoch: 1})
	if err := add(a, next); messages.CodeOf(err) != messages.CauseJournalUnavailable {
		t.Errorf("an append without a server: %v", err)
	}
	grown := make(chan messages.RunID, 100)
	go func() { _ = b.Watch(t.Context(), "b", func(n journal.Note) { grown <- n.Run }) }()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "nats://"))
	at, _ := strconv.Atoi(port)
	again, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: at, NoSigs: true, NoLog: true, JetStream: true, StoreDir: dir})
	noError(t, err)
	again.Start()
	defer func() { again.Shutdown(); again.WaitForShutdown() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if page, err := a.Read(ctx, "r_1", 0); err != nil || page.Head.Seq < 1 { // it waits for the server
		t.Fatalf("after the restart the head is %+v (%v)", page.Head, err)
	}
	must(t, a, next)
	if page, err := b.Read(ctx, "r_1", 0); err != nil || page.Head.Seq != 2 {
		t.Errorf("the other journal reads %+v (%v)", page.Head, err)
	}
	for run := messages.RunID(""); run != "r_1"; {
		select {
		case run = <-grown:
		case <-ctx.Done():
			t.Fatal("the other journal is not told of what landed")
		}
	}
	if c, err := b.Claim(ctx, "b"); err != nil || c.Run != "r_1" {
		t.Errorf("the other node claims %+v (%v)", c, err)
	}
}

// TestDamagedLog reads logs in which somebody else has written. Other runs go on.
func TestDamagedLog(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b, js := open(t, s), open(t, s), client(t, s)
		for run, m := range map[messages.RunID]*natsgo.Msg{
			"r_headless": {Data: []byte("hello")},
			"r_numbers":  {Header: natsgo.Header{"Lastword-Block": {`{"id":"00","first":3,"last":1}`}}},
			"r_json": {Header: natsgo.Header{"Lastword-Block": {`{"id":"00000000000000000000000000000001","first":2,"last":2}`}},
				Data: []byte("{")},
			"r_parts": {Header: natsgo.Header{
				"Lastword-Block": {`{"id":"00000000000000000000000000000001","first":2,"last":2,"parts":1}`}}},
		} {
			must(t, a, block(run, 0, 1, queued))
			m.Subject = "run." + string(run) + ".e"
			_, err := js.PublishMsg(t.Context(), m)
			noError(t, err)
			if _, err := b.Read(t.Context(), run, 1); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("read %s: %v", run, err)
			}
		}
		time.Sleep(time.Second)
		must(t, a, block("r_sound", 0, 1, queued))
		if list, err := a.List(t.Context(), messages.Query{Principal: "ann"}); err != nil || len(list) != 5 {
			t.Errorf("%d runs are listed of 5 (%v)", len(list), err)
		}
	})
}

// TestLostNotes watches a stream whose live copies are all lost.
func TestLostNotes(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s), open(t, s)
		limit(t, s, "RUNS", func(c *jetstream.StreamConfig) { c.RePublish = nil })
		told := make(chan messages.RunID, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _ = b.Watch(ctx, "b", func(n journal.Note) { told <- n.Run }) }()
		for _, want := range []messages.RunID{"", "r_1", "r_2"} {
			if want != "" {
				must(t, a, block(want, 0, 1, queued))
			}
			select {
			case run := <-told:
				if run != want {
					t.Errorf("told of %q, want %q", run, want)
				}
			case <-ctx.Done():
				t.Errorf("not told of %q", want)
			}
		}
		if list, err := b.List(ctx, messages.Query{Principal: "ann"}); err != nil || len(list) != 2 {
			t.Errorf("the other node lists %v (%v)", list, err)
		}
	})
}

// "Blocks are heard by whoever has a reader." A node hears the blocks of another node while somebody there reads the run,
// and for some seconds more. Its lists ask.
func TestBlocksAreHeardWhereTheyAreRead(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s), open(t, s)
		var told atomic.Int64
		go func() {
			_ = b.Watch(t.Context(), "b", func(n journal.Note) {
				if n.Run == "r_1" {
					told.Add(1)
				}
			})
		}()
		synctest.Wait()
		last := uint64(0)
		grow := func(want int64, why string, body messages.Body) {
			t.Helper()
			before := told.Load()
			must(t, a, block("r_1", last, byte(last+1), body))
			last++
			time.Sleep(time.Second)
			if got := told.Load() - before; got != want {
				t.Errorf("%s: told %d times, want %d", why, got, want)
			}
			list, err := b.List(t.Context(), messages.Query{Principal: "ann"})
			if err != nil || len(list) != 1 || list[0].Seq != last {
				t.Errorf("%s: the list is %+v (%v), want event %d", why, list, err, last)
			}
			time.Sleep(time.Second) // until the watch has the note of the list
		}
		text := messages.TextDelta{Text: "word"}
		grow(1, "an opening", queued)
		grow(0, "nobody reads", text)
		page, err := b.Read(t.Context(), "r_1", 0)
		if err != nil || len(page.Events) != 2 {
			t.Fatalf("%d events (%v)", len(page.Events), err)
		}
		grow(1, "somebody reads", text)
		grow(1, "somebody reads", text)
		before := told.Load()
		time.Sleep(10 * time.Second)
		if got := told.Load() - before; got != 1 {
			t.Errorf("told %d times, want once: a reader that follows would read again", got)
		}
		grow(0, "nobody has read for long", text)
		grow(1, "an end", failed)
	})
}

// TestDeposedLeader reads a log whose newest block was told of before the server that answers has it. A reader that got
// the older head would wait to be told again.
func TestDeposedLeader(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		b := open(t, s)
		must(t, b, block("r_1", 0, 1, queued))
		tell(t, s, "r_1", stored(t, s)+1)
		a := open(t, s) // nobody told it
		began := time.Now()
		time.AfterFunc(time.Second, func() { a.Append(block("r_1", 1, 2, failed), func(error) {}) })
		page, err := b.Read(t.Context(), "r_1", 0)
		if err != nil || page.Head.Seq != 2 || len(page.Events) != 2 {
			t.Errorf("after %s the head is %d, with %d events (%v)", time.Since(began), page.Head.Seq, len(page.Events), err)
		}
		tell(t, s, "r_1", stored(t, s)+1) // a block that never comes
		if page, err = b.Read(t.Context(), "r_1", 0); err != nil || page.Head.Seq != 2 {
			t.Errorf("the head is %d (%v)", page.Head.Seq, err)
		}
	})
}

// tell sends the live copy of a header: the run has a block of event 2, at this sequence of the stream.
func tell(t *testing.T, s *server.Server, run messages.RunID, at uint64) {
	t.Helper()
	m := natsgo.NewMsg("live." + string(run) + ".s")
	m.Header.Set("Nats-Sequence", strconv.FormatUint(at, 10))
	m.Header.Set("Lastword-Block", `{"first":2,"last":2}`)
	noError(t, client(t, s).Conn().PublishMsg(m))
	time.Sleep(time.Second) // until every journal has heard it
}

// TestKeyUsedAgain expires a log at two nodes. The second does not know yet that its key was used again.
func TestKeyUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s), open(t, s)
		must(t, a, block("r_key", 0, 1, queued, failed))
		time.Sleep(time.Second)
		noError(t, a.DeleteLog(t.Context(), "r_key"))
		must(t, a, block("r_key", 0, 2, queued))
		_, err := b.Expire(t.Context(), time.Now(), 0)
		noError(t, err)
		if page, err := a.Read(t.Context(), "r_key", 0); err != nil || len(page.Events) != 1 {
			t.Errorf("the new run has %d events (%v)", len(page.Events), err)
		}
	})
}

var noError = fatal.IfError
