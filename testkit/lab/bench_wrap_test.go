package lab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// behindServer names the variable that makes the test's binary a server with the tools echo and slow. Its value is how long
// slow takes.
const behindServer = "LASTWORD_WRAP_BEHIND"

func serveBehind(pause string) error {
	takes, err := time.ParseDuration(pause)
	if err != nil {
		return err
	}
	s := server.NewMCPServer("behind", "1")
	s.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("done"), nil
	})
	s.AddTool(mcp.NewTool("slow"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(takes)
		return mcp.NewToolResultText("The answer is 42."), nil
	})
	if takes > 0 {
		return server.ServeStdio(s, server.WithWorkerPoolSize(100))
	}
	return server.ServeStdio(s)
}

// wrapFigures compare a call through lastword mcp --wrap with one of the server behind it. In memory a call costs a quarter for
// the run, its seven events and its reader, a quarter for the JSON of both sides, an eighth for the collector, and 0.1 ms for the
// server behind, which now wakes up for each call. SQLite adds the transactions, of which few calls share one.
func wrapFigures(binary string) []figure {
	settings := func(t *testing.T) string { return behindSettings(t, "0s") }
	var rows []figure
	for _, goals := range []struct {
		store          string
		alone, atProxy float64 // the greatest time of a call for one of the server alone, and for one of mcp-proxy
	}{{"memory", 10, 1.43}, {"SQLite", 30, 3}} {
		store := goals.store
		wrapped := look[echoed]{take: func(t *testing.T) echoed {
			return echo(t, binary, "mcp", "--wrap", settings(t), kept(t, store))
		}}
		alone := look[echoed]{take: func(t *testing.T) echoed { return echo(t, os.Args[0]) }}
		wall, cpu := func(e echoed) float64 { return e.wall }, func(e echoed) float64 { return e.cpu }
		rows = append(rows,
			figure{name: "wrapped call, " + store + ", 16 in flight, CPU beyond its server's", unit: "us", goal: 300,
				ours: beyond(wrapped.tell(cpu), alone.tell(cpu))},
			figure{name: "wrapped call, " + store + ", 16 in flight, vs its server alone", unit: "us", goal: goals.alone,
				ours: wrapped.tell(wall), baseline: alone.tell(wall)},
			figure{name: "wrapped call over HTTP, " + store + ", 16 in flight, vs mcp-proxy", unit: "us", goal: goals.atProxy,
				ours: func(t *testing.T) float64 {
					return servedTime(t, binary, "serve", "--http", "127.0.0.1:PORT", "--wrap", settings(t), kept(t, store))
				},
				baseline: func(t *testing.T) float64 {
					script := filepath.Join(npmInstall(t, "proxies"), "node_modules", "mcp-proxy", "dist", "bin", "mcp-proxy.mjs")
					return servedTime(t, "node", script, "--host", "127.0.0.1", "--port", "PORT", "--server", "stream", "--", os.Args[0])
				}})
	}
	return rows
}

// kept returns the flag that says where runs are kept.
func kept(t *testing.T, store string) string {
	if store == "SQLite" {
		return "--state=" + t.TempDir()
	}
	return "--ephemeral"
}

// servedTime is the time of a call of a server that the command serves over HTTP at PORT, in microseconds.
func servedTime(t *testing.T, command string, args ...string) float64 {
	t.Helper()
	port := freePorts(t, 1)[0]
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PORT", port)
	}
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env, cmd.Dir = append(atHome(t), behindServer+"=0s"), t.TempDir()
	must(t, cmd.Start())
	defer func() {
		stop()
		_ = cmd.Wait() // it was interrupted
	}()
	answers(t, port)
	c, err := mcpgo.NewStreamableHttpClient("http://127.0.0.1:" + port + "/mcp")
	must(t, err)
	must(t, c.Start(t.Context()))
	defer c.Close()
	return timeOfCall(t, c)
}

// calls is how many calls a sample makes.
const calls, inFlight = 2000, 16

// echoed is the time of a call of a server, and the time that the server and what it has started are busy with it, in
// microseconds.
type echoed struct{ wall, cpu float64 }

func echo(t *testing.T, command string, args ...string) (e echoed) {
	t.Helper()
	var cmd *exec.Cmd
	c := mcpgo.NewClient(transport.NewStdioWithOptions(command, nil, args, transport.WithCommandFunc(
		func(ctx context.Context, command string, _, args []string) (*exec.Cmd, error) {
			cmd = exec.CommandContext(ctx, command, args...)
			cmd.Env = append(os.Environ(), behindServer+"=0s", "HOME="+t.TempDir())
			return cmd, nil
		})))
	must(t, c.Start(t.Context()))
	e.wall = timeOfCall(t, c)
	must(t, c.Close())
	e.cpu = float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / float64(time.Microsecond) / calls
	return e
}

// timeOfCall is the time of a call of the client's server, in microseconds.
func timeOfCall(t *testing.T, c *mcpgo.Client) float64 {
	t.Helper()
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
	return float64(time.Since(begin)) / float64(time.Microsecond) / calls
}
