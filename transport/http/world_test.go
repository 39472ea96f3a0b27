package http_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http"
)

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
	system, err := actors.New(context.Background(), actors.Config{MaxReaders: 2000,
		Jobs: append(more, hears())})
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
