package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
)

// payShell is a program of five steps by lastword step. Each real payment is a line of the file charges.
const payShell = `for i in 1 2 3 4 5; do lastword step "charge-$i" -- sh -c 'echo "$LASTWORD_KEY" >>charges; echo "$LASTWORD_KEY"; [ ! -e /dev/fd/3 ] && [ ! -e /dev/fd/4 ]' || exit; done`

// lastword run --state is killed with SIGKILL at each step, and runs retry goes on with those that are kept: the program
// finishes, no step is kept twice, and keys stay the same.
func TestKilledRunGoesOn(t *testing.T) {
	for kill := range 7 {
		if testing.Short() && kill%3 != 0 {
			continue
		}
		dir := t.TempDir()
		cmd := binary(t, dir, "run", "--state", "runs", "--jsonl", "--", "sh", "-c", payShell)
		var says strings.Builder
		cmd.Stderr = &says
		out, err := cmd.StdoutPipe()
		must(t, errors.Join(err, cmd.Start()))
		seen := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e messages.Event
			must(t, json.Unmarshal(lines.Bytes(), &e))
			if _, ok := e.Body.(messages.StepKept); ok {
				if seen++; seen == kill {
					must(t, cmd.Process.Kill())
				}
			}
		}
		code := exitCode(t, cmd)
		if killed := kill > 0; (code == exit.Completed) == killed {
			t.Fatalf("killed at %d: exit code %d\n%s", kill, code, &says)
		}
		again := binary(t, dir, "runs", "retry", "last", "--state", "runs")
		text, err := again.CombinedOutput()
		charges, failed := os.ReadFile(filepath.Join(dir, "charges"))
		must(t, failed)
		done := strings.Fields(string(charges))
		keys := slices.Compact(slices.Clone(done))
		if kill == 0 { // it completed, so the retry begins anew
			keys, done = keys[5:], done[5:]
		}
		if err != nil || len(keys) != 5 || len(done) > 6 || strings.Count(string(text), "/charge-") != 5 {
			t.Errorf("killed at %d: %v, %d charges with %d keys\n%s", kill, err, len(done), len(keys), text)
		}
	}
}

// A program in the background outlives the command, and its folder has its log.
func TestBackground(t *testing.T) {
	dir := t.TempDir()
	id, err := binary(t, dir, "run", "--background", "--state", "runs", "--retry", "1", "--", "sh", "-c",
		`until [ -e go ]; do sleep 0.02; done; echo "attempt $LASTWORD_ATTEMPT"; [ $LASTWORD_ATTEMPT = 2 ]`).Output()
	must(t, err)
	get := func() (s messages.State) {
		text, err := binary(t, dir, "runs", "get", strings.TrimSpace(string(id)), "--state", "runs").Output()
		must(t, errors.Join(err, json.Unmarshal(text, &s)))
		return s
	}
	s := get()
	if s.Status.IsEnded() {
		t.Errorf("%s: %s beside its process", id, s.Status)
	}
	for put(t, filepath.Join(dir, "go"), ""); !s.Status.IsEnded(); {
		s = get()
	}
	if out, _ := s.Stream("stdout"); s.Status != messages.Completed || out.Text() != "attempt 2\n" {
		t.Errorf("it ends %s with %q", s.Status, out.Text())
	}
	must(t, binary(t, dir, "run", "--state", "done", "--", "true").Run())
	if got := run(t, nil, "runs", "watch", "last", "--state", filepath.Join(dir, "done")); got.code != exit.Configuration || !strings.Contains(got.stderr, "lastword explain last --state") {
		t.Errorf("a watcher who comes too late: %+v", got)
	}
	if got := run(t, nil, "run", "--background", "--detach", "--", "true"); got.code != exit.Usage {
		t.Errorf("--background with --detach: %+v", got)
	}
}
