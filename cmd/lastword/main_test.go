package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

// TestMain has two commands on the path: lastword, as make build makes it, and lastword-faulty.
func TestMain(m *testing.M) {
	testscript.Main(withBinary{m}, map[string]func(){"lastword-faulty": faulty})
}

type withBinary struct{ m *testing.M }

func (w withBinary) Run() int {
	dir, err := os.MkdirTemp("", "lastword-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "lastword"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return w.m.Run()
}

// faulty is lastword with a fault where a task's actor is told to begin: FAULT is panic:TASK or block:TASK. HARD is how
// long a blocked task may ignore a cancel.
func faulty() {
	what, task, _ := strings.Cut(os.Getenv("FAULT"), ":")
	hard, err := time.ParseDuration(os.Getenv("HARD"))
	if err != nil {
		hard = time.Hour
	}
	os.Exit(program(actors.Config{CancelSoft: hard, CancelHard: hard, Inject: func(p actors.Point) {
		if p.Actor == task && fmt.Sprintf("%T", p.Message) == "*actors.begin" {
			fault(what)
		}
	}}))
}

func fault(what string) {
	switch what {
	case "panic":
		panic("a fault was injected")
	case "block":
		select {}
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			// A test binary that measures coverage warns on stderr where it has no place for what it measured.
			env.Setenv("GOCOVERDIR", env.Getenv("TMPDIR"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "Gardener")
				env.Setenv("GIT_"+who+"_EMAIL", "gardener@example.com")
				env.Setenv("GIT_"+who+"_DATE", "2026-01-02T03:04:05Z")
			}
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "fold": fold, "plain": plain, "serve": serve, "fill": fill, "model": serveModel, "asked": asked,
			"dialect": serveDialect,
		},
	})
}

// TestRunNeedsNoProcess: the program is a function of its arguments, writers and configuration.
func TestRunNeedsNoProcess(t *testing.T) {
	var stdout, stderr strings.Builder
	code := run(context.Background(), []string{"version"}, &stdout, &stderr, actors.Config{})
	if code != exit.Completed || !strings.HasPrefix(stdout.String(), "lastword ") || stderr.Len() > 0 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}
