package agui_test

import (
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
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/door"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errGone = errors.New("the journal is gone")

func serve(t *testing.T, runs door.Runs) string {
	t.Helper()
	jobs := []messages.JobInfo{{Name: "generate"}, {Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}
	return testkit.ServeURL(t, agui.New(door.New(door.Config{Runs: runs, Jobs: jobs}))) + "/agui"
}

func post(t *testing.T, url, body string) (int, string, error) {
	t.Helper()
	return testkit.ReadURL(t, http.MethodPost, url, body)
}

func say(text, more string) string {
	return fmt.Sprintf(`{"threadId":"c1","runId":"1","state":{"page":7},"messages":[{"id":"u1","role":"user","content":%q}]%s}`, text, more)
}

const current = `,"protocolVersion":"1.0"`

// TestStories holds the events of each story, for clients of 1.0 and for those before.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		_, body, err := post(t, serve(t, &stories.Teller{}), say(story.Name, current))
		_, old, oldErr := post(t, serve(t, &stories.Teller{}), say(story.Name, ""))
		if err := errors.Join(err, oldErr); err != nil {
			t.Errorf("%s: %v", story.Name, err)
		}
		for _, unknown := range []string{"SUBAGENT_", `"cancelled"`} {
			if strings.Contains(old, unknown) {
				t.Errorf("%s: an old client rejects %s in %s", story.Name, unknown, old)
			}
		}
		story.Golden(t, *update, body)
	}
}

// Wherever the log breaks off, the client is told of an error.
func TestNoCutIsASuccess(t *testing.T) {
	for story, teller := range stories.Cuts(errGone) {
		_, body, err := post(t, serve(t, teller), say(story, current))
		if err == nil || !strings.HasSuffix(body, `data: {"code":"internal","message":"the journal is gone","type":"RUN_ERROR"}`+"\n\n") {
			t.Errorf("%s after %d events: %v, %s", story, teller.After, err, body)
		}
	}
}

// An interrupt ends a run of the client, and what resumes is the next; the same request again gets the same events.
func TestInterrupts(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	post(t, url, say("question", current))
	if status, body, _ := post(t, url, `{"threadId":"c1","runId":"2","resume":[{"interruptId":"q2","status":"resolved","payload":"x"}]}`); status != 422 {
		t.Errorf("another question's answer: %d, %s", status, body)
	}
	resume := `{"threadId":"c1","runId":"2","resume":[{"interruptId":"q1","status":"resolved","payload":"main"}]}`
	_, first, err := post(t, url, resume)
	_, again, _ := post(t, url, resume)
	if err != nil || first != again || strings.Contains(first, "Let me ask.") || !strings.Contains(first, `"delta":"Took main."`) ||
		!strings.HasPrefix(first, `data: {"runId":"2"`) || !strings.Contains(first, `"outcome":{"type":"success"}`) {
		t.Errorf("the run goes on as %v, %s", err, first)
	}
	state, err := teller.State(t.Context(), "r_story1")
	if err != nil || string(state.Inputs[0].Value) != `"main"` {
		t.Errorf("%v, the run is told %s", err, state.Inputs[0].Value)
	}
	post(t, url, strings.Replace(say("question", current), `"runId":"1"`, `"runId":"3"`, 1))
	if _, body, _ := post(t, url, strings.Replace(strings.Replace(resume, "resolved", "cancelled", 1), "{", `{"protocolVersion":"1.0",`, 1)); !strings.Contains(
		body, `"outcome":{"type":"cancelled"}`) {
		t.Errorf("a cancelled question: %s", body)
	}
	post(t, url, strings.Replace(say("question", current), `"runId":"1"`, `"runId":"4"`, 1))
	if status, _, _ := post(t, url+"/c1/cancel", ""); status != http.StatusNoContent {
		t.Errorf("cancelled with status %d", status)
	}
	if state, err := teller.State(t.Context(), "r_story3"); err != nil || state.Status != messages.Canceled {
		t.Errorf("%v, the cancelled run is %s", err, state.Status)
	}
}

// A client whose connection was cut sends its request again, with what it has of the answer. It gets its run from the
// beginning, and a snapshot without that part, so that it holds each message once.
func TestRepeatedRequest(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	_, first, _ := post(t, url, say("plain", current))
	cut := strings.Replace(say("plain", current), `"plain"}]`, `"plain"},{"id":"r_story1.answer","role":"assistant","content":"Hello, w"}]`, 1)
	_, again, err := post(t, url, cut)
	const snapshot = `data: {"messages":[{"id":"u1","role":"user","content":"plain"}],"type":"MESSAGES_SNAPSHOT"}` + "\n\n"
	if err != nil || !strings.Contains(again, snapshot) || strings.Replace(again, snapshot, "", 1) != first {
		t.Errorf("the repeated request gets %v\n%s\nwant\n%s", err, again, first)
	}
	if runs, err := teller.List(t.Context(), messages.Query{}); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// The job gets what was said before, without what its own runs have shown.
func TestEarlierMessages(t *testing.T) {
	teller := &stories.Teller{}
	post(t, serve(t, teller), `{"threadId":"c1","runId":"1","messages":[{"id":"1","role":"system","content":"Be brief."},`+
		`{"id":"2","role":"user","content":[{"type":"text","text":"Hi"}]},{"id":"3","role":"reasoning","content":"hm"},`+
		`{"id":"4","role":"assistant","toolCalls":[]},{"id":"5","role":"tool","content":"ok"},{"id":"6","role":"assistant","content":"Hello."},`+
		`{"id":"7","role":"user","content":"plain"},{"id":"r_x.answer","role":"assistant","content":"Hel"}]}`)
	post(t, serve(t, teller), `{"threadId":"c1","runId":"2","messages":[{"id":"1","role":"user","content":"Hi"},{"id":"2","role":"assistant","content":"Sure"}]}`)
	post(t, serve(t, teller), `{"threadId":"c1","runId":"3","messages":[{"id":"1","role":"system","content":"Write."}]}`)
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

func TestRefusals(t *testing.T) {
	url := serve(t, &stories.Teller{})
	for body, want := range map[string]int{
		`{`: 400, `{"threadId":"c1","messages":[]}`: 400, `{"threadId":"c1","runId":"1","messages":[]}`: 422,
		`{"threadId":"c1","runId":"1","messages":[{"role":"user","content":[{"type":"binary"}]}]}`: 422,
		`{"threadId":"none","runId":"1","resume":[{"interruptId":"q1"}]}`:                          404,
		say("plain", `,"forwardedProps":{"job":"generate"}`):                                       404,
	} {
		if status, said, _ := post(t, url, body); status != want {
			t.Errorf("%s: %d, %s", body, status, said)
		}
	}
}
