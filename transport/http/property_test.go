package http_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http"
)

// schema is as much of a JSON Schema as the document's parameters and bodies use.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []string
	Minimum    *float64
	Maximum    *float64
	Items      *schema
	Properties map[string]*schema
	Required   []string
}

type operation struct {
	method, path string
	Parameters   []struct {
		Name, In string
		Schema   schema
	}
	RequestBody *struct {
		Content map[string]struct{ Schema schema }
	}
	Responses map[string]any
}

// described is what the OpenAPI document says of the server.
type described struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]json.RawMessage }
	operations []*operation
}

func (w *world) described() *described {
	w.t.Helper()
	var d described
	must(w.t, json.Unmarshal([]byte(w.call("GET", "/openapi.json", "").body), &d))
	for path, all := range d.Paths {
		for method, o := range all {
			o.method, o.path = strings.ToUpper(method), path
			d.operations = append(d.operations, o)
		}
	}
	slices.SortFunc(d.operations, func(a, b *operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return &d
}

// nasty are values that no schema allows, and a few that some allow.
var nasty = []string{"", "x", "-1", "0", "99999999999999999999", "1e309", "NaN", "true", "a:b", "0,1:2", "1,x:2", "..", "/",
	"wait=soon", "wait=0", "%", "\"", "é", "text/event-stream", "application/x-ndjson", "W/\"3\"", strings.Repeat("a", 300)}

// text draws a parameter's value: by its schema, or nasty.
func text(t *rapid.T, name string, s schema) string {
	if rapid.IntRange(0, 11).Draw(t, "wrong "+name) == 0 {
		return rapid.SampledFrom(nasty).Draw(t, name)
	}
	switch {
	case name == "wait": // no longer than the test can wait
		return rapid.SampledFrom([]string{"0", "1ms", "0.001", "2ms"}).Draw(t, name)
	case name == "after" || strings.HasPrefix(strings.ToLower(name), "last"):
		return strconv.Itoa(rapid.IntRange(0, 9).Draw(t, name))
	case name == "kinds":
		return rapid.SampledFrom([]string{"run.completed", "text.delta,run.queued"}).Draw(t, name)
	case len(s.Enum) > 0:
		return rapid.SampledFrom(s.Enum).Draw(t, name)
	case s.Type == "integer" || s.Type == "number":
		return strconv.Itoa(number(t, name, s))
	case s.Type == "boolean":
		return strconv.FormatBool(rapid.Bool().Draw(t, name))
	}
	return rapid.StringMatching(`[!-~]{1,12}`).Draw(t, name)
}

func number(t *rapid.T, name string, s schema) int {
	least, most := -3, 2000
	if s.Minimum != nil {
		least = int(*s.Minimum)
	}
	if s.Maximum != nil {
		most = int(*s.Maximum)
	}
	return rapid.IntRange(least, most).Draw(t, name)
}

// value draws JSON by the schema; now and then it draws what the schema forbids.
func (d *described) value(t *rapid.T, name string, s schema) any {
	if s.Ref != "" {
		must(t, json.Unmarshal(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], &s))
	}
	switch wrong := rapid.IntRange(0, 9).Draw(t, "wrong "+name) == 0; {
	case wrong:
		return rapid.SampledFrom([]any{nil, 1e300, -1, "x", []any{1}, map[string]any{"x": nil}, false}).Draw(t, name)
	case name == "job":
		return "tell"
	case name == "input":
		return map[string]any{"words": rapid.IntRange(0, 3).Draw(t, "words"), "fail": rapid.Bool().Draw(t, "fail")}
	case s.Type == "object":
		object := map[string]any{}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, field) || rapid.Bool().Draw(t, "with "+field) {
				object[field] = d.value(t, field, *s.Properties[field])
			}
		}
		return object
	case s.Type == "integer":
		return number(t, name, s)
	case s.Type == "boolean":
		return rapid.Bool().Draw(t, name)
	}
	return rapid.String().Draw(t, name)
}

// draw draws a request of the operation.
func (d *described) draw(t *rapid.T, o *operation, base string, ids []string) *http.Request {
	path, query, header := o.path, url.Values{}, http.Header{}
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			known := map[string][]string{"id": ids, "name": {"tell", "told.txt"}, "request": {"loud"}}[p.Name]
			value := rapid.SampledFrom(append(slices.Clone(nasty[1:]), slices.Repeat(known, 60)...)).Draw(t, p.Name)
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case !rapid.Bool().Draw(t, "with "+p.Name):
		case p.In == "query":
			query.Set(p.Name, text(t, p.Name, p.Schema))
		default:
			header.Set(p.Name, text(t, p.Name, p.Schema))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "unknown parameter") == 0 {
		query.Set("unknown", "1")
	}
	var body io.Reader
	if o.RequestBody != nil {
		content := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")
		if rapid.IntRange(0, 9).Draw(t, "JSON") > 0 {
			content, _ = json.Marshal(d.value(t, "body", o.RequestBody.Content["application/json"].Schema)) // drawn to be JSON
		}
		header.Set("Content-Type", rapid.SampledFrom([]string{"application/json", "application/json", "application/json",
			"text/plain", "application/xml", ";"}).Draw(t, "type"))
		body = strings.NewReader(string(content))
	}
	r, err := http.NewRequestWithContext(context.Background(), o.method, base+path+"?"+query.Encode(), body)
	must(t, err)
	r.Header = header
	return r
}

// "property tests from the OpenAPI document find nothing": whatever is asked, the answer is a documented one, failures
// are problems with a code of the table, and the server goes on.
func TestAnswersAreDocumented(t *testing.T) {
	system := newSystem(t)
	entrance, err := auth.New(auth.Config{Rate: -1})
	must(t, err)
	server := httptest.NewServer(entrance.Wrap(newAPI(system)))
	t.Cleanup(server.Close)
	w := &world{t: t, url: server.URL, system: system, server: server}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "errors.md"))
	must(t, err)
	d := w.described()
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	rapid.Check(t, func(t *rapid.T) {
		ended := w.start(`{"words":3,"file":true}`)
		w.until(ended, messages.KindRunCompleted)
		asks := w.start(`{"ask":true}`)
		w.until(asks, messages.KindInputRequired)
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			o := rapid.SampledFrom(d.operations).Draw(t, "operation")
			r := d.draw(t, o, w.url, []string{string(ended), string(asks)})
			response, err := client.Do(r)
			if err != nil {
				t.Fatalf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
			}
			got := answer{Response: response}
			if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" && kind != "application/x-ndjson" {
				text, err := io.ReadAll(response.Body)
				must(t, err)
				got.body = string(text)
			}
			response.Body.Close()
			said := o.Responses[strconv.Itoa(response.StatusCode)] != nil
			code, detail := got.problem()
			failed := response.StatusCode >= 400
			if !said || response.StatusCode >= 500 || failed && (detail == "" || !strings.Contains(string(page), "\n## "+code+"\n")) {
				t.Fatalf("%s %s %v: %s %s", r.Method, r.URL, r.Header, response.Status, got.body)
			}
		}
		if got := w.call("GET", "/v1/jobs", ""); got.StatusCode != http.StatusOK {
			t.Fatalf("the server no longer answers: %s", got.Status)
		}
		_ = system.Cancel(context.Background(), asks, "", "the test ends") // it may have ended
	})
}

// tale is the input of the job tell.
type tale struct {
	Words int `json:"words,omitempty"`
	// Word is what it tells: "word " if empty. Encore is how many more it tells after the answer.
	Word   string `json:"word,omitempty"`
	Encore int    `json:"encore,omitempty"`
	// File has the job write the file told. Ask has it ask how loud, and Child tell a part in a sub-run. Hang has it wait
	// until it is cancelled, and Fail fail.
	File  bool `json:"file,omitempty"`
	Ask   bool `json:"ask,omitempty"`
	Child bool `json:"child,omitempty"`
	Hang  bool `json:"hang,omitempty"`
	Fail  bool `json:"fail,omitempty"`
}

// told is what the file told.txt holds.
var (
	told = strings.Repeat("once upon a time\n", 200)
	file = messages.Artifact{Name: "told.txt", Path: "told.txt", Bytes: int64(len(told)),
		SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(told)))}
)

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

func openFile(context.Context, messages.State, messages.Artifact) (io.ReadSeekCloser, error) {
	return nopCloser{strings.NewReader(told)}, nil
}

// tell is a job that says something of every kind that readers fold.
func tell(ctx context.Context, t *actors.TaskContext, in tale) (string, error) {
	for i := range in.Words {
		if err := t.AppendText("answer", cmp.Or(in.Word, "word ")); err != nil {
			return "", err
		}
		if i%10 == 0 {
			_ = t.Progress(int64(i), int64(in.Words), "words")
			_ = t.Log(messages.LogInfo, "told a part")
		}
	}
	if in.File {
		if err := t.Emit(messages.ArtifactWritten{Artifact: file}, "wrote "+file.Name); err != nil {
			return "", err
		}
	}
	if in.Child {
		job, err := actors.Func("tell", tell).New(json.RawMessage(`{"words":3}`))
		if err != nil {
			return "", err
		}
		run, err := t.Start(ctx, job, actors.Options{Key: "part"})
		if err != nil {
			return "", err
		}
		if _, err := run.Wait(ctx); err != nil {
			return "", err
		}
	}
	if in.Ask {
		if _, err := t.Ask(ctx, messages.InputRequired{Request: "loud", Prompt: "How loud?"}); err != nil {
			return "", err
		}
	}
	for i := range in.Encore {
		if err := errors.Join(t.Emit(messages.StepStarted{Step: strconv.Itoa(i)}, ""), t.AppendText("encore", "word ")); err != nil {
			return "", err
		}
	}
	if in.Hang {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	if in.Fail {
		return "", messages.Errorf(messages.CauseProviderError, "the model said no")
	}
	return "told", nil
}

// world is a runtime with the API before it.
type world struct {
	t      *testing.T
	url    string
	system *actors.System
	server *httptest.Server
}

func newWorld(t *testing.T, more ...actors.Definition) *world {
	t.Helper()
	system := newSystem(t, more...)
	server := httptest.NewServer(newAPI(system))
	t.Cleanup(server.Close)
	return &world{t: t, url: server.URL, system: system, server: server}
}

// hears is the job tell, which takes messages and reads none.
func hears() actors.Definition {
	d := actors.Func("tell", tell)
	d.Messages = true
	return d
}

func newSystem(t *testing.T, more ...actors.Definition) *actors.System {
	t.Helper()
	system, err := actors.New(context.Background(), actors.Config{MaxReaders: 2000, Jobs: append(more, hears())})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // runs that hang are cancelled
		_ = system.Close(ctx)
	})
	return system
}

func anyObject() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }

func newAPI(system *actors.System) *api.Server {
	return api.New(door.New(door.Config{Runs: system, Open: openFile, Version: "test", Jobs: []messages.JobInfo{
		{Name: "tell", JobSpec: messages.JobSpec{Description: "Tells something", Input: anyObject}}}}))
}

// answer is what a request got.
type answer struct {
	*http.Response
	body string
}

// problem is the code of a failure, or "".
func (a answer) problem() (code, detail string) {
	var p auth.Problem
	if a.Header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal([]byte(a.body), &p)
	}
	return p.Code, p.Detail
}

// call sends a request with header fields, as name and value in turns, and reads the whole answer.
func (w *world) call(method, path, body string, header ...string) answer {
	w.t.Helper()
	response := w.open(w.t.Context(), method, path, body, header...)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	must(w.t, err)
	return answer{response, string(got)}
}

func (w *world) open(ctx context.Context, method, path, body string, header ...string) *http.Response {
	w.t.Helper()
	if body != "" {
		header = append([]string{"Content-Type", "application/json"}, header...)
	}
	return testkit.OpenURL(ctx, w.t, method, w.url+path, body, header...)
}

// start starts a run of the job tell.
func (w *world) start(input string) messages.RunID {
	w.t.Helper()
	got := w.call("POST", "/v1/runs", `{"job":"tell","input":`+input+`}`)
	var state messages.State
	if err := json.Unmarshal([]byte(got.body), &state); err != nil || got.StatusCode != http.StatusAccepted {
		w.t.Fatalf("%s: %s", got.Status, got.body)
	}
	return state.RunID
}

// until waits for an event of the kind.
func (w *world) until(id messages.RunID, kind messages.Kind) {
	w.t.Helper()
	for e, err := range w.system.Events(w.t.Context(), id, 0) {
		must(w.t, err)
		if e.Kind() == kind {
			return
		}
	}
	w.t.Fatalf("run %s ended without %s", id, kind)
}

func (w *world) answer(id messages.RunID) {
	w.t.Helper()
	w.until(id, messages.KindInputRequired)
	if got := w.call("POST", "/v1/runs/"+string(id)+"/input/loud", `{"value":"very"}`); got.StatusCode != http.StatusAccepted {
		w.t.Fatalf("%s: %s", got.Status, got.body)
	}
}

var must = fatal.IfError
