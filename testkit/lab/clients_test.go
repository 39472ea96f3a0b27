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
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/seed889630bf/lastword/messages"
)

// kitTarget is a server for one client: over stdio a command, over HTTP an address.
type kitTarget struct {
	transport string // stdio or http; switched is http whose server changes whenever no call is open
	command   string
	url       string
	folder    string
}

// onlyBy skips the test unless the target of make runs it, which sets the variable of its name.
func onlyBy(t testing.TB, target string) {
	t.Helper()
	if os.Getenv("LASTWORD_"+strings.ToUpper(target)) == "" {
		t.Skipf("make %s runs this", target)
	}
}

// combined runs the command, and returns all that it printed.
func combined(t testing.TB, cmd *exec.Cmd) []byte {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return out
}

// outputOf runs the command, and returns what it printed.
func outputOf(t testing.TB, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", cmd.Args, err, out, stderr.Bytes())
	}
	return out
}

// TestClients is the matrix of make clients: four clients over two transports start, stream 200 events, cancel a command
// after its first progress, resume from a cursor after a cut connection, read an artifact, and see a killed child fail once. Beside them a host
// has a scripted model call tools.
func TestClients(t *testing.T) {
	onlyBy(t, "clients")
	clients := map[string]func(t *testing.T, at kitTarget) []answer{
		"typescript sdk v1": func(t *testing.T, at kitTarget) []answer { return nodeLines[answer](t, at, "watch.mjs", "v1") },
		"typescript sdk v2": func(t *testing.T, at kitTarget) []answer { return nodeLines[answer](t, at, "watch.mjs", "v2") },
		"official go sdk":   func(t *testing.T, at kitTarget) []answer { return goAnswers(t, at, dialSDK(at)) },
		"mcp-go":            func(t *testing.T, at kitTarget) []answer { return goAnswers(t, at, dialMCPGo(at)) },
	}
	for _, transport := range []string{"stdio", "http"} {
		t.Run("ai sdk/"+transport, func(t *testing.T) { testHost(t, kitServer(t, transport)) })
	}
	t.Run("restart", func(t *testing.T) { // every client goes on after kill -9 and a start
		dir := t.TempDir()
		(&cluster{TB: t}).build(dir+"/lastword", root, "./cmd/lastword")
		cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "clients"), "restart.mjs"), dir+"/lastword", dir, freePorts(t, 1)[0])
		cmd.Env = append(os.Environ(), "HOME="+dir)
		if out := outputOf(t, cmd); bytes.Count(out, []byte(": works, works, works\n")) != 4 {
			t.Errorf("%s", out)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(name+"/"+transport, func(t *testing.T) { judgeClient(t, name, transport, clients[name](t, kitServer(t, transport))) })
		}
		if strings.HasPrefix(name, "typescript") {
			t.Run(name+"/switched", func(t *testing.T) { judgeClient(t, name, "switched", clients[name](t, kitServer(t, "switched"))) })
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
	doors, end, err := openDoors(at.folder, map[string]int{"http": 1, "switched": 2}[transport])
	must(t, err)
	at.transport = "http"
	var mu sync.Mutex
	posts, turn := 0, 0
	server := httptest.NewServer(http.StripPrefix("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if posts == 0 {
			turn = (turn + 1) % len(doors)
		}
		door, post := doors[turn], r.Method == http.MethodPost
		if post {
			posts++
		}
		mu.Unlock()
		door.ServeHTTP(w, r)
		if post {
			mu.Lock()
			posts--
			mu.Unlock()
		}
	})))
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
	out := outputOf(t, cmd)
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

// watched is one streamed call as a client saw it.
type watched struct {
	Events []seen        `json:"events"`
	Late   int           `json:"late"` // events that came after the call was over
	Result *kitRunResult `json:"result"`
	Error  string        `json:"error"`
}

// seen is one event as a client saw it.
type seen struct {
	RunID messages.RunID `json:"run_id"`
	Seq   uint64         `json:"seq"`
	From  uint64         `json:"from"`
	Type  messages.Kind  `json:"type"`
}

// kitRunResult is what the kit needs of a tool's structured content.
type kitRunResult struct {
	RunID   messages.RunID  `json:"run_id"`
	Status  messages.Status `json:"status"`
	Seq     uint64          `json:"seq"`
	IsError bool            `json:"is_error"`
	// Terminal is in the result's _meta. URI belongs to the first file that it links to.
	Terminal json.RawMessage `json:"terminal"`
	URI      string          `json:"uri"`
}

// answer is what one scenario came to.
type answer struct {
	Scenario string          `json:"scenario"`
	Version  string          `json:"version"`
	Runs     []watched       `json:"runs"`
	Status   messages.Status `json:"status"`
	Text     string          `json:"text"`
	URI      string          `json:"uri"`
}

// tally counts what went wrong with the events of a client's calls.
type tally struct{ events, lost, foreign, reordered, late int }

func (t *tally) add(o tally) {
	t.events += o.events
	t.lost += o.lost
	t.foreign += o.foreign
	t.reordered += o.reordered
	t.late += o.late
}

func (t tally) String() string {
	return fmt.Sprintf("%6d events  %d lost  %d foreign  %d reordered  %d late", t.events, t.lost, t.foreign, t.reordered, t.late)
}

// count judges the events of one call that read its run from the cursor: to the last event before the terminal, which
// is the result, or, where the call was cut off, to the last that came.
func (w watched) count(after uint64) tally {
	t, end, run := tally{events: len(w.Events)}, uint64(0), messages.RunID("")
	switch {
	case w.Result != nil:
		run, end, t.late = w.Result.RunID, w.Result.Seq-1, w.Late
	case len(w.Events) > 0:
		run = w.Events[0].RunID
	}
	cursor := after
	for _, e := range w.Events {
		switch {
		case e.RunID != run:
			t.foreign++
		case e.Seq <= cursor:
			t.reordered++
		default:
			t.lost += int(e.From - min(e.From, cursor+1))
			cursor = e.Seq
		}
	}
	t.lost += int(end - min(end, cursor))
	return t
}

// clientRow is what make clients prints of a client of a dialect.
type clientRow struct {
	dialect, client, version string
	equal, stories, cuts     int
}

var clientTable struct {
	mu   sync.Mutex
	rows []clientRow
}

// print adds the row to the table.
func (r clientRow) print() {
	clientTable.mu.Lock()
	defer clientTable.mu.Unlock()
	clientTable.rows = append(clientTable.rows, r)
}

// printClients prints the table, if there is one.
func printClients() {
	if len(clientTable.rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ndialect\tclient\tversion\tstories equal\tcuts judged")
	for _, r := range clientTable.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d of %d\t%d\n", r.dialect, r.client, r.version, r.equal, r.stories, r.cuts)
	}
	_ = w.Flush() // to stdout
}
