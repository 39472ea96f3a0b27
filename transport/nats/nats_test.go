package nats_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	natsgo "github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/nats"
)

// TestMain starts the server's clock for access times outside all bubbles: its goroutine waits on a channel that was
// made there, and inside no virtual time would pass.
func TestMain(m *testing.M) {
	ats.Register()
	os.Exit(m.Run())
}

func TestJournal(t *testing.T) { testkit.TestJournal(t, open(time.Now())) }

func TestRuntime(t *testing.T) { testkit.TestRuntime(t, open(time.Now())) }

// open starts a server without a port in the bubble, and opens two journals on it. The server removes messages by the
// clock outside, and so the bubble begins at its time.
func open(now time.Time) func(t *testing.T) (actors.Journal, actors.Reader) {
	return func(t *testing.T) (actors.Journal, actors.Reader) {
		time.Sleep(time.Until(now))
		s := serve(t)
		return connect(t, s), connect(t, s)
	}
}

func serve(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s
}

func connect(t *testing.T, s *server.Server) *nats.Journal {
	t.Helper()
	j, err := nats.Open(context.Background(), "", nats.Connect(natsgo.InProcessServer(s)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}
