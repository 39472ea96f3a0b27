package lab_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// otherwise are scenarios that find a wrapped server otherwise than the server alone, and why.
var otherwise = map[string]string{
	"tools-call-simple-text":                        "server-everything lacks the tool; it says so in a result, and this door in a JSON-RPC error",
	"tools-call-error":                              "the same",
	"tasks-capability-negotiation":                  "server-everything lacks the tool, and without lastword the scenario ends before it calls one",
	"input-required-result-multiple-input-requests": "what a server asks at once may come in more than one result",
	"input-required-result-basic-elicitation":       "a question has the run's own name for it, which holds when the call is repeated",
	"tasks-mrtr-composition":                        "what the server asks before it makes a task is a question of our task",
	"tasks-required-task-error":                     "a tool that is a task alone works for clients without tasks",
}

// runWrapped runs the suite against servers behind lastword serve --wrap: our fixtures, of which direct has the failures, and
// server-everything. No scenario may fail there more often than without lastword.
func runWrapped(t *testing.T, suite, fixtures string, direct map[string]int) {
	everything := filepath.Join(npmInstall(t, "toolservers"), "node_modules", ".bin", "mcp-server-everything")
	compare := func(t *testing.T, server string, direct map[string]int, revision string) {
		url, scenarios := serve(t, "--ephemeral", "--wrap", "behind="+server)+"/mcp", 0
		for _, s := range runSuite(t, suite, url, "--requirements", revision) {
			if why := otherwise[s.name]; s.failures() > direct[s.name] && why == "" {
				s.judge(t, true)
			} else if s.failures() > direct[s.name] {
				t.Logf("%s: %s", s.name, why)
			}
			scenarios++
		}
		t.Logf("%d scenarios", scenarios)
	}
	for _, revision := range revisions {
		t.Run("fixtures/"+revision, func(t *testing.T) { compare(t, fixtures, direct, revision) })
		t.Run("everything/"+revision, func(t *testing.T) {
			alone := map[string]int{}
			for _, s := range runSuite(t, suite, startEverything(t, everything), "--requirements", revision) {
				alone[s.name] = s.failures()
			}
			if !testing.Short() { // what comes next goes the same way, and one more
				compare(t, everything+" stdio", alone, revision)
			}
			t.Run("stdio", func(t *testing.T) { // the suite speaks HTTP alone: serve is its bridge to lastword mcp
				compare(t, buildBinary(t)+" mcp --wrap inner='"+everything+" stdio' --ephemeral", alone, revision)
			})
		})
	}
}

// startEverything serves server-everything until the test ends, and returns its address.
func startEverything(t *testing.T, everything string) string {
	t.Helper()
	port := freePorts(t, 1)[0]
	cmd := exec.CommandContext(t.Context(), everything, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context kills it
	answers(t, port)
	return "http://127.0.0.1:" + port + "/mcp"
}

// answers returns when a server listens at the port: some say nothing that could be awaited.
func answers(t *testing.T, port string) {
	t.Helper()
	for t.Context().Err() == nil {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
