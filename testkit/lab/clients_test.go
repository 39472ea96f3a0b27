package lab_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// kitTarget is a server for one client: over stdio a command, over HTTP an address.
type kitTarget struct {
	transport string // stdio or http
	command   string
	url       string
	folder    string
}

// TestClients is the matrix of make clients: four clients over two transports start, stream 200 events, cancel a command
// after its first progress, resume from a cursor after a cut connection, read an artifact, and see a killed child fail once. Beside them a host
// has a scripted model call tools.
func TestClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	clients := map[string]func(t *testing.T, at kitTarget) []answer{
		"typescript sdk v1": func(t *testing.T, at kitTarget) []answer { return nodeLines[answer](t, at, "watch.mjs", "v1") },
		"typescript sdk v2": func(t *testing.T, at kitTarget) []answer { return nodeLines[answer](t, at, "watch.mjs", "v2") },
		"official go sdk":   func(t *testing.T, at kitTarget) []answer { return goAnswers(t, at, dialSDK(at)) },
		"mcp-go":            func(t *testing.T, at kitTarget) []answer { return goAnswers(t, at, dialMCPGo(at)) },
	}
	for _, transport := range []string{"stdio", "http"} {
		t.Run("ai sdk/"+transport, func(t *testing.T) { testHost(t, kitServer(t, transport)) })
	}
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(name+"/"+transport, func(t *testing.T) {
				answers := clients[name](t, kitServer(t, transport))
				judgeClient(t, name, transport, answers)
			})
		}
	}
}

// kitServer starts a server of the kit's jobs.
func kitServer(t *testing.T, transport string) kitTarget {
	t.Helper()
	at := kitTarget{transport: transport, folder: t.TempDir()}
	if transport == "stdio" {
		self, err := os.Executable()
		must(t, err)
		at.command = self
		return at
	}
	door, end, err := openDoor(at.folder)
	must(t, err)
	server := httptest.NewUnstartedServer(http.StripPrefix("/mcp", door))
	server.Start()
	t.Cleanup(func() { end(); server.CloseClientConnections(); server.Close() })
	at.url = "http://" + server.Listener.Addr().(*net.TCPAddr).String() + "/mcp"
	return at
}

func (k kitTarget) env() []string { return append(os.Environ(), stdioServer+"="+k.folder) }

// nodeLines are the JSON lines that the script prints which Node runs against the server.
func nodeLines[T any](t *testing.T, at kitTarget, script string, arguments ...string) (all []T) {
	t.Helper()
	target := at.url
	if at.transport == "stdio" {
		target = at.command
	}
	arguments = append(append([]string{filepath.Join(npmInstall(t, "clients"), script)}, arguments...), at.transport, target)
	cmd := exec.CommandContext(t.Context(), "node", arguments...)
	cmd.Env = at.env()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", cmd.Args, err, out, stderr.Bytes())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%v in %q", err, lines.Text())
		}
		all = append(all, one)
	}
	return all
}

func judgeClient(t *testing.T, client, transport string, answers []answer) {
	t.Helper()
	var names []string
	all, version := tally{}, ""
	for _, a := range answers {
		names = append(names, a.Scenario)
		version += a.Version
		all.add(judgeAnswer(t, a))
	}
	if want := []string{"connect", "stream", "isolate", "cancel", "resume", "artifact", "crash"}; !slices.Equal(names, want) {
		t.Fatalf("the client did %v, not %v", names, want)
	}
	fmt.Printf("%-18s %-6s %-11s %v\n", client, transport, version, all)
	// What the official Go SDK's client has read it hands to callbacks in its own time, also after the result.
	if client == "official go sdk" {
		all.late = 0
	}
	if all.lost+all.foreign+all.reordered+all.late > 0 {
		t.Errorf("%v", all)
	}
}

func judgeAnswer(t *testing.T, a answer) tally {
	t.Helper()
	var sum tally
	after := uint64(0)
	for i, w := range a.Runs {
		sum.add(w.count(after))
		if a.Scenario == "resume" && i == 0 {
			after = w.Events[len(w.Events)-1].Seq
		}
	}
	switch a.Scenario {
	case "stream":
		wantResult(t, a, messages.Completed)
		if got := len(a.Runs[0].Events); got < 200 {
			t.Errorf("%d events came of a run with more than 200", got)
		}
	case "isolate", "resume":
		wantResult(t, a, messages.Completed)
	case "cancel":
		if a.Status != messages.Canceled || a.Runs[0].Error == "" {
			t.Errorf("the cancelled run is %s, the call said %q", a.Status, a.Runs[0].Error)
		}
		if !slices.ContainsFunc(a.Runs[0].Events, func(e seen) bool { return e.Type == messages.KindProgress || e.Type == messages.KindMerged }) {
			t.Errorf("no progress of the command came: %v", a.Runs[0].Events)
		}
	case "artifact":
		wantResult(t, a, messages.Completed)
		if a.Text != "kept" || a.URI != a.Runs[0].Result.URI {
			t.Errorf("the artifact %s reads %q", a.URI, a.Text)
		}
	case "crash":
		wantResult(t, a, messages.Failed)
	}
	return sum
}

// wantResult: the last call of the scenario has one result, with the run's status and its terminal.
func wantResult(t *testing.T, a answer, status messages.Status) {
	t.Helper()
	w := a.Runs[len(a.Runs)-1]
	if w.Result == nil || w.Result.Status != status || w.Result.IsError != (status != messages.Completed) ||
		len(w.Result.Terminal) == 0 {
		t.Errorf("%s: result %+v, error %q; want %s", a.Scenario, w.Result, w.Error, status)
	}
	for _, e := range w.Events {
		if e.Type.IsTerminal() {
			t.Errorf("%s: the terminal came as an event as well as in the result", a.Scenario)
		}
	}
}
