package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
)

// TestHTTPClients is the part of make clients that follows a run over HTTP across cut connections: curl, a browser's
// EventSource, npm's eventsource and ws, and the reader of docs/examples. A public linter reads the OpenAPI document.
func TestHTTPClients(t *testing.T) {
	onlyBy(t, "clients")
	for name, follow := range map[string]func(w *webKit, t *testing.T, run messages.RunID) []byte{
		"curl":                      (*webKit).curl,
		"chromium":                  func(w *webKit, t *testing.T, run messages.RunID) []byte { return w.chromium(t, "page", run) },
		"docs/examples in chromium": func(w *webKit, t *testing.T, run messages.RunID) []byte { return w.chromium(t, "reader", run) },
		"eventsource":               func(w *webKit, t *testing.T, run messages.RunID) []byte { return w.node(t, "eventsource", run) },
		"ws":                        func(w *webKit, t *testing.T, run messages.RunID) []byte { return w.node(t, "ws", run) },
		"docs/examples":             func(w *webKit, t *testing.T, run messages.RunID) []byte { return w.node(t, "reader", run) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWebKit(t)
			run := w.start(t)
			w.judge(t, run, follow(w, t, run))
		})
	}
	t.Run("generated clients", func(t *testing.T) { newWebKit(t).generated(t) })
	t.Run("generated clients of npm", func(t *testing.T) { newWebKit(t).typed(t) })
	t.Run("linter", func(t *testing.T) { newWebKit(t).lint(t) })
}

// webKit is the HTTP API behind a proxy that cuts connections.
type webKit struct {
	system *actors.System
	url    string // of the proxy
	direct string
	cuts   atomic.Int64
	posted chan []byte // what the browser's page sent
}

func newWebKit(t *testing.T) *webKit {
	t.Helper()
	system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{actors.Func("tell",
		func(ctx context.Context, t *actors.TaskContext, words int) (string, error) {
			random := rand.New(rand.NewPCG(1, 2)) // what compresses well is too short to be cut
			for range words {
				if err := t.AppendText("answer", fmt.Sprintf("%016x ", random.Uint64())); err != nil {
					return "", err
				}
			}
			return "told", t.Log(messages.LogInfo, "told")
		})}})
	must(t, err)
	w := &webKit{system: system, posted: make(chan []byte, 1)}
	server := httptest.NewServer(api.New(door.New(door.Config{Runs: system, Version: "test", Jobs: []messages.JobInfo{{Name: "tell",
		JobSpec: messages.JobSpec{Description: "Tells words", Input: func() json.RawMessage { return json.RawMessage(`{"type":"integer"}`) }}}}})))
	w.direct = server.URL
	target, err := url.Parse(server.URL)
	must(t, err)
	pages := http.NewServeMux()
	pages.Handle("/v1/", &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	pages.HandleFunc("GET /page", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(out, browserPage, r.URL.Query().Get("run"), kinds())
	})
	pages.HandleFunc("GET /reader", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(out, readerPage, r.URL.Query().Get("run"))
	})
	pages.HandleFunc("GET /reader.mjs", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(out, r, exampleReader)
	})
	pages.HandleFunc("POST /events", func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // what is missing is judged
		w.posted <- data
	})
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") {
			out.Header().Set("Connection", "close") // a connection is of the API or of pages
		}
		pages.ServeHTTP(out, r)
	}))
	w.url = w.cutting(t, site.Listener.Addr().String())
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
		server.CloseClientConnections()
		server.Close()
		_ = system.Close(context.Background())
	})
	return w
}

// browserPage follows a run with the browser's EventSource and posts its events.
const browserPage = `<!doctype html><script>
const events = [], source = new EventSource("/v1/runs/%s/events");
for (const kind of "%s".split(",")) source.addEventListener(kind, (message) => {
  const event = JSON.parse(message.data);
  events.push(message.data);
  if (!["run.completed", "run.failed", "run.canceled"].includes(event.type)) return;
  source.close();
  fetch("/events", { method: "POST", body: events.join("\n") });
});
</script>`

// readerPage follows a run with the reader of docs/examples, and posts its events.
const readerPage = `<!doctype html><script type="module">
import { readRun } from "/reader.mjs";
const events = [];
for await (const event of readRun("", "%s")) events.push(JSON.stringify(event));
fetch("/events", { method: "POST", body: events.join("\n") });
</script>`

var exampleReader = filepath.Join(root, "docs", "examples", "reader.mjs")

func kinds() string {
	var list []string
	for _, k := range messages.Kinds() {
		list = append(list, string(k.Kind))
	}
	return strings.Join(list, ",")
}

// cutting is a proxy that cuts the first connections after a few bytes of the answers, and each later.
func (w *webKit) cutting(t *testing.T, target string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				up, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer up.Close()
				first := make([]byte, 4096)
				n, err := c.Read(first)
				if err != nil {
					return
				}
				_, _ = up.Write(first[:n])
				go func() { _, _ = io.Copy(up, c) }()
				if bytes.Contains(first[:n], []byte(" /v1/")) { // pages come whole
					_, _ = io.CopyN(c, up, 900<<w.cuts.Add(1))
					return
				}
				_, _ = io.Copy(c, up)
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func (w *webKit) start(t *testing.T) messages.RunID {
	t.Helper()
	run, err := w.system.Submit(t.Context(), messages.Request{Job: "tell", Input: json.RawMessage(`200`)})
	must(t, err)
	return run
}

// judge holds the client's events to the run's: the same milestones, and the same State.
func (w *webKit) judge(t *testing.T, run messages.RunID, lines []byte) {
	t.Helper()
	var got messages.Fold
	for line := range bytes.Lines(lines) {
		var e messages.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		must(t, got.Apply(e))
	}
	want, err := w.system.State(t.Context(), run)
	must(t, err)
	a, _ := json.Marshal(got.State())
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Errorf("the client's State is\n%s\nwant\n%s", a, b)
	}
	t.Logf("%d connections", w.cuts.Load())
	if w.cuts.Load() < 2 {
		t.Error("no connection was cut")
	}
}

// curl comes back with the last id that it saw, as a script would.
func (w *webKit) curl(t *testing.T, run messages.RunID) []byte {
	var lines []byte
	last := "0"
	for range 100 {
		out, _ := exec.CommandContext(t.Context(), "curl", "-sN", "-H", "Accept: text/event-stream", "-H", "Last-Event-ID: "+last,
			w.url+"/v1/runs/"+string(run)+"/events").Output() // a cut connection is an error of curl
		frames := strings.Split(string(out), "\n\n")
		for _, frame := range frames[:len(frames)-1] {
			id, rest, _ := strings.Cut(strings.TrimPrefix(frame, "id: "), "\n")
			if _, data, ok := strings.Cut(rest, "\ndata: "); ok {
				lines, last = append(lines, data+"\n"...), id
			}
		}
		if bytes.Contains(lines, []byte(`"run.completed"`)) {
			return lines
		}
	}
	t.Fatalf("curl never saw the end:\n%s", lines)
	return nil
}

func (w *webKit) chromium(t *testing.T, page string, run messages.RunID) []byte {
	defer browse(t, w.url+"/"+page+"?run="+string(run))()
	return <-w.posted
}

// browse opens the page in a browser, until the returned function is called.
func browse(t *testing.T, url string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr // so that Wait waits for its children, too: they write to the folder
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install Debian's chromium", err)
	}
	return func() {
		cancel()
		_ = cmd.Wait() // it was interrupted
	}
}

func (w *webKit) node(t *testing.T, client string, run messages.RunID) []byte {
	t.Helper()
	reader, err := filepath.Abs(exampleReader)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "httpclients"), "watch.mjs"), client, w.url,
		string(run), reader)
	cmd.Env = append(os.Environ(), "KINDS="+kinds())
	return outputOf(t, cmd)
}

// document writes the OpenAPI document to the file.
func (w *webKit) document(t *testing.T, file string) {
	t.Helper()
	_, document, err := testkit.ReadURL(t, http.MethodGet, w.direct+"/openapi.json", "")
	must(t, err)
	writeFile(t, file, []byte(document))
}

// generated has Go's two generators of clients, with their versions in go.mod, read the document. Their clients list, start
// and follow a run.
func (w *webKit) generated(t *testing.T) {
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "openapi"))))
	w.document(t, filepath.Join(dir, "openapi.json"))
	must(t, os.Mkdir(filepath.Join(dir, "oapi"), 0o755))
	for _, args := range [][]string{
		{"tool", "oapi-codegen", "-generate", "types,client", "-package", "oapi", "-o", "oapi/oapi.go", "openapi.json"},
		{"tool", "ogen", "--target", "ogen", "--package", "ogen", "--clean", "openapi.json"},
		{"run", ".", w.direct, "tell", "3"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out := combined(t, cmd)
		if args[0] == "run" && strings.Count(string(out), "run.completed") != 2 {
			t.Errorf("the clients follow %s", out)
		}
	}
}

// typed has Spectral judge the document, and npm's two generators read it. What they make compiles, and starts, lists and
// follows a run.
func (w *webKit) typed(t *testing.T) {
	if testing.Short() {
		t.Skip("make nightly runs this")
	}
	dir := npmInstall(t, "openapi")
	w.document(t, filepath.Join(dir, "openapi.json"))
	for _, args := range [][]string{
		{"node_modules/@stoplight/spectral-cli/dist/index.js", "lint", "--ruleset=spectral.json", "--fail-severity=hint", "openapi.json"},
		{"node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "types.ts"},
		{"node_modules/orval/dist/bin/orval.mjs", "--config", "orval.config.mjs"},
		{"node_modules/typescript/bin/tsc", "-p", "."},
		{"main.ts"},
	} {
		cmd := exec.CommandContext(t.Context(), nodeOf(dir), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "BASE="+w.direct)
		out, err := cmd.CombinedOutput()
		if err != nil || args[0] == "main.ts" && !bytes.Contains(out, []byte("run.completed")) {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
}

// lint has a public linter judge the document: no error, and no warning.
func (w *webKit) lint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "openapi.json")
	w.document(t, file)
	cmd := exec.CommandContext(t.Context(), filepath.Join(npmInstall(t, "httpclients"), "node_modules", ".bin", "redocly"), "lint",
		"--format=json", file)
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "CI=true")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var found struct {
		Totals   struct{ Errors, Warnings int }
		Problems []struct{ RuleID, Message string }
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if found.Totals.Errors > 0 || found.Totals.Warnings > 0 {
		t.Errorf("%+v", found)
	}
}
