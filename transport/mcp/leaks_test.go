package mcp_test

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// doorCode is a line of a stack that names a function of the door or of its rooms, not of this test.
var doorCode = regexp.MustCompile(`(?m)^(created by )?\S*/transport/mcp(/[a-z]+)?\.`)

// atTheDoor are the stacks of the goroutines that the door has.
func atTheDoor() (stacks []string) {
	buffer := make([]byte, 8<<20)
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		if doorCode.MatchString(stack) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// Anyone who leaves, in the middle of whatever, leaves nothing behind at the door.
func TestNothingIsLeftOfThoseWhoLeft(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, system := taskDoor(t)
		s.AddChanges(fileChanges())
		var sessions atomic.Int64
		library(s).GetHooks().AddOnRegisterSession(func(context.Context, server.ClientSession) { sessions.Add(1) })
		library(s).GetHooks().AddOnUnregisterSession(func(context.Context, server.ClientSession) { sessions.Add(-1) })
		state, err := s.Start(t.Context(), "waits", nil, mcp.StartOptions{})
		must(t, err)
		t.Run("clients", func(t *testing.T) { // whose end has them leave
			for i := range 6 {
				c := dialAs(t, s, how, as{capabilities: both})
				for n, x := range c.everything(state.RunID) {
					switch (i + n) % 3 {
					case 1:
						c.cancel(x)
					case 2:
						c.hangUp(x)
					}
					if how.stdio && (i+n)%3 == 2 {
						break // it is gone
					}
				}
			}
		})
		if how == legacyHTTP {
			s.Close() // a session has no other end than that its time is over
		}
		must(t, system.Cancel(t.Context(), state.RunID, "", ""))
		for deadline := time.Now().Add(patience); ; runtime.Gosched() {
			left := atTheDoor()
			if len(left) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
			}
		}
		if left := sessions.Load(); left != 0 {
			t.Errorf("%d sessions are registered", left)
		}
	})
}

// everything are requests of every kind that do not end by themselves.
func (c *client) everything(id messages.RunID) []*exchange {
	open := []*exchange{
		c.callTool("waits", map[string]any{}, "t1"), c.callTool("confirm", map[string]any{}, "t2"),
		c.callTool("run_wait", of(id), nil), c.callTool("run_attach", of(id), "t3"),
		c.callTool("run_events", of(id, "after", 3, "wait_ms", 50_000), nil),
	}
	if c.how.modern {
		return append(open, c.start("subscriptions/listen", map[string]any{"notifications": map[string]any{
			"toolsListChanged": true, "resourceSubscriptions": []string{string(mcp.RunURI(id)), "x://y", "file://a"},
			"taskIds": []string{string(id)}}}))
	}
	c.do("resources/subscribe", map[string]any{"uri": mcp.RunURI(id)})
	c.do("resources/subscribe", map[string]any{"uri": "file://a"})
	c.callTool("run_start", map[string]any{"job": "waits", "detached": false}, nil).response()
	task := map[string]any{"name": "confirm", "arguments": map[string]any{}, "task": map[string]any{}}
	created := c.do("tools/call", task)
	return append(open, c.start("tasks/result", about(read[struct {
		Task struct {
			ID messages.RunID `json:"taskId"`
		} `json:"task"`
	}](c.t.(*testing.T), created.Result).Task.ID)))
}

// fileChanges are changes of resources file://{path}, which the artifacts of runs are by their paths.
func fileChanges() mcp.Changes {
	return mcp.Changes{
		Files: func(uri string) []string {
			if path, ok := strings.CutPrefix(uri, "file://"); ok {
				return []string{path}
			}
			return nil
		},
		File: func(_ messages.State, a messages.Artifact) string { return a.Path },
	}
}
