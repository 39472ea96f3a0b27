package aisdk_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errGone = errors.New("the journal is gone")

func serve(t *testing.T, runs door.Runs) string {
	t.Helper()
	jobs := []messages.JobInfo{{Name: "generate"}, {Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}
	return testkit.ServeURL(t, aisdk.New(door.New(door.Config{Runs: runs, Jobs: jobs})))
}

// ask sends a request of a client of the version, and returns the status, the body, and why it was cut.
func ask(t *testing.T, method, url, version, body string) (int, string, error) {
	t.Helper()
	return testkit.ReadURL(t, method, url, body, "X-AI-SDK", version)
}

func say(text string) string {
	return fmt.Sprintf(`{"id":"c1","trigger":"submit-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":%q}]}]}`, text)
}

// TestStories holds the chunks of each story, for clients that know reset-step and for those that do not.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		var got strings.Builder
		for _, version := range []string{"6", "7"} {
			url := serve(t, &stories.Teller{})
			_, body, err := ask(t, http.MethodPost, url+"/api/chat", version, say(story.Name))
			fmt.Fprintf(&got, "version %s\n\n%s", version, body)
			_, again, againErr := ask(t, http.MethodGet, url+"/api/chat/c1/stream", version, "")
			if err := errors.Join(err, againErr); err != nil || again != body {
				t.Errorf("%s: %v, a client that comes back gets\n%s", story.Name, err, again)
			}
		}
		story.Golden(t, *update, got.String())
	}
}

// Wherever the log breaks off, the client is told of an error.
func TestNoCutIsASuccess(t *testing.T) {
	for story, teller := range stories.Cuts(errGone) {
		_, body, err := ask(t, http.MethodPost, serve(t, teller)+"/api/chat", "7", say(story))
		if err == nil || !strings.HasSuffix(body, `data: {"errorText":"the journal is gone","type":"error"}`+"\n\n") {
			t.Errorf("%s after %d events: %v, %s", story, teller.After, err, body)
		}
	}
}

// A question ends the answer; what the client answers goes on in the same message, and may be sent again.
func TestQuestions(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	_, body, _ := ask(t, http.MethodPost, url+"/api/chat", "6", say("question"))
	if !strings.Contains(body, `"finishReason":"tool-calls"`) || strings.Contains(body, "Took main") {
		t.Errorf("the question is %s", body)
	}
	if status, body, _ := ask(t, http.MethodPost, url+"/api/chat", "6",
		`{"id":"c1","messages":[{"id":"r_story1","role":"assistant","parts":[{"type":"text","text":"Let me ask."}]}]}`); status != 422 {
		t.Errorf("without an answer: %d, %s", status, body)
	}
	answer := `{"id":"c1","messageId":"r_story1","messages":[{"id":"r_story1","role":"assistant","parts":[{"type":"text","text":"Let me ask."},` +
		`{"type":"dynamic-tool","toolName":"ask","toolCallId":"q1","state":"output-available","output":"main"}]}]}`
	for range 2 {
		_, body, err := ask(t, http.MethodPost, url+"/api/chat", "6", answer)
		if err != nil || strings.Contains(body, "Let me ask.") || !strings.Contains(body, `"delta":"Took main."`) ||
			!strings.HasPrefix(body, `data: {"messageId":"r_story1"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Errorf("the answer goes on as %v, %s", err, body)
		}
	}
	state, err := teller.State(t.Context(), "r_story1")
	if err != nil || string(state.Inputs[0].Value) != `"main"` {
		t.Errorf("%v, the run is told %s", err, state.Inputs[0].Value)
	}
	_, whole, _ := ask(t, http.MethodGet, url+"/api/chat/c1/stream", "6", "")
	fatal.IfLacking(t, whole, "Let me ask.", `"output":"main"`, "Took main.")
}

// What was taken back is not what the assistant said.
func TestEarlierMessages(t *testing.T) {
	teller := &stories.Teller{}
	ask(t, http.MethodPost, serve(t, teller)+"/api/chat", "6", `{"id":"c1","messages":[`+
		`{"role":"system","parts":[{"type":"text","text":"Be brief."}]},{"role":"user","parts":[{"type":"text","text":"Hi"}]},`+
		`{"role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Hell","providerMetadata":{"lastword":{"id":"a"}}},`+
		`{"type":"data-x","data":[1]},{"type":"data-retracted","data":{"type":"text","id":"a"}},`+
		`{"type":"text","text":"Hello.","providerMetadata":{"lastword":{"id":"a#2"}}}]},`+
		`{"role":"user","parts":[{"type":"text","text":"plain"}]}]}`)
	ask(t, http.MethodPost, serve(t, teller)+"/api/chat", "6", `{"id":"c1","messages":[{"role":"user","parts":[{"type":"text","text":"Hi"}]},`+
		`{"id":"own","role":"assistant","parts":[{"type":"text","text":"Sure"}]}]}`)
	ask(t, http.MethodPost, serve(t, teller)+"/api/chat", "6", `{"id":"c1","messages":[{"role":"system","parts":[{"type":"text","text":"Write."}]}]}`)
	for id, want := range map[messages.RunID]string{
		"r_story1": `{"earlier":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}],"message":"plain","system":"Be brief."}`,
		"r_story2": `{"earlier":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Sure"}],"message":""}`,
		"r_story3": `{"message":"","system":"Write."}`,
	} {
		state, err := teller.State(t.Context(), id)
		fatal.IfError(t, err)
		if got := string(state.Queued.Input); got != want || state.Queued.Labels["context"] != "c1" {
			t.Errorf("%s is started with %s, %v", id, got, state.Queued.Labels)
		}
	}
}

func TestStop(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	if status, _, _ := ask(t, http.MethodGet, url+"/api/chat/c1/stream", "6", ""); status != http.StatusNoContent {
		t.Errorf("there is nothing to resume, but the status is %d", status)
	}
	ask(t, http.MethodPost, url+"/api/chat", "6", say("question"))
	if status, _, _ := ask(t, http.MethodPost, url+"/api/chat/c1/stop", "6", ""); status != http.StatusNoContent {
		t.Errorf("stopped with status %d", status)
	}
	if state, err := teller.State(t.Context(), "r_story1"); err != nil || state.Status != messages.Canceled {
		t.Errorf("%v, the stopped run is %s", err, state.Status)
	}
	if _, body, _ := ask(t, http.MethodGet, url+"/api/chat/c1/stream", "6", ""); !strings.Contains(body, `"status":"canceled"`) {
		t.Errorf("the stopped run is told as %s", body)
	}
}

func TestRefusals(t *testing.T) {
	url := serve(t, &stories.Teller{})
	for body, want := range map[string]int{
		`{`: 400, `{"id":"c1"}`: 400,
		`{"id":"c1","job":"generate","messages":[{"role":"user","parts":[{"type":"text","text":"plain"}]}]}`: 404,
		`{"id":"c1","messages":[{"role":"user","parts":[{"type":"file"},{"type":"text","text":"plain"}]}]}`:  422,
		`{"id":"c1","messages":[{"id":"r_none","role":"assistant","parts":[]}]}`:                             404,
	} {
		status, said, _ := ask(t, http.MethodPost, url+"/api/chat", "6", body)
		if status != want || said == "" || json.Valid([]byte(said)) {
			t.Errorf("%s: %d, %s", body, status, said)
		}
	}
}
