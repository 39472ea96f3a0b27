package wire_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server with the tool "echo".
type fixture struct{ wire *wire.Server }

func newFixture(t testing.TB, config wire.Config) *fixture {
	t.Helper()
	config.MCP = server.NewMCPServer("fixture", "1", server.WithToolCapabilities(true), server.WithLogging(),
		server.WithResourceCapabilities(true, true))
	config.MCP.EnableSampling()
	config.MCP.AddTool(mcp.NewTool("echo"), echo)
	config.Info = mcp.Implementation{Name: "fixture", Version: "1"}
	f := &fixture{wire.New(config)}
	t.Cleanup(f.wire.Close)
	return f
}

func echo(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(r.GetString("tag", "")), nil
}

// serveHTTP serves the fixture over a socket.
func (f *fixture) serveHTTP(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(f.wire)
	t.Cleanup(s.Close)
	t.Cleanup(f.wire.Close)
	return s.URL
}

func soon[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
