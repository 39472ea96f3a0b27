package main

import (
	"bytes"
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
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// programs are on the path of the tests, beside lastword as make build makes it.
var programs = map[string]func(){"lastword-faulty": faulty, "lastword-patient": patient}

func TestMain(m *testing.M) { testscript.Main(withBinary{m}, programs) }

type withBinary struct{ m *testing.M }

func (w withBinary) Run() int {
	dir, err := os.MkdirTemp("", "lastword-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// The version is (devel), as this test's: it is in pages, and doctor compares the two.
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "lastword"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return w.m.Run()
}

// patient is lastword whose questions may wait for years.
func patient() {
	p := host.ThisProcess(rootCommand)
	p.Actors.Ceilings.Answer = 10 * 365 * 24 * time.Hour
	os.Exit(p.Run(context.Background()))
}

// faulty is lastword with a fault where a task's actor is told to begin: FAULT is panic:TASK or block:TASK. HARD is
// how long a blocked task may ignore a cancel.
func faulty() {
	what, task, _ := strings.Cut(os.Getenv("FAULT"), ":")
	hard, err := time.ParseDuration(os.Getenv("HARD"))
	if err != nil {
		hard = time.Hour
	}
	p := host.ThisProcess(rootCommand)
	p.Actors = actors.Config{CancelSoft: hard, CancelHard: hard, Inject: func(p actors.Point) {
		if p.Actor == task && fmt.Sprintf("%T", p.Message) == "*actors.begin" {
			misbehave(what)
		}
	}}
	os.Exit(p.Run(context.Background()))
}

func misbehave(what string) {
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
			docs, err := filepath.Abs("../../docs")
			env.Setenv("DOCS", docs)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "fold": fold, "plain": plain, "serve": serve, "fill": fill, "model": serveModel, "asked": asked,
			"dialect": serveDialect,
		},
	})
}

// ran is a run of the program that has ended.
type ran struct {
	code           int
	stdout, stderr string
}

// run runs the program in this process. Its environment is an empty home and the variables.
func run(t *testing.T, env []string, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := host.Program{Args: args, Env: append([]string{"HOME=" + t.TempDir()}, env...), Stdout: &stdout, Stderr: &stderr,
		Stdin: strings.NewReader(""), Commands: rootCommand}
	return ran{p.Run(t.Context()), stdout.String(), stderr.String()}
}

// The program is a value: its environment, its input and its output are its own.
func TestProgramNeedsNoProcess(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hello"), testkit.Finish("stop"), testkit.Done())
	var stdout, stderr bytes.Buffer
	p := host.Program{Args: []string{"prompt", "-", "--model", "scripted"}, Stdin: strings.NewReader("Hi there\n"),
		Env: []string{"LASTWORD_BASE_URL=" + m.URL()}, Stdout: &stdout, Stderr: &stderr, Commands: rootCommand}
	if code := p.Run(t.Context()); code != exit.Completed || stdout.String() != "Hello\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	if got := m.Requests()[0].Chat.Messages; len(got) != 1 || !strings.Contains(fmt.Sprintf("%s", got), "Hi there") {
		t.Errorf("the model was asked %s", got)
	}
}

var must = fatal.IfError

// version is answered before the packages that take long to initialise.
func TestVersionStartsLittle(t *testing.T) {
	cmd := exec.Command("lastword", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "lastword ") {
		t.Fatalf("%q, %v", out, err)
	}
	if !strings.Contains(trace.String(), "init os ") {
		t.Fatalf("there is no trace of what was initialised: %s", trace.String())
	}
	for _, slow := range []string{"santhosh-tekuri/jsonschema", "yuin/goldmark", "llmstxt/internal/rank ", "client_golang/prometheus "} {
		if strings.Contains(trace.String(), slow) {
			t.Errorf("%s is initialised before version is answered", slow)
		}
	}
	if build.Wire != messages.WireVersion {
		t.Errorf("version names the wire %s, which is %s", build.Wire, messages.WireVersion)
	}
}
