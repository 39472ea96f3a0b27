package lab_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// behindServer names the variable that makes the test's binary a server with the tool echo.
const behindServer = "LASTWORD_WRAP_BEHIND"

func serveBehind() error {
	s := server.NewMCPServer("behind", "1")
	s.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("done"), nil
	})
	return server.ServeStdio(s)
}

// wrapFigures compare a call through lastword mcp --wrap with one of the server behind it. In memory a call costs a quarter for
// the run, its seven events and its reader, a quarter for the JSON of both sides, an eighth for the collector, and 0.1 ms for the
// server behind, which now wakes up for each call. SQLite adds the transactions, of which few calls share one.
func wrapFigures(binary string) []figure {
	var rows []figure
	for store, most := range map[string]float64{"memory": 10, "SQLite": 30} {
		wrapped := func(t *testing.T) (wall, cpu float64) {
			settings := filepath.Join(t.TempDir(), "servers.json")
			must(t, os.WriteFile(settings, fmt.Appendf(nil, `{"mcpServers":{"b":{"command":%q,"env":{%q:"1"}}}}`, os.Args[0], behindServer), 0o600))
			more := "--ephemeral"
			if store == "SQLite" {
				more = "--state=" + t.TempDir()
			}
			return echoTime(t, binary, "mcp", "--wrap", settings, more)
		}
		alone := func(t *testing.T) (wall, cpu float64) { return echoTime(t, os.Args[0]) }
		rows = append(rows,
			figure{name: "wrapped call, " + store + ", 16 in flight, CPU beyond its server's", unit: "us", goal: 300, ours: func(t *testing.T) float64 {
				_, ours := wrapped(t)
				_, server := alone(t)
				return ours - server
			}},
			figure{name: "wrapped call, " + store + ", 16 in flight, vs its server alone", unit: "us", goal: most,
				ours:     func(t *testing.T) float64 { wall, _ := wrapped(t); return wall },
				baseline: func(t *testing.T) float64 { wall, _ := alone(t); return wall }})
	}
	return rows
}

// echoTime is the time of a call of a server, and the time that the server and what it has started are busy with it, in
// microseconds.
func echoTime(t *testing.T, command string, args ...string) (wall, cpu float64) {
	t.Helper()
	const calls, inFlight = 2000, 16
	var cmd *exec.Cmd
	c := mcpgo.NewClient(transport.NewStdioWithOptions(command, nil, args, transport.WithCommandFunc(
		func(ctx context.Context, command string, _, args []string) (*exec.Cmd, error) {
			cmd = exec.CommandContext(ctx, command, args...)
			cmd.Env = append(os.Environ(), behindServer+"=1", "HOME="+t.TempDir())
			return cmd, nil
		})))
	must(t, c.Start(t.Context()))
	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	must(t, err)
	call := func() {
		var r mcp.CallToolRequest
		r.Params.Name = "echo"
		if got, err := c.CallTool(t.Context(), r); err != nil || got.IsError {
			t.Errorf("%+v, %v", got, err)
		}
	}
	call() // starts the server behind
	begin := time.Now()
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for range calls / inFlight {
				call()
			}
		})
	}
	workers.Wait()
	wall = float64(time.Since(begin)) / float64(time.Microsecond) / calls
	must(t, c.Close())
	return wall, float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / float64(time.Microsecond) / calls
}
