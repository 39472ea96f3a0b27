package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/nano"
)

// TestPageClients is the part of make clients that runs the React page of docs/clients.md in a browser: it stops a
// run, approves, answers in two tabs, and comes back.
func TestPageClients(t *testing.T) {
	onlyBy(t, "clients")
	system, end := newSystem(t, actors.Config{Jobs: []actors.Definition{actors.Func("chat", pageChat)}})
	defer end()
	page, posted, mux := bundle(t, docsPage(t, "## AI SDK")), make(chan []byte, 1), frontDoors(system, 0)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><body><div></div><div></div><div></div><script type=module>%s</script>", page)
	})
	mux.HandleFunc("POST /said", func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // what is missing is judged
		posted <- data
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer server.CloseClientConnections()
	defer browse(t, server.URL)()
	want := "Let me ask.  Took main: true.  Stop|Let me ask.  Took main: true.  Stop"
	select {
	case got := <-posted:
		if string(got) != want {
			t.Errorf("the page has %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		t.Error("the page says nothing")
	}
	if !t.Failed() {
		fmt.Println("useChat 7    the React page of docs/clients.md, in chromium")
	}
}

// docsPage is the React page below the heading of docs/clients.md.
func docsPage(t *testing.T, heading string) string {
	t.Helper()
	_, text, _ := strings.Cut(string(readFile(t, filepath.Join(root, "docs", "clients.md"))), heading)
	_, text, _ = strings.Cut(text, "```jsx\n")
	source, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("docs/clients.md has no page below " + heading)
	}
	return source
}

// pageChat asks two things, or waits for its end.
func pageChat(ctx context.Context, t *actors.TaskContext, in struct {
	Message string
	Earlier []model.Message
}) (string, error) {
	if in.Message == "wait" {
		if err := t.AppendText("answer", "Waiting."); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	if err := t.AppendText("answer", "Let me ask."); err != nil {
		return "", err
	}
	ok, err := t.Ask(ctx, messages.InputRequired{Request: "q1", Prompt: "Go on?",
		Schema: json.RawMessage(`{"type":"boolean"}`)})
	if err != nil {
		return "", err
	}
	branch, err := t.Ask(ctx, messages.InputRequired{Request: "q2", Prompt: "Which branch?"})
	if err != nil {
		return "", err
	}
	return "", t.AppendText("second", fmt.Sprintf("Took %s: %s.", strings.Trim(string(branch), `"`), ok))
}

// pageDriver uses the page, and posts what a second tab shows, and one that comes back.
const pageDriver = `
import { createRoot } from 'react-dom/client';
import Chat from './chat.jsx';

const until = async (found) => {
  while (!found()) await new Promise((next) => requestAnimationFrame(next));
};
const [first, second, again] = document.querySelectorAll('div');
const shown = (element, text) => until(() => element.innerText.includes(text));
const click = async (element, text) => {
  const button = () => [...element.querySelectorAll('button')].find((one) => one.innerText === text);
  await until(button);
  button().click();
};
const say = (text) => {
  const input = first.querySelector('input');
  input.value = text;
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
};
window.prompt = () => 'main';
window.confirm = () => true;
createRoot(first).render(<Chat id="c1" />);
await until(() => first.querySelector('input'));
say('wait');
await shown(first, 'Waiting.');
await click(first, 'Stop');
say('ask');
await shown(first, 'Go on?');
createRoot(second).render(<Chat id="c1" />);
await click(second, 'Go on?');
await shown(second, 'Which branch?');
await click(first, 'Go on?'); // it is answered
await click(first, 'Which branch?');
await shown(first, 'Took main: true.');
await click(second, 'Which branch?'); // so is this
await shown(second, 'Took main: true.');
createRoot(again).render(<Chat id="c1" />);
await shown(again, 'Took main: true.');
fetch('/said', { method: 'POST', body: [second, again].map((one) => one.innerText.split('\n').join(' ')).join('|') });
`

// bundle makes a script of the page and its driver.
func bundle(t *testing.T, page string) string {
	t.Helper()
	dir := npmInstall(t, "fronts")
	writeFile(t, filepath.Join(dir, "chat.jsx"), []byte(page))
	result := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: pageDriver, ResolveDir: dir, Loader: api.LoaderJSX},
		Bundle: true, Format: api.FormatESModule, Platform: api.PlatformBrowser, JSX: api.JSXAutomatic,
		Define: map[string]string{"process.env.NODE_ENV": `"production"`}, MinifyWhitespace: true,
	})
	for _, wrong := range result.Errors {
		t.Fatalf("%s: %+v", wrong.Text, wrong.Location)
	}
	return strings.ReplaceAll(string(result.OutputFiles[0].Contents), "</script", `<\/script`)
}

// telling tells its story whatever it is asked.
type telling struct {
	*stories.Teller
	story string
}

func (t telling) Submit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	q.Input, _ = json.Marshal(map[string]string{"story": t.story}) // a string
	return t.Teller.Submit(ctx, q)
}

var codeBlock = regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```")

// testSeedDocs runs what docs/clients.md says of the seed systems, as it is printed there.
func testSeedDocs(t *testing.T) {
	blocks := map[string]map[string]string{} // by section and language
	for _, section := range strings.Split(string(readFile(t, filepath.Join(root, "docs", "clients.md"))), "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		blocks[name] = map[string]string{}
		for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
			blocks[name][block[1]] = block[2]
		}
	}
	folder := npmInstall(t, "httpclients")
	open := func(story string, handler func(*door.Door) *door.Handler) *httptest.Server {
		server := httptest.NewServer(handler(door.New(door.Config{Runs: telling{&stories.Teller{}, story},
			Jobs: []messages.JobInfo{{Name: "prompt"}, {Name: "chat"}}})))
		t.Cleanup(server.Close)
		return server
	}
	said := func(server *httptest.Server, code string, command ...string) string {
		t.Helper()
		code = regexp.MustCompile(`(?m)^lastword serve .*\n`).ReplaceAllString(code, "")
		code = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).ReplaceAllString(code, server.URL)
		cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], code)...)
		cmd.Dir = folder
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s\n%v: %s", code, err, stderr.Bytes())
		}
		return string(out)
	}
	node := []string{"node", "--input-type=module", "-e"}

	s := open("plain", func(d *door.Door) *door.Handler { return nano.New(d) })
	if got := said(s, blocks["NANO"]["js"], node...); got != "Hello, wörld 🌍" {
		t.Errorf("NANO's snippet prints %q", got)
	}

	s = open("plain", func(d *door.Door) *door.Handler { return erlmcp.New(d) })
	if got, want := shapes(t, said(s, blocks["erlmcp"]["sh"], "sh", "-c")), shapes(t, blocks["erlmcp"]["json"]); got != want {
		t.Errorf("erlmcp's snippet prints\n%s, want\n%s", got, want)
	}

	s = open("question", looopy.New)
	turn := said(s, blocks["Looopy"]["sh"], "sh", "-c")
	fatal.IfLacking(t, turn, `"kind":"input-required"`, `"state":"waiting-input"`, `"kind":"task-complete"`)
	const page = `import {EventSource as Source} from 'eventsource';
let text = '', shown = [];
const append = (delta) => { text += delta; }, replace = (content) => { shown.push(content); };
class EventSource extends Source {
  constructor(path) { super('http://127.0.0.1:7878' + path); }
  close() { super.close(); console.log(JSON.stringify([text, ...shown])); }
}
`
	if got := said(s, page+blocks["Looopy"]["js"], node...); got != `["Let me ask.Took main.","Let me ask.","Took main."]`+"\n" {
		t.Errorf("Looopy's page shows %s", got)
	}
}

// shapes are the kinds of JSON lines, each once, with the names that they have.
func shapes(t *testing.T, lines string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(lines) {
		var m struct {
			Method         string
			Params, Result map[string]any
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, fmt.Sprint(m.Method, slices.Sorted(maps.Keys(m.Params)), slices.Sorted(maps.Keys(m.Result))))
	}
	return strings.Join(slices.Compact(all), "\n")
}

// turn is one time that the host asked its model.
type turn struct {
	Tools  []offeredTool
	Given  string // what the last call gave the model
	Failed bool
	Next   string // which tool it calls
}

type offeredTool struct {
	Name, Description string
	InputSchema       json.RawMessage
}

// A model behind a real host's client gets on by what it is given alone: it finds the run and the file in a result, and
// learns from an error what to do instead.
func testHost(t *testing.T, at kitTarget) {
	turns := nodeLines[turn](t, at, "host.mjs")
	if len(turns) != 8 {
		t.Fatalf("the model was asked %d times", len(turns))
	}
	for _, name := range []string{"count", "run_answer", "run_events", "run_read", "run_start", "run_wait", "write"} {
		if !slices.ContainsFunc(turns[0].Tools, func(f offeredTool) bool {
			return f.Name == name && f.Description != "" && bytes.Contains(f.InputSchema, []byte(`"type":"object"`))
		}) {
			t.Errorf("the model is not offered %s: %+v", name, turns[0].Tools)
		}
	}
	for i, want := range [][]string{
		1: {"write", "completed", "note.txt (4 bytes)", "run_read {run_id, name}"},
		2: {"kept"},
		3: {"run_wait"},
		4: {"count", "completed"},
		5: {`"type":"run.queued"`, `"done":`, `"next":`},
		6: {"run_id is missing", "run: there is no field run here; there is run_id"},
		7: {"crash", "failed, panic"},
	} {
		fatal.IfLacking(t, turns[i].Given, want...)
		if len(turns[i].Given)/4 >= 1500 {
			t.Errorf("turn %d: the model is given %d tokens", i, len(turns[i].Given)/4)
		}
	}
}
