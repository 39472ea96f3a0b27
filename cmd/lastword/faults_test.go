package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// logOf starts the job, reads its run to the end, and returns how that came, and the faults in its log.
func logOf(t *testing.T, c *api.Client, job, input string) (state messages.State, faults []string) {
	t.Helper()
	id, err := c.Submit(t.Context(), messages.Request{Job: job, Input: json.RawMessage(input)})
	must(t, err)
	return followed(t, c, id)
}

func followed(t *testing.T, c *api.Client, id messages.RunID) (state messages.State, faults []string) {
	t.Helper()
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
		if f, ok := e.Body.(messages.FaultInjected); ok {
			faults = append(faults, f.Fault)
		}
	}
	return state, faults
}

// The page's table lists the points.
func TestFaultTable(t *testing.T) {
	const name = "../../docs/operations.md"
	page, err := os.ReadFile(name)
	must(t, err)
	var table strings.Builder
	table.WriteString("| point | what happens | how the run ends |\n|---|---|---|\n")
	for _, p := range fault.Points() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", p.Point, p.What, p.Then)
	}
	heldTo(t, name, between(t, string(page), "faults", table.String()))
}

// An admin arms a point of what the server asks, starts and writes: the next run that comes by has it in its log, and ends
// as the table says.
func TestFaultPointsOfServe(t *testing.T) {
	dir, m := plant(t, gardenText), testkit.NewModel(t)
	m.Always(testkit.Text("one "), testkit.Text("two "), testkit.Text("three"), testkit.Finish("stop"), testkit.Done())
	put(t, filepath.Join(dir, "jobs.yaml"), "jobs:\n  hello: {command: [echo, hello]}\n")
	s := serveHTTP(t, dir, "--jobs", "jobs.yaml", "--enable-faults", "--allow-local", "--ephemeral", "--base-url", m.URL(), "--model", "scripted",
		"--retries", "0")
	c, err := api.New(s.base(), "")
	must(t, err)
	const prompt, garden = `{"text":"hi"}`, `{"repository":"garden"}`
	for _, f := range []struct {
		arm, job, input string
		cause           messages.Code
	}{
		{"task.panic --task respond", "prompt", prompt, messages.CauseInjected},
		{"model.refuse", "prompt", prompt, messages.CauseInjected},
		{"model.cut", "prompt", prompt, messages.CauseInjected},
		{"model.end", "prompt", prompt, messages.CauseInjected},
		{"model.stall --for 1ms", "prompt", prompt, ""},
		{"command.fail --job hello", "hello", `{}`, messages.CauseInjected},
		{"disk.full", "generate", garden, messages.CauseInjected},
		{"journal.slow --for 1ms", "prompt", prompt, ""},
	} {
		point, _, _ := strings.Cut(f.arm, " ")
		got := run(t, nil, append([]string{"fault", "arm", "--server", s.base(), "--count", "1"}, strings.Fields(f.arm)...)...)
		if got.code != exit.Completed || !strings.Contains(got.stdout, point+"  ") {
			t.Fatalf("%s: %+v", f.arm, got)
		}
		end, faults := logOf(t, c, f.job, f.input)
		if !slices.Equal(faults, []string{point}) || end.End.Cause != f.cause {
			t.Errorf("%s: the log has %q, and the run ended as %s: %+v", f.arm, faults, end.Status, end.End)
		}
	}
	if got := run(t, nil, "fault", "disarm", "--server", s.base()); got.stderr != "no fault is armed\n" {
		t.Errorf("disarm: %+v", got)
	}
	if got := run(t, nil, "fault", "ls", "--server", s.base()); strings.Count(got.stdout, "\n") != 1+len(fault.Points()) {
		t.Errorf("ls: %+v", got)
	}
	if got := run(t, nil, "fault", "arm", "task.dance", "--server", s.base()); got.code != exit.Usage || !strings.Contains(got.stderr, "fault ls") {
		t.Errorf("a point that there is not: %+v", got)
	}
	s.ends(syscall.SIGTERM)
}

// A reader's fault is the reader's: the run goes on to its end.
func TestFaultyReaders(t *testing.T) {
	dir, m := t.TempDir(), testkit.NewModel(t)
	s := serveHTTP(t, dir, "--enable-faults", "--ephemeral", "--base-url", m.URL(), "--model", "scripted")
	c, err := api.New(s.base(), "")
	must(t, err)
	for i, arm := range []string{"reader.vanish", "reader.stuck --for 1ms", "reader.slow --for 1ms"} {
		gate := make(chan struct{})
		m.Answer(testkit.Text("one"), testkit.Until(gate), testkit.Finish("stop"), testkit.Done())
		id, err := c.Submit(t.Context(), messages.Request{Job: "prompt", Input: json.RawMessage(`{"text":"hi"}`)})
		must(t, err)
		<-m.Asked(i)
		point, _, _ := strings.Cut(arm, " ")
		if got := run(t, nil, append([]string{"fault", "arm", "--server", s.base(), "--count", "1"}, strings.Fields(arm)...)...); got.code != exit.Completed {
			t.Fatalf("%s: %+v", arm, got)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base()+"/v1/runs/"+string(id)+"/events", nil)
		must(t, err)
		request.Header.Set("Accept", "text/event-stream")
		var body []byte
		answer, err := http.DefaultClient.Do(request) // whose connection may break before the answer
		slow := point == "reader.slow"
		if slow {
			close(gate)
		}
		if err == nil {
			body, err = io.ReadAll(answer.Body)
			answer.Body.Close()
		}
		whole := strings.Contains(string(body), "event: run.completed")
		if whole != slow || (err == nil) != slow {
			t.Errorf("%s: %v after %s", arm, err, body)
		}
		if !slow {
			close(gate)
		}
		if end, faults := followed(t, c, id); !slices.Equal(faults, []string{point}) || end.Status != messages.Completed {
			t.Errorf("%s: the log has %q, and the run ended as %+v", arm, faults, end.End)
		}
	}
	s.ends(syscall.SIGTERM)
}

// A file arms. The kill comes when its record is durable, and the next process says how the run ended.
func TestFaultKillsTheNode(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), "jobs:\n  hello: {command: [echo, hello]}\n")
	put(t, filepath.Join(dir, "faults.yaml"), "faults:\n  - {point: node.kill, job: hello, at: work returns, count: 1, expires: 10m}\n")
	args := []string{"--jobs", "jobs.yaml", "--state", filepath.Join(dir, "state")}
	s := serveHTTP(t, dir, append(args, "--faults", "faults.yaml")...)
	c, err := api.New(s.base(), "")
	must(t, err)
	if got := run(t, nil, "fault", "disarm", "--server", s.base()); got.code != exit.Failed || !strings.Contains(got.stderr, "serve --enable-faults") {
		t.Errorf("a server that does not take orders: %+v", got)
	}
	id, err := c.Submit(t.Context(), messages.Request{Job: "hello", Input: json.RawMessage(`{}`)})
	must(t, err)
	if code := exitCode(t, s.cmd); code != -1 {
		t.Errorf("the process ended with %d", code)
	}
	s = serveHTTP(t, dir, args...)
	c, err = api.New(s.base(), "")
	must(t, err)
	if end, faults := followed(t, c, id); !slices.Equal(faults, []string{"node.kill"}) || end.End.Cause != messages.CauseNodeLost {
		t.Errorf("the log has %q, and the run ended as %+v", faults, end.End)
	}
	s.ends(syscall.SIGTERM)
	put(t, filepath.Join(dir, "faults.yaml"), "faults:\n  - {point: node.kill, probability: 2}\n  - {point: task.dance}\n")
	if got := run(t, nil, "serve", "--faults", filepath.Join(dir, "faults.yaml")); got.code != exit.Configuration || !strings.Contains(got.stderr, "faults.yaml:2:") {
		t.Errorf("a file that is wrong: %+v", got)
	}
}

// Nobody but an admin arms.
func TestFaultsNeedAnAdmin(t *testing.T) {
	dir := t.TempDir()
	mia, ops := tokenFor(t, dir, "mia"), tokenFor(t, dir, "--scope", "admin", "ops")
	put(t, filepath.Join(dir, "mia"), mia)
	put(t, filepath.Join(dir, "ops"), ops)
	s := serveHTTP(t, dir, "--tokens", "tokens", "--enable-faults", "--ephemeral")
	for who, want := range map[string]string{"mia": "admin", "ops": ""} {
		got := run(t, nil, "fault", "arm", "task.panic", "--server", s.base(), "--token-file", filepath.Join(dir, who))
		if (got.code == exit.Completed) != (want == "") || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", who, got)
		}
	}
	s.ends(syscall.SIGTERM)
}
