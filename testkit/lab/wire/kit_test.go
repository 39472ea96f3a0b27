package wire_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server whose tools a test looks into.
type fixture struct {
	wire    *wire.Server
	entered chan *wire.Exchange // by the tool "wait"
	causes  chan error          // why "wait" ended
}

func newFixture(t testing.TB, config wire.Config) *fixture {
	t.Helper()
	f := &fixture{entered: make(chan *wire.Exchange, 64), causes: make(chan error, 64)}
	config.MCP = server.NewMCPServer("fixture", "1", server.WithToolCapabilities(true), server.WithLogging(),
		server.WithResourceCapabilities(true, true))
	config.MCP.EnableSampling()
	for name, handler := range map[string]server.ToolHandlerFunc{"count": count, "wait": f.wait, "echo": echo} {
		config.MCP.AddTool(mcp.NewTool(name), handler)
	}
	config.Info = mcp.Implementation{Name: "fixture", Version: "1"}
	f.wire = wire.New(config)
	t.Cleanup(f.wire.Close)
	return f
}

// count notifies n numbered events, each with what the caller sent as tag.
func count(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := wire.From(ctx)
	for i := range r.GetInt("n", 5) {
		progress := map[string]any{"progressToken": x.ProgressToken(), "progress": i + 1, "message": r.GetString("tag", "")}
		if err := x.Notify("notifications/progress", progress); err != nil {
			return nil, err
		}
	}
	return echo(ctx, r)
}

func echo(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(r.GetString("tag", "")), nil
}

// wait says that it is there and waits for its end.
func (f *fixture) wait(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	f.entered <- wire.From(ctx)
	<-ctx.Done()
	f.causes <- context.Cause(ctx)
	return mcp.NewToolResultText("ended"), nil
}

// serveHTTP serves the fixture over a socket.
func (f *fixture) serveHTTP(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(f.wire)
	t.Cleanup(s.Close)
	t.Cleanup(f.wire.Close)
	return s.URL
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

func toolCall(id, tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`,
		id, tool, arguments, meta)
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
