package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/durable"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

func init() { programs["lastword-inside"] = inside }

// inside is somebody's program with a server of mcp-go, whose calls are runs. Its arguments are what it uses, Serve or
// Durable, the folder with the pipes of slowness, and the log's folder. At its start it writes what became of earlier calls.
func inside() {
	if err := runInside(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runInside(ctx context.Context, how, dir, state string) error {
	log, err := sqlite.Open(state)
	if err != nil {
		return err
	}
	system, err := actors.New(ctx, actors.Config{Journal: log, Jobs: []actors.Definition{durable.Tools()}})
	if err != nil {
		return err
	}
	srv := server.NewMCPServer("kit", "1", server.WithToolCapabilities(true))
	for _, tool := range []protocol.Tool{protocol.NewTool("quick"), protocol.NewTool("pay"), protocol.NewTool("slow", protocol.WithIdempotentHintAnnotation(true))} {
		srv.AddTool(tool, func(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			if tool.Name != "quick" {
				calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_WRONLY, 0)
				if err != nil {
					return nil, err
				}
				fmt.Fprintln(calls, tool.Name)
				calls.Close()
				_, _ = os.ReadFile(filepath.Join(dir, "go")) // an error lets it go on, too
			}
			return protocol.NewToolResultText(tool.Name + " is done"), nil
		})
	}
	if how == "Serve" {
		return mcp.Serve(srv, system).Serve(ctx, os.Stdin, os.Stdout)
	}
	runs, err := system.List(ctx, messages.Query{})
	if err != nil {
		return err
	}
	for _, r := range runs {
		for _, err := range system.Events(ctx, r.RunID, 0) {
			if err != nil {
				return err
			}
		}
		ended, err := system.State(ctx, r.RunID)
		if err != nil {
			return err
		}
		end, err := json.Marshal(ended.End)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, ended.Queued.Labels["mcp.tool"], ended.Status, string(end))
	}
	srv.Use(mcp.Durable(system, "kit"))
	return server.ServeStdio(srv)
}

// A program with mcp.Serve is killed during calls. Then the result of a call that had ended is there, one that may be repeated
// is made again, and another has node_lost.
func TestServeKilled(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "log")
	next, release := slowness(t, dir)
	start := func() *mcpSession {
		return speakTo(t, exec.CommandContext(t.Context(), "lastword-inside", "Serve", dir, state))
	}
	s := start()
	ids := map[string]string{}
	for _, tool := range []string{"quick", "pay", "slow"} {
		var created struct{ Task struct{ TaskID string } }
		must(t, json.Unmarshal(s.ask("tools/call", fmt.Sprintf(`{"name":%q,"task":{"ttl":60000}}`, tool)).Result, &created))
		ids[tool] = created.Task.TaskID
	}
	s.ask("tasks/result", fmt.Sprintf(`{"taskId":%q}`, ids["quick"]))
	next()
	next()
	s.signal(syscall.SIGKILL)
	_ = s.cmd.Wait() // it was killed
	release()
	s = start()
	for tool, want := range map[string]string{"quick": "quick is done", "slow": "slow is done", "pay": "may have happened"} {
		a := s.call("run_wait", fmt.Sprintf(`{"run_id":%q}`, ids[tool]))
		if text := a.Content[0].Text; !strings.Contains(text, want) || a.IsError != (tool == "pay") || tool == "pay" && a.code() != messages.CauseNodeLost {
			t.Errorf("%s: %+v", tool, a)
		}
	}
	if made := next(); made != "slow" {
		t.Errorf("it calls %s", made)
	}
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.stderr.String())
	}
}

// A program with mcp.Durable is killed during a call, which only its dead process could make: it has node_lost, and the result
// of an earlier call is there.
func TestDurableKilled(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "log")
	next, _ := slowness(t, dir)
	start := func() *mcpSession {
		return speakTo(t, exec.CommandContext(t.Context(), "lastword-inside", "Durable", dir, state))
	}
	s := start()
	if m := s.ask("tools/call", `{"name":"quick"}`); !strings.Contains(string(m.Result), "quick is done") {
		t.Errorf("it answers %s %s", m.Result, m.Error)
	}
	s.send("tools/call", `{"name":"slow"}`)
	next()
	s.signal(syscall.SIGKILL)
	_ = s.cmd.Wait() // it was killed
	s = start()
	s.ends()
	said := s.stderr.String()
	fatal.IfLacking(t, said, "kit/quick completed", `"text":"quick is done"`, "kit/slow failed", "node_lost")
}
