package lab_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/nano"
)

// seedCuts is after how many writes of the server a connection is cut at most.
const seedCuts = 20

// seedClient is a client of a seed system: its own code, or what stands in for it.
type seedClient struct {
	row  clientRow
	open func(*door.Door) *door.Handler
	// The last message that the client is sent contains terminal.
	terminal *regexp.Regexp
	// run has the client read the story at each of the URLs, one after the other.
	run func(t *testing.T, runs []seedRun) []seedTold
	// turn says that another client has begun the story as a turn of session-123.
	turn bool
}

// seedRun is where a client reads a story.
type seedRun struct {
	URL   string `json:"url"`
	Story string `json:"story"`
}

// seedTold is what a client has at the end.
type seedTold struct {
	Text     string
	Thoughts []string
	Ended    any // true or the status for a success
}

// TestSeedClients is the part of make clients for the seed systems: what their clients hold at the end of every story
// must be what the log says, and an answer that is cut after any write must not look like a success.
func TestSeedClients(t *testing.T) {
	onlyBy(t, "clients")
	folder := npmInstall(t, "httpclients")
	node := func(script ...string) func(t *testing.T, runs []seedRun) []seedTold {
		return func(t *testing.T, runs []seedRun) []seedTold {
			list, _ := json.Marshal(runs) // strings
			command := append([]string{"node", filepath.Join(folder, script[0])}, script[1:]...)
			return seedLines(t, exec.CommandContext(t.Context(), command[0], append(command[1:], string(list))...))
		}
	}
	openNANO := func(d *door.Door) *door.Handler { return nano.New(d) }
	nanoEnd := regexp.MustCompile(`"end":true`)
	for _, c := range []seedClient{
		{row: clientRow{dialect: "nano", client: "its code, polling", version: nodeVersion(t)}, open: openNANO,
			terminal: nanoEnd, run: node("nano.mjs", "poll")},
		{row: clientRow{dialect: "nano", client: "its code, WebSocket", version: "ws " + npmVersion(t, folder, "ws")},
			open: openNANO, terminal: nanoEnd, run: node("nano.mjs", "push")},
		{row: clientRow{dialect: "looopy", client: "its code", version: "eventsource " + npmVersion(t, folder, "eventsource")},
			open: looopy.New, run: node("looopy.mjs"), turn: true,
			terminal: regexp.MustCompile(`"kind":"task-complete"|"state":"(failed|canceled)"`)},
		{row: clientRow{dialect: "erlmcp", client: "the example in Go", version: runtime.Version()},
			open: func(d *door.Door) *door.Handler { return erlmcp.New(d) }, run: erlmcpExample,
			terminal: regexp.MustCompile(`"stream_(complete|error|cancelled)"`)},
	} {
		t.Run(c.row.dialect+" "+c.row.client, func(t *testing.T) { c.judge(t); c.row.print() })
	}
	t.Run("docs", testSeedDocs)
}

// judge has the client read every story, whole and cut.
func (c *seedClient) judge(t *testing.T) {
	var runs []seedRun
	var cuts []*cutListener
	var of []stories.Story
	for _, story := range stories.All() {
		for n := range seedCuts {
			cut := c.serve(t, story, n)
			cuts, of = append(cuts, cut), append(of, story)
			runs = append(runs, seedRun{"http://" + cut.Addr().String(), story.Name})
		}
	}
	told := c.run(t, runs)
	if len(told) != len(runs) {
		t.Fatalf("the client read %d of %d stories", len(told), len(runs))
	}
	for i, got := range told {
		success := got.Ended == true || got.Ended == string(messages.Completed)
		text, thoughts, ended := c.want(of[i])
		if _, after, marked := strings.Cut(got.Text, "\n\n---\n\n"); marked { // what replaces what was taken back
			got.Text = after
		}
		switch {
		case i%seedCuts == 0:
			c.row.stories++
			if success != ended || got.Text != text || got.Thoughts != nil && strings.Join(got.Thoughts, "|") != thoughts {
				t.Errorf("%s: the client has %+v; want %q, %q, %v", of[i].Name, got, text, thoughts, ended)
				continue
			}
			c.row.equal++
		case cuts[i].wasCut():
			if c.row.cuts++; success {
				t.Errorf("%s, cut after %d writes: the client has %+v", of[i].Name, i%seedCuts-1, got)
			}
			if i%seedCuts == seedCuts-1 {
				t.Errorf("%s has more writes than were cut: raise seedCuts", of[i].Name)
			}
		}
	}
}

// want is what the client has at the end of a story, and whether that is a success.
func (c *seedClient) want(story stories.Story) (text, thoughts string, success bool) {
	state := story.State()
	var said, thought []string
	for _, s := range state.Streams {
		switch {
		case s.Thought:
			thought = append(thought, s.Text())
		case strings.HasPrefix(s.Name, "answer"):
			said = append(said, s.Text())
		}
	}
	text, success = strings.Join(said, map[bool]string{false: "\n\n", true: ""}[c.turn]), state.Status == messages.Completed
	if !c.turn { // a client that can only append ends with an error where text was taken back
		switch story.Name {
		case "restart inside a text":
			return "The left one, I ", "", false
		case "recovery":
			return "never held", "", false
		}
	}
	return text, strings.Join(thought, "|"), success
}

// serve serves a story. Cut says after how many writes, less one, the connection is cut; 0 is never.
func (c *seedClient) serve(t *testing.T, story stories.Story, cut int) *cutListener {
	t.Helper()
	var runs door.Runs = &stories.Teller{}
	heartbeat := time.Duration(0)
	if cut == 0 { // heartbeats come between all events, and must change nothing
		runs, heartbeat = &hesitant{}, time.Millisecond
	}
	answer := func() error { return runs.Answer(t.Context(), stories.Run+"1", "q1", json.RawMessage(`"main"`), "") }
	if c.turn {
		input, _ := json.Marshal(map[string]string{"message": story.Name}) // strings
		if _, err := runs.Submit(t.Context(), messages.Request{Job: "chat", Input: input,
			Labels: map[string]string{messages.ContextLabel: "session-123"}}); err != nil {
			t.Fatal(err)
		}
		_ = answer() // most stories ask nothing
	} else if story.Name == "question" {
		go func() {
			for t.Context().Err() == nil && answer() != nil {
				time.Sleep(time.Millisecond)
			}
		}()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	cutting := &cutListener{Listener: listener, left: cut - 1, always: cut == 0, terminal: c.terminal}
	handler := c.open(door.New(door.Config{Runs: runs, Heartbeat: heartbeat, Jobs: seedJobs}))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // cutListener finds terminal in plain text
		r.Header.Del("Sec-WebSocket-Extensions")
		handler.ServeHTTP(w, r)
	}))
	_ = server.Listener.Close()
	server.Listener = cutting
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return cutting
}

// withContext is the schema of a job that takes a message and a context.
func withContext() json.RawMessage {
	return json.RawMessage(`{"properties":{"message":{},"context":{}}}`)
}

// seedJobs are those that the clients call.
var seedJobs = []messages.JobInfo{{Name: "prompt"}, {Name: "chat", JobSpec: messages.JobSpec{Input: withContext}}}

// A conversation that a client of one seed system begins is read by another's client, and answered by a third's.
func TestSeedDialectsShareRuns(t *testing.T) {
	to := door.New(door.Config{Runs: &stories.Teller{}, Jobs: seedJobs})
	mux := http.NewServeMux()
	mux.Handle("/mcp", nano.New(to))
	mux.Handle(looopy.Path, looopy.New(to))
	mux.Handle(erlmcp.Path, erlmcp.New(to))
	send := func(method, target, body, want string) string {
		t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
		if !strings.Contains(w.Body.String(), want) {
			t.Fatalf("%s %s answers %s, without %s", method, target, w.Body, want)
		}
		return w.Body.String()
	}
	call := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	began := send(http.MethodPost, "/mcp", call("run", `{"prompt":"question","context":"c-1","stream":true}`), `"r_story1"`)
	id := regexp.MustCompile(`"stream_id":"(\w+)"`).FindStringSubmatch(began)[1]
	send(http.MethodGet, looopy.Path+"?contextId=c-1", "", `"pendingInputIds":["q1"]`)
	send(http.MethodPost, erlmcp.Path, call("stream/answer", `{"streamId":"r_story1","request":"q1","value":"main"}`), `"taskId"`)
	send(http.MethodPost, erlmcp.Path, call("stream/subscribe", `{"streamId":"r_story1"}`), `"data":"\n\nTook main."`)
	send(http.MethodGet, looopy.Path+"?contextId=c-1", "", `"kind":"task-complete"`)
	for got := ""; !strings.Contains(got, `"end":true`); {
		got = send(http.MethodPost, "/mcp", call("run", `{"stream_id":"`+id+`","wait_ms":60000,"from_seq":2}`), `"chunks"`)
	}
}

// cutListener cuts its connections once so much was written, but not after the terminal.
type cutListener struct {
	net.Listener
	terminal *regexp.Regexp

	mu     sync.Mutex
	left   int
	always bool // everything is written
	cut    bool
}

func (l *cutListener) wasCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

func (l *cutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &cutConn{c, l}, err
}

type cutConn struct {
	net.Conn
	listener *cutListener
}

func (c *cutConn) Write(data []byte) (int, error) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left--; l.left < 0 && !l.always {
		l.cut = true
		_ = c.Close()
		return 0, net.ErrClosed
	}
	l.always = l.always || l.terminal.Match(data)
	return c.Conn.Write(data)
}

// seedLines are the lines that the command prints.
func seedLines(t *testing.T, cmd *exec.Cmd) (all []seedTold) {
	t.Helper()
	out := outputOf(t, cmd)
	for line := range bytes.Lines(out) {
		var one seedTold
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// erlmcpExample runs the client that is an example of erlmcp.
func erlmcpExample(t *testing.T, runs []seedRun) []seedTold {
	list, _ := json.Marshal(runs) // strings
	out := filepath.Join(t.TempDir(), "told")
	run(t, filepath.Join(root, "transport", "erlmcp"), []string{"LASTWORD_ERLMCP_RUNS=" + string(list), "LASTWORD_ERLMCP_TOLD=" + out},
		"go", "test", "-count=1", "-run", "^TestProcess$", ".")
	return seedLines(t, exec.CommandContext(t.Context(), "cat", out))
}

func nodeVersion(t *testing.T) string {
	out, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	must(t, err)
	return "node " + strings.Trim(string(out), "v\n")
}

// npmVersion is the version of a package that is installed in the folder.
func npmVersion(t *testing.T, folder, name string) string {
	var about struct{ Version string }
	must(t, json.Unmarshal(readFile(t, filepath.Join(folder, "node_modules", name, "package.json")), &about))
	return about.Version
}
