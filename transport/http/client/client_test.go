package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/http/client"
)

type words struct {
	Words int  `json:"words"`
	Ask   bool `json:"ask,omitempty"`
}

func tell(ctx context.Context, t *actors.TaskContext, in words) (string, error) {
	for range in.Words {
		if err := t.AppendText("answer", "word "); err != nil {
			return "", err
		}
	}
	if in.Ask {
		if _, err := t.Ask(ctx, messages.InputRequired{Request: "loud", Prompt: "How loud?"}); err != nil {
			return "", err
		}
	}
	return "told", nil
}

func serve(t *testing.T) (*actors.System, string) {
	t.Helper()
	job := actors.Func("tell", tell)
	job.Messages = true
	system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{job}})
	must(t, err)
	server := httptest.NewServer(api.New(door.New(door.Config{Runs: system, Jobs: []messages.JobInfo{{Name: "tell"}}})))
	t.Cleanup(func() { server.Close(); _ = system.Close(context.Background()) })
	return system, server.URL
}

// cutting is a proxy that cuts each connection after some bytes of the answer: a few more each time.
func cutting(t *testing.T, target string) (url string, cuts *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	cuts = new(atomic.Int64)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				up, err := net.Dial("tcp", strings.TrimPrefix(target, "http://"))
				if err != nil {
					return
				}
				defer up.Close()
				go func() { _, _ = io.Copy(up, c) }()
				_, _ = io.CopyN(c, up, 800+37*cuts.Add(1))
			}()
		}
	}()
	return "http://" + listener.Addr().String(), cuts
}

// DESIGN 3: "never a silent hole", however often the connection is cut.
func TestFollowThroughCuts(t *testing.T) {
	system, url := serve(t)
	id, err := system.Submit(t.Context(), messages.Request{Job: "tell", Input: json.RawMessage(`{"words":60,"ask":true}`)})
	must(t, err)
	proxy, cuts := cutting(t, url)
	c, err := client.New(proxy, "")
	must(t, err)
	var got messages.Fold
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		must(t, err)
		must(t, got.Apply(e))
		if e.Kind() == messages.KindInputRequired {
			direct, err := client.New(url, "")
			must(t, err)
			must(t, direct.Answer(t.Context(), id, "loud", json.RawMessage(`"very"`)))
		}
	}
	want, err := system.State(t.Context(), id)
	must(t, err)
	a, _ := json.Marshal(got.State())
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("the State is\n%s\nwant\n%s", a, b)
	}
	if cuts.Load() < 2 {
		t.Errorf("the connection was cut %d times", cuts.Load())
	}
}

// A reader whose server ends before or in the middle of the stream goes on with what its process has left.
func TestFollowGoesOnWithoutTheServer(t *testing.T) {
	lines := []string{
		`{"run_id":"r_a","seq":1,"ts":"2026-11-20T20:00:00Z","type":"run.queued","payload":{"job":"x","mode":"detached","limits":{}}}`,
		`{"run_id":"r_a","seq":2,"ts":"2026-11-20T20:00:00Z","type":"run.started","payload":{"epoch":1}}`,
		`{"run_id":"r_a","seq":3,"ts":"2026-11-20T20:00:00Z","type":"run.completed","payload":{"by":"run","artifacts":[]}}`,
	}
	for sent := range lines {
		var had atomic.Bool
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if sent > 0 && !had.Swap(true) {
				_, _ = io.WriteString(w, strings.Join(lines[:sent], "\n")+"\n")
				return
			}
			panic(http.ErrAbortHandler)
		}))
		c, err := client.New(server.URL, "")
		must(t, err)
		c.UntilGone(func() bool { return true }, func(_ context.Context, _ messages.RunID, want messages.FollowOptions) iter.Seq2[messages.Event, error] {
			return func(yield func(messages.Event, error) bool) {
				for _, line := range lines[want.After:] {
					var e messages.Event
					if err := json.Unmarshal([]byte(line), &e); !yield(e, err) {
						return
					}
				}
			}
		})
		n := uint64(0)
		for e, err := range c.Follow(t.Context(), "r_a", messages.FollowOptions{}) {
			must(t, err)
			if n++; e.Seq != n {
				t.Errorf("after %d lines of the server, event %d is the %d-th", sent, e.Seq, n)
			}
		}
		if server.Close(); n != 3 {
			t.Errorf("after %d lines of the server it reads %d", sent, n)
		}
	}
}

// A server that leaves events out is found out.
func TestFollowChecksTheLaw(t *testing.T) {
	lines := []string{
		`{"run_id":"r_a","seq":1,"ts":"2026-11-20T20:00:00Z","type":"run.queued","payload":{"job":"x","mode":"detached","limits":{}}}`,
		`{"run_id":"r_a","seq":3,"ts":"2026-11-20T20:00:00Z","type":"task.started","payload":{"task":"x","attempt":1}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Join(lines, "\n")+"\n")
	}))
	defer server.Close()
	c, err := client.New(server.URL, "")
	must(t, err)
	var last error
	for _, err := range c.Follow(t.Context(), "r_a", messages.FollowOptions{}) {
		last = err
	}
	if messages.CodeOf(last) != messages.CodeReset || !strings.Contains(last.Error(), "missing") {
		t.Errorf("a hole in the log is %v", last)
	}
}

func TestErrors(t *testing.T) {
	_, url := serve(t)
	c, err := client.New(url, "")
	must(t, err)
	if _, err := c.State(t.Context(), "r_unknown"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("an unknown run: %v", err)
	}
	for _, err := range c.Follow(t.Context(), "r_unknown", messages.FollowOptions{}) {
		if messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("an unknown run's events: %v", err)
		}
	}
	if _, err := c.Submit(t.Context(), messages.Request{Job: "sing"}); messages.CodeOf(err) != "invalid_input" {
		t.Errorf("an unknown job: %v", err)
	}
	away, err := client.New("http://127.0.0.1:1", "")
	must(t, err)
	if _, err := away.State(t.Context(), "r_a"); messages.CodeOf(err) != "transport_closed" || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("no server: %v", err)
	}
	left, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller left")
	cancel(gone)
	for _, err := range away.Follow(left, "r_a", messages.FollowOptions{}) {
		if !errors.Is(err, gone) {
			t.Errorf("a caller that left: %v", err)
		}
	}
	if _, err := client.New("here", ""); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:7878") {
		t.Errorf("no URL: %v", err)
	}
}

func TestCalls(t *testing.T) {
	_, url := serve(t)
	c, err := client.New(url, "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "tell", Input: json.RawMessage(`{"words":1,"ask":true}`), Key: "k",
		Labels: map[string]string{"team": "docs"}})
	must(t, err)
	q := messages.Query{Job: "tell", Status: []messages.Status{messages.Processing, messages.Pending}, Limit: 5,
		Labels: map[string]string{"team": "docs"}}
	if list, next, err := c.List(t.Context(), q, ""); err != nil || len(list) != 1 || list[0].RunID != id || next != "" {
		t.Errorf("list: %v, %q, %v", list, next, err)
	}
	if err := c.DeleteLog(t.Context(), id); messages.CodeOf(err) != messages.CodeConflict {
		t.Errorf("forget of a run that goes on: %v", err)
	}
	if m, err := c.Say(t.Context(), id, messages.Said{Content: "louder"}); err != nil || m.Message == "" || m.Position != 1 {
		t.Errorf("said: %+v, %v", m, err)
	}
	must(t, c.Cancel(t.Context(), id, "enough"))
	var last messages.Event
	want := messages.FollowOptions{Filter: messages.Filter{MilestonesOnly: true, Kinds: []messages.Kind{messages.KindRunQueued},
		Streams: []string{"answer"}}, Rate: 10, Tree: true}
	for e, err := range c.Follow(t.Context(), id, want) {
		must(t, err)
		last = e
	}
	if last.Kind() != messages.KindRunCanceled {
		t.Errorf("the last event is %s", last.Kind())
	}
	for range c.Follow(t.Context(), id, messages.FollowOptions{After: last.Seq}) {
		t.Error("an event after the terminal")
	}
	if _, err := c.Artifact(t.Context(), id, "llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("an artifact that is not there: %v", err)
	}
	must(t, c.DeleteLog(t.Context(), id))
}

// A proxy's own answers are errors that can be tried again; a server on a Unix socket gets the token.
func TestOtherServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/artifacts/a.txt"):
			_, _ = io.WriteString(w, "hello")
		default:
			http.Error(w, "<html>", http.StatusBadGateway)
		}
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	c, err := client.New("unix:"+path, "secret")
	must(t, err)
	_, err = c.State(t.Context(), "r_a")
	if e, ok := errors.AsType[*messages.Error](err); !ok || !e.Retryable || !strings.Contains(e.Message, "502") {
		t.Errorf("a proxy's answer: %v", err)
	}
	file, err := c.Artifact(t.Context(), "r_a", "a.txt")
	must(t, err)
	defer file.Close()
	if text, err := io.ReadAll(file); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

var must = fatal.IfError

// A server that redirects elsewhere is refused at once: nothing of the call reaches another origin.
func TestRedirectsElsewhereAreRefused(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another origin is asked") }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	c, err := client.New(s.URL, "secret")
	must(t, err)
	_, err = c.Submit(t.Context(), messages.Request{Job: "tell", Key: "k"})
	for _, follow := range c.Follow(t.Context(), "r_x", messages.FollowOptions{}) {
		err = errors.Join(err, follow)
	}
	if messages.CodeOf(err) != messages.CauseInvalidInput || strings.Count(err.Error(), "redirects elsewhere") != 2 {
		t.Errorf("got %v", err)
	}
}

// The client asks for digests, and gives whole texts: of what the wire left out, of a text that was taken back, and of a
// server that knows no digests. A text that is not what the server said is a reset.
func TestFollowGivesWholeTexts(t *testing.T) {
	text := strings.Repeat("a long <text>\n", 5000)
	final := text[:60_000] + strings.ToUpper(text[60_000:])
	recite := func(_ context.Context, t *actors.TaskContext, _ struct{}) (map[string]string, error) {
		err := errors.Join(t.AppendText("answer", text), t.FinishText("answer", final), t.AppendText("encore", text), t.FinishText("encore", text))
		return map[string]string{"text": final}, err
	}
	system := faultplan.Open(t, actors.Config{Jobs: []actors.Definition{actors.Func("recite", recite)}})
	inner := api.New(door.New(door.Config{Runs: system}))
	var asked, thin atomic.Int64
	serving := "new"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("done") == "digest" {
			asked.Add(1)
			if serving == "old" {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = io.WriteString(w, `{"code":"invalid_input","detail":"unexpected query parameter"}`)
				return
			}
		}
		answer := httptest.NewRecorder()
		r.Header.Del("Accept-Encoding") // the answer is read, and changed
		inner.ServeHTTP(answer, r)
		thin.Store(int64(answer.Body.Len()))
		body := answer.Body.String()
		if serving == "false" {
			body = strings.ReplaceAll(body, messages.Digest(final), messages.Digest("else"))
		}
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	id, err := system.Submit(t.Context(), messages.Request{Job: "recite"})
	must(t, err)
	var want []string
	for e, err := range system.Events(t.Context(), id, 0) {
		must(t, err)
		line, _ := e.JSON()
		want = append(want, string(line))
	}
	for _, serving = range []string{"new", "old", "false"} {
		c, err := client.New(server.URL, "")
		must(t, err)
		var got []string
		var last error
		for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
			if last = err; err == nil {
				line, _ := e.JSON()
				got = append(got, string(line))
			}
		}
		switch {
		case serving == "false" && messages.CodeOf(last) != messages.CodeReset:
			t.Errorf("a false digest is %v", last)
		case serving != "false" && (last != nil || strings.Join(got, "\n") != strings.Join(want, "\n")):
			t.Errorf("%s: %v, %d events, want %d", serving, last, len(got), len(want))
		case serving == "new" && thin.Load() > 300_000:
			t.Errorf("two texts of 125 kB as JSON took %d bytes", thin.Load())
		}
	}
	if asked.Load() != 3 {
		t.Errorf("the client asked %d times", asked.Load())
	}
}
