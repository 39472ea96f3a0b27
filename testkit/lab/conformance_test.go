package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// TestConformance is make conformance: the protocol's own suite against the door of MCP, with the fixtures that it
// asks for. What a revision of the protocol scores must be green, and the tasks of 2026-07-28, which none scores,
// too.
func TestConformance(t *testing.T) {
	onlyBy(t, "conformance")
	suite, url := npmInstall(t, "conformance"), serveFixtures(t)+"/mcp"
	ran := map[string]int{} // failures by scenario
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			scored, others := requirements(t, suite, revision, "server")
			for _, s := range runSuite(t, suite, url, "--requirements", revision) {
				s.judge(t, slices.Contains(scored, s.name))
				ran[s.name] = s.failures()
				scored, others = without(scored, s.name), without(others, s.name)
			}
			if len(scored)+len(others) > 0 {
				t.Errorf("the suite did not run %v", append(scored, others...))
			}
		})
	}
	t.Run("client", func(t *testing.T) { runClients(t, suite) })
	t.Run("wrapped", func(t *testing.T) { runWrapped(t, suite, url, ran) })
	t.Run("others", func(t *testing.T) {
		for _, s := range runSuite(t, suite, url, "--suite", "all") {
			if _, was := ran[s.name]; !was {
				s.judge(t, false)
			}
		}
	})
}

var revisions = []string{"2025-11-25", "2026-07-28"}

// serveFixtures serves the suite's fixtures until the test ends, and returns the address.
func serveFixtures(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- serveFixturesAt(t.Context(), listener) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil { // the test's context is done
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// scenario is what the suite found in one of its scenarios.
type scenario struct {
	name   string
	checks []struct{ ID, Status, ErrorMessage string }
}

func (s scenario) failures() (n int) {
	for _, c := range s.checks {
		if c.Status == "FAILURE" {
			n++
		}
	}
	return n
}

// judge prints the scenario's row and fails where the scenario had to pass. One of the tasks' the suite passes over.
func (s scenario) judge(t *testing.T, scored bool) {
	t.Helper()
	count, kind := map[string]int{}, "reported"
	for _, c := range s.checks {
		count[c.Status]++
	}
	passed := s.failures() == 0 && (count["SUCCESS"] > 0 || s.name == "tasks-status-notifications")
	if scored = scored || strings.HasPrefix(s.name, "tasks-"); scored {
		kind = "required"
	}
	fmt.Printf("%-46s %-9s %3d passed %2d failed %2d warnings %2d skipped\n",
		s.name, kind, count["SUCCESS"], count["FAILURE"], count["WARNING"], count["SKIPPED"])
	for _, c := range s.checks {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			fmt.Printf("  %s %s: %s\n", strings.ToLower(c.Status), c.ID, c.ErrorMessage)
		}
	}
	if scored && !passed {
		t.Errorf("%s failed", s.name)
	}
}

// runSuite runs scenarios of the suite and returns what it found, in the order of their names.
func runSuite(t *testing.T, suite, url string, which ...string) []scenario {
	t.Helper()
	out := t.TempDir()
	args := append([]string{inSuite(suite, "dist", "index.js"), "server", "--url", url, "-o", out}, which...)
	cmd := exec.CommandContext(t.Context(), nodeOf(suite), args...)
	said, err := cmd.CombinedOutput() // its status tells of the scored scenarios, which are judged here
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, said)
	}
	files, err := filepath.Glob(filepath.Join(out, "server-*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the suite found nothing (%v): %s", err, said)
	}
	found := make([]scenario, len(files))
	for i, file := range files {
		found[i].name = scenarioOf(filepath.Base(filepath.Dir(file)))
		must(t, json.Unmarshal(readFile(t, file), &found[i].checks))
	}
	return found
}

func inSuite(suite string, path ...string) string {
	return filepath.Join(suite, "node_modules", "@modelcontextprotocol", "conformance", filepath.Join(path...))
}

// scenarioOf is the scenario of a folder server-<scenario>-<time>, with a time like 2026-11-21T03-48-00-179Z.
func scenarioOf(folder string) string {
	name := strings.TrimPrefix(folder, "server-")
	return name[:max(0, len(name)-len("-2026-11-21T03-48-00-179Z"))]
}

// requirements returns the scenarios of a server or a client that the revision scores, and those that it does not.
func requirements(t *testing.T, suite, revision, leg string) (scored, others []string) {
	t.Helper()
	list := readFile(t, inSuite(suite, "requirements", revision+".yaml"))
	section, other := "", ""
	for line := range strings.Lines(string(list)) {
		line = strings.TrimRight(line, "\r\n")
		item := strings.TrimSpace(line)
		switch {
		case strings.HasSuffix(item, ":") && !strings.HasPrefix(line, " "):
			section = item
		case section == leg+":" && strings.HasPrefix(item, "- "):
			scored = append(scored, strings.TrimPrefix(item, "- "))
		case strings.HasPrefix(item, "- scenario: "):
			other = strings.TrimPrefix(item, "- scenario: ")
		case item == "leg: "+leg:
			others = append(others, other)
		}
	}
	if len(scored) == 0 {
		t.Fatalf("the suite requires nothing for %s", revision)
	}
	return scored, others
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == name })
}

// TestInspector is make inspect: the Inspector's command line reads the tools of lastword mcp and lastword serve
// without a complaint, and calls one.
func TestInspector(t *testing.T) {
	onlyBy(t, "inspect")
	inspector, stdio := npmInstall(t, "inspector"), []string{buildBinary(t), "mcp"}
	http := []string{serve(t) + "/mcp", "--transport", "http"}
	for name, target := range map[string][]string{"stdio": stdio, "http": http} {
		t.Run(name, func(t *testing.T) {
			list := inspect(t, inspector, target, "--method", "tools/list", "--format", "json", "--strict")
			if !bytes.Contains(list, []byte(`"run_start"`)) {
				t.Errorf("the list of tools has no run_start:\n%s", list)
			}
			call := []string{"--method", "tools/call", "--tool-name", "run_list", "--format", "json"}
			got := inspect(t, inspector, target, call...)
			if !bytes.Contains(got, []byte(`"structuredContent"`)) {
				t.Errorf("run_list answers\n%s", got)
			}
		})
	}
}

func inspect(t *testing.T, inspector string, target []string, args ...string) []byte {
	t.Helper()
	script := filepath.Join(inspector, "node_modules", ".bin", "mcp-inspector")
	args = slices.Concat([]string{script, "--cli"}, target, args)
	cmd := exec.CommandContext(t.Context(), nodeOf(inspector), args...)
	cmd.Env, cmd.Dir = atHome(t), t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || bytes.Contains(stderr.Bytes(), []byte("Warning: tool")) {
		t.Fatalf("%v: %v\n%s\n%s", cmd.Args, err, out, stderr.Bytes())
	}
	return out
}

// serve starts lastword serve, until the test ends, and returns its address.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	flags = append([]string{"serve", "--http", "127.0.0.1:0", "--drain", "100ms"}, flags...)
	cmd := exec.CommandContext(t.Context(), buildBinary(t), flags...)
	cmd.Env, cmd.Dir = atHome(t), t.TempDir()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context has interrupted it
	lines, said := bufio.NewScanner(stderr), ""
	for lines.Scan() {
		if url := addressIn(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return url
		}
		said += lines.Text() + "\n"
	}
	t.Fatalf("%v named no address:\n%s", cmd.Args, said)
	return ""
}

// addressIn returns the address of a server on this machine that the line names, without a path, or "".
func addressIn(line string) string {
	_, rest, ok := strings.Cut(line, "http://127.0.0.1:")
	if !ok {
		return ""
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	return "http://127.0.0.1:" + rest[:end]
}

// atHome is the environment in a home of the test's own.
func atHome(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	return append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_STATE_HOME="+home,
		"XDG_DATA_HOME="+home)
}

// nodeOf is the node that was installed beside the packages, or the one at hand where there is none for this machine.
func nodeOf(dir string) string {
	node := filepath.Join(dir, "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		return "node"
	}
	return node
}

// serveFixturesAt serves the fixtures at /mcp of the listener until ctx is done. The door stands behind the gate, as that of
// lastword serve does.
func serveFixturesAt(ctx context.Context, listener net.Listener) error {
	const drain = 100 * time.Millisecond
	system, err := actors.New(ctx, actors.Config{Jobs: fixtureJobs(), Drain: drain})
	if err != nil {
		return err
	}
	// The suite leaves runs that wait for answers; Close ends them and says so.
	defer func() { _ = system.Close(context.WithoutCancel(ctx)) }()
	door := mcp.New(mcp.Config{Runs: system, Name: "fixtures", Version: "1"})
	defer door.Close()
	entrance, err := auth.New(auth.Config{Listen: listener.Addr().String()})
	if err = errors.Join(err, registerFixtures(door)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", entrance.Wrap(door))
	return server.Serve(ctx, listener, mux, server.Limits{Drain: drain})
}
