package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

const jobsFile = `jobs:
  wait: {command: [sh, -c, "echo $$; head -c 70000 /dev/zero | tr '\\0' x; exec sleep 1000"], env: [PATH], max_output: 128KiB}
  hello: {command: [echo, "hello {name}"], input: {name: {type: string}}, env: [PATH]}
schedules:
  - {name: nightly, job: hello, input: {name: moon}, cron: "0 6 1 1 *", zone: Europe/Berlin}
`

// "Kill -9 of the server: the run ends node_lost, with the output up to then", and the program ends with the server.
func TestKilledServerEndsItsCommands(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), jobsFile)
	args := []string{"--jobs", "jobs.yaml", "--state", filepath.Join(dir, "state")}
	s := serveHTTP(t, dir, args...)
	c, err := api.New(s.base(), "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "wait", Input: json.RawMessage(`{}`)})
	must(t, err)
	said := func(s messages.State) (pid string) {
		if out, ok := s.Stream("stdout"); ok && out.Closed { // and so it is in the journal
			pid, _, _ = strings.Cut(out.Text(), "\n")
		}
		return pid
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
	pid := said(state)
	s.ends(syscall.SIGKILL)
	for running := true; running; {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		running = err == nil && !strings.Contains(string(stat), ") Z")
		if t.Context().Err() != nil {
			t.Fatalf("the program %s runs on", pid)
		}
	}
	s = serveHTTP(t, dir, args...)
	defer s.ends(syscall.SIGTERM)
	if c, err = api.New(s.base(), ""); err != nil {
		t.Fatal(err)
	}
	state = messages.State{}
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
	}
	if state.End.Cause != messages.CauseNodeLost || said(state) != pid {
		t.Errorf("the run ended with %s, after %q", state.End.Cause, said(state))
	}
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
