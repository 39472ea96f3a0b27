package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http"
)

// greeting is the input of the job greet.
type greeting struct {
	Who string `json:"who"`
	// Wait has the job ask before it greets.
	Wait bool `json:"wait,omitempty"`
}

func greet(ctx context.Context, t *actors.TaskContext, in greeting) (string, error) {
	for _, word := range []string{"hello ", in.Who} {
		t.Say("answer", word)
	}
	if in.Wait {
		if _, err := t.Ask(ctx, messages.InputRequired{Request: "how", Prompt: "How loud?"}); err != nil {
			return "", err
		}
	}
	return "hello " + in.Who, nil
}

// serve starts the API of a runtime with the job greet.
func serve(t *testing.T) (string, *actors.System) {
	t.Helper()
	system, err := actors.New(t.Context(), actors.Config{Jobs: map[string]actors.NewJob{"greet": actors.Func("greet", greet)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = system.Close(context.Background()) })
	server := httptest.NewServer(api.New(api.Config{Runs: system, Version: "test",
		Jobs: []api.Job{{Name: "greet", Description: "Greets", Schema: json.RawMessage(`{"type":"object"}`)}}}))
	t.Cleanup(server.Close)
	return server.URL, system
}

func call(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(bufio.NewReader(response.Body))
	if err != nil {
		t.Fatal(err)
	}
	return response, string(got)
}

func TestSmoke(t *testing.T) {
	url, _ := serve(t)
	for _, c := range [][]string{
		{"POST", "/v1/runs", `{"job":"greet","input":{"who":"Ann"}}`},
		{"POST", "/v1/runs", `{"job":"greet","input":{"who":"Ann"}}`, "Accept", "text/event-stream"},
		{"POST", "/v1/runs", `{"job":"greet","input":{"who":"Ann"},"detached":false}`, "Prefer", "wait=5"},
		{"POST", "/v1/runs", `{"job":"greet","input":{"whom":"Ann"}}`},
		{"POST", "/v1/runs", `{"job":"greet","inpt":{"who":"Ann"}}`},
		{"POST", "/v1/runs", `{"job":"greet","inpt"`},
		{"POST", "/v1/runs", `{"job":"nope"}`},
		{"GET", "/v1/runs?limit=2", ""},
		{"GET", "/v1/runs?limt=2", ""},
		{"GET", "/v1/runs/r_none", ""},
		{"PUT", "/v1/runs/r_none", ""},
		{"GET", "/nothing", ""},
		{"GET", "/v1/jobs", ""},
	} {
		response, body := call(t, c[0], url+c[1], c[2], c[3:]...)
		t.Log(strings.Join(c, " "), "\n", response.Status, response.Header.Get("Content-Type"), "\n", body)
	}
	response, body := call(t, "POST", url+"/v1/runs", `{"job":"greet","input":{"who":"Bob","wait":true}}`)
	run := response.Header.Get("Location")
	time.Sleep(100 * time.Millisecond)
	for _, c := range [][]string{
		{"GET", run + "/events", ""},
		{"GET", run + "/events?after=3", "", "Accept", "application/x-ndjson;x"},
	} {
		if c[len(c)-1] == "application/x-ndjson;x" {
			continue
		}
		response, body = call(t, c[0], url+c[1], c[2], c[3:]...)
		t.Log(strings.Join(c, " "), "\n", response.Status, response.Header.Get("Content-Type"), "\n", body)
	}
	response, body = call(t, "POST", url+run+"/input/how", `{"value":"loud"}`)
	t.Log(response.Status, body)
	response, body = call(t, "GET", url+run+"/events", "", "Accept", "application/x-ndjson")
	t.Log(response.Status, body)
	response, body = call(t, "GET", url+run+"/events", "", "Accept", "text/event-stream", "Last-Event-ID", "5")
	t.Log(response.Status, body)
	response, body = call(t, "GET", url+"/openapi.json", "")
	t.Log(response.Status, len(body), body[:1500])
}
