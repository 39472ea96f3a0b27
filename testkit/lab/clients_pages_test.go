package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// TestPageClients is the part of make clients that runs the React page of docs/clients.md in a browser: it stops a
// run, approves, answers in two tabs, and comes back.
func TestPageClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
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
