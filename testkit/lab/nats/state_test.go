package nats_test

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

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
