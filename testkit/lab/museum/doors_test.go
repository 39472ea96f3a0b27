package museum

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/llm"
)

var jobs = []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}

// told is what a client of AG-UI gets of the story.
func told(t *testing.T, story string, runs door.Runs) (string, error) {
	t.Helper()
	url := testkit.ServeURL(t, agui.New(door.New(door.Config{Runs: runs, Jobs: jobs})))
	_, body, err := testkit.ReadURL(t, http.MethodPost, url+"/agui", fmt.Sprintf(
		`{"threadId":"c","runId":"1","protocolVersion":"1.0","messages":[{"id":"u","role":"user","content":%q}]}`, story))
	return body, err
}

// RUN_ERROR was followed by RUN_FINISHED.
func TestAGUI1892(t *testing.T) {
	body, err := told(t, "failure", &stories.Teller{})
	if err != nil || strings.Count(body, "RUN_ERROR")+strings.Count(body, "RUN_FINISHED") != 1 {
		t.Errorf("a failed run is told as %v\n%s", err, body)
	}
}

// A dropped connection and the end looked the same: both were the end of the stream.
func TestA2ARS265(t *testing.T) {
	for story, teller := range stories.Cuts(errors.New("the journal is gone")) {
		if body, err := told(t, story, teller); err == nil || strings.Contains(body, `"outcome":{"type":"success"}`) {
			t.Errorf("%s after %d events: %v\n%s", story, teller.After, err, body)
		}
	}
}

// An error in the middle of a stream was not told: the status was 200 already.
func TestADKPython2021(t *testing.T) {
	url := testkit.ServeURL(t, aisdk.New(door.New(door.Config{Runs: &stories.Teller{}, Jobs: jobs})))
	status, body, err := testkit.ReadURL(t, http.MethodPost, url+"/api/chat",
		`{"id":"c","trigger":"submit-message","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"failure"}]}]}`, "X-AI-SDK", "7")
	if err != nil || status != http.StatusOK || !strings.Contains(body, `"errorText"`) {
		t.Errorf("status %d, %v\n%s", status, err, body)
	}
}

// served is the native API of a System whose one run says something, and waits for the gate.
func served(t *testing.T, config door.Config, gate <-chan struct{}) (*api.Server, *actors.Run) {
	t.Helper()
	s := faultplan.Open(t, actors.Config{})
	run, err := s.Start(t.Context(), script(faultplan.Step{Do: faultplan.Say, Text: "Hel"}, faultplan.Step{Do: faultplan.Say, Text: "lo, "},
		faultplan.Step{Do: faultplan.Await, Gate: gate}, faultplan.Step{Do: faultplan.Say, Text: "world."}), actors.Options{})
	must(t, err)
	config.Runs = s
	return api.New(door.New(config)), run
}

// open begins to read the events of the run past the cursor.
func open(t *testing.T, url string, run *actors.Run, after string) *bufio.Scanner {
	t.Helper()
	response := testkit.OpenURL(t.Context(), t, http.MethodGet, url+"/v1/runs/"+string(run.ID())+"/events", "",
		"Accept", "text/event-stream", "Last-Event-ID", after)
	t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

// A proxy closed a stream that was silent for 16 s, and the client took that for its end.
func TestOmnara421(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	api, run := served(t, door.Config{Heartbeat: time.Millisecond}, gate)
	for lines, beats := open(t, testkit.ServeURL(t, api), run, "0"), 0; beats < 3; {
		if !lines.Scan() {
			t.Fatalf("the stream ends after %d beats: %v", beats, lines.Err())
		}
		if lines.Text() == ":" {
			beats++
		}
	}
}

// A client that came back got the rest of a text without its beginning, or a part of it twice.
func TestOpenAINode1984(t *testing.T) {
	gate := make(chan struct{})
	api, run := served(t, door.Config{}, gate)
	url, text, id := testkit.ServeURL(t, api), "", "0"
	read := func(until string) {
		for lines := open(t, url, run, id); lines.Scan() && (until == "" || text != until); {
			if next, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = next
			}
			if _, data, ok := strings.Cut(lines.Text(), `"type":"text.delta"`); ok {
				_, data, _ = strings.Cut(data, `"text":"`)
				data, _, _ = strings.Cut(data, `"`)
				text += data
			}
		}
	}
	read("Hello, ")
	close(gate)
	_, err := run.Wait(t.Context())
	must(t, err)
	if read(""); text != "Hello, world." {
		t.Errorf("the client holds %q, with the cursor %s", text, id)
	}
}

// An open stream blocked the shutdown until the process was killed.
func TestTermLLM447(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	api, run := served(t, door.Config{}, gate)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener, api, server.Limits{Drain: 5 * time.Second}) }()
	lines := open(t, "http://"+listener.Addr().String(), run, "0")
	lines.Scan()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	var rest strings.Builder
	for lines.Scan() {
		rest.WriteString(lines.Text() + "\n")
	}
	if !strings.Contains(rest.String(), "event: draining") {
		t.Errorf("the stream ends with\n%s", rest.String())
	}
}

// ask asks a model that answers with the pieces, and returns its text and its end.
func ask(t *testing.T, profile model.Profile, pieces ...testkit.Piece) (text, thought string, end model.End) {
	t.Helper()
	m := testkit.NewModel(t)
	m.Answer(pieces...)
	client, err := llm.New(llm.Config{BaseURL: m.URL(), Profile: profile, Retries: -1})
	must(t, err)
	defer client.Close()
	for part := range client.Stream(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Hello"}}}) {
		switch p := part.(type) {
		case model.Text:
			text += p.Text
		case model.Thought:
			thought += p.Text
		case model.End:
			end = p
		}
	}
	return text, thought, end
}

// A prompt longer than the model's context got status 200 and an answer without a word.
func TestLMStudio2339(t *testing.T) {
	_, _, end := ask(t, model.Strict, testkit.Role(), testkit.Finish("stop"), testkit.Done())
	if end.Verdict.Cause != messages.CauseEmptyCompletion {
		t.Errorf("an empty answer is judged %+v", end.Verdict)
	}
}

// A stream that was cut had no finish_reason, and was taken for a whole answer.
func TestLiteLLM13348(t *testing.T) {
	for _, profile := range []model.Profile{model.Strict, model.Generic} {
		_, _, end := ask(t, profile, testkit.Text("half an ans"))
		if end.Verdict.Outcome != model.Failed || end.Verdict.Cause != messages.CauseTransportClosed {
			t.Errorf("%s: a cut answer is judged %+v", profile, end.Verdict)
		}
	}
}

// An error in the stream, after the first words, was skipped as a frame without choices.
func TestOpenAINode1292(t *testing.T) {
	_, _, end := ask(t, model.Generic, testkit.Text("half"), testkit.ErrorFrame("out of memory"), testkit.Done())
	if end.Verdict.Cause != messages.CauseProviderError || !strings.Contains(end.Verdict.Message, "out of memory") {
		t.Errorf("an error frame is judged %+v", end.Verdict)
	}
}

// A finish_reason of null, or of "", was taken for the end.
func TestOllama4357(t *testing.T) {
	_, _, end := ask(t, model.Generic, testkit.Text("half"), testkit.Finish(""))
	if end.Verdict.Outcome != model.Failed {
		t.Errorf("an answer with an empty finish_reason is judged %+v", end.Verdict)
	}
}

// Thoughts leaked into the answer where a mark was cut in two.
func TestVLLM45687(t *testing.T) {
	text, thought, _ := ask(t, model.Strict, testkit.Text("<th"), testkit.Text("ink>hm</thi"), testkit.Text("nk>Yes."), testkit.Finish("stop"), testkit.Done())
	if text != "Yes." || thought != "hm" {
		t.Errorf("the answer is %q, the thought %q", text, thought)
	}
}

// A template opened the thought before the first token, and all of it was shown as the answer.
func TestOpenCode32857(t *testing.T) {
	var text, thought string
	take := func(p model.Part) {
		switch p := p.(type) {
		case model.Text:
			text += p.Text
		case model.Thought:
			thought += p.Text
		}
	}
	d := decode.NewThoughts(decode.Implicit)
	d.Push("Let me see.</think>Yes.", take)
	d.Close(take)
	if text != "Yes." || thought != "Let me see." {
		t.Errorf("the answer is %q, the thought %q", text, thought)
	}
}
