package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

const jobsFile = `jobs:
  wait: {command: [sh, -c, "setsid sleep 1000 & echo $$ $!; head -c 70000 /dev/zero | tr '\\0' x; exec sleep 1000"], env: [PATH], max_output: 128KiB}
  hello: {command: [echo, "hello {name}"], input: {name: {type: string}}, env: [PATH]}
schedules:
  - {name: nightly, job: hello, input: {name: moon}, cron: "0 6 1 1 *", zone: Europe/Berlin}
`

// "Kill -9 of the server: the run ends node_lost, with the output up to then", and the program ends with all that it
// started before the next server begins.
func TestKilledServerEndsItsCommands(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), jobsFile)
	args := []string{"--jobs", "jobs.yaml", "--state", filepath.Join(dir, "state")}
	s := serveHTTP(t, dir, args...)
	c, err := api.New(s.base(), "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "wait", Input: json.RawMessage(`{}`)})
	must(t, err)
	said := func(s messages.State) (pids string) {
		if out, ok := s.Stream("stdout"); ok && out.Closed { // and so it is in the journal
			pids, _, _ = strings.Cut(out.Text(), "\n")
		}
		return pids
	}
	var state messages.State
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
		if said(state) != "" {
			break
		}
	}
	pids := said(state)
	s.ends(syscall.SIGKILL)
	s = serveHTTP(t, dir, args...)
	defer s.ends(syscall.SIGTERM)
	for pid := range strings.FieldsSeq(pids) {
		if runs(pid) {
			t.Errorf("the process %s runs beside the next server", pid)
		}
	}
	c, err = api.New(s.base(), "")
	must(t, err)
	state = messages.State{}
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
	}
	if state.End.Cause != messages.CauseNodeLost || said(state) != pids {
		t.Errorf("the run ended with %s, after %q", state.End.Cause, said(state))
	}
}

// An MCP server of a chat ends with its host, and with all that it has started in sessions of its own.
func TestKilledServerEndsItsMCPServers(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "servers.json"), `{"mcpServers": {"daemon": {"cwd": "`+dir+`", "command": "sh",
		"args": ["-c", "setsid sleep 1000 & echo $$ $! >pids.new; mv pids.new pids; exec sleep 1000"]}}}`)
	s := serveHTTP(t, dir, "--mcp-config", "servers.json")
	var pids []byte
	for pids == nil {
		pids, _ = os.ReadFile(filepath.Join(dir, "pids")) // until the server has begun
	}
	s.ends(syscall.SIGKILL)
	deadline := time.Now().Add(patience)
	for pid := range strings.FieldsSeq(string(pids)) {
		for runs(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("the process %s outlives the server that was killed", pid)
			}
		}
	}
}

// runs reports whether the process runs.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z")
}

// A terminal that closes sends SIGHUP, which is SIGTERM for lastword run: all that the program has started ends.
func TestClosedTerminalEndsARun(t *testing.T) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // otherwise lastword ignores it where these tests run under nohup
	defer signal.Stop(hangup)
	cmd := binary(t, t.TempDir(), "run", "--", "sh", "-c", "setsid sleep 1000 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	must(t, errors.Join(err, cmd.Start()))
	pid, err := bufio.NewReader(out).ReadString('\n')
	must(t, errors.Join(err, cmd.Process.Signal(syscall.SIGHUP)))
	if code := exitCode(t, cmd); code != exit.Terminated || runs(strings.TrimSpace(pid)) {
		t.Errorf("exit code %d, and %s runs: %t", code, pid, runs(strings.TrimSpace(pid)))
	}
}

// The program is in the foreground of its terminal: Ctrl-Z stops it, too.
func TestCtrlZStopsTheProgram(t *testing.T) {
	s := start(t, nil, "sh", "-mc", `lastword run -- sh -c 'trap "echo went on" CONT; echo begun; while :; do sleep 0.05; done'; echo stopped; fg`)
	s.read("begun", 1)
	s.keys("\x1a")
	s.read("stopped", 1)
	s.read("went on", 1)
	s.keys("\x03")
	s.ends(exit.Interrupted)
}

func TestCommandsOfAServer(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), jobsFile)
	s := serveHTTP(t, dir, "--jobs", "jobs.yaml", "--state", filepath.Join(dir, "state"))
	defer s.ends(syscall.SIGTERM)
	if got := run(t, nil, "run", "--detach", "--server", s.base(), "--", "echo", "hello sun"); got.code != exit.Completed || !strings.HasPrefix(got.stdout, "r_") {
		t.Errorf("a listed command: %+v", got)
	}
	if got := run(t, nil, "runs", "watch", "last", "--server", s.base()); got.stdout != "hello sun\n" {
		t.Errorf("its run: %+v", got)
	}
	if got := run(t, nil, "run", "--detach", "--server", s.base(), "--", "touch", filepath.Join(dir, "x")); got.code != exit.Usage || !strings.Contains(got.stderr, "lists no command") {
		t.Errorf("another command: %+v", got)
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"ls", "0 6 1 1 * Europe/Berlin", exit.Completed},
		{"pause nightly", "paused", exit.Completed},
		{"run nightly", "r_", exit.Completed},
		{"resume nightly", "-01-01", exit.Completed},
		{"pause weekly", `there is no schedule "weekly"`, exit.Usage},
	} {
		got := run(t, nil, append(append([]string{"schedules"}, strings.Fields(c.args)...), "--server", s.base())...)
		if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
			t.Errorf("schedules %s: %+v, want %q", c.args, got, c.want)
		}
	}
}
