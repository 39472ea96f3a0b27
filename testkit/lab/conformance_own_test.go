package lab_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// serveFixturesAt serves the fixtures at /mcp of the listener until ctx is done. The door stands behind the gate, as that of
// lastword serve does.
func serveFixturesAt(ctx context.Context, listener net.Listener) error {
	const drain = 100 * time.Millisecond
	system, err := actors.New(ctx, actors.Config{Jobs: fixtureJobs(), Drain: drain})
	if err != nil {
		return err
	}
	// The suite leaves runs that wait for answers; Close ends them and says so.
	defer func() { _ = system.Close(context.WithoutCancel(ctx)) }()
	door := mcp.New(mcp.Config{Runs: system, Name: "fixtures", Version: "1"})
	defer door.Close()
	entrance, err := auth.New(auth.Config{Listen: listener.Addr().String()})
	if err = errors.Join(err, registerFixtures(door)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", entrance.Wrap(door))
	return server.Serve(ctx, listener, mux, server.Limits{Drain: drain})
}
