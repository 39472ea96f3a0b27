package openai_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	client "github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var created = regexp.MustCompile(`"created":[0-9]+`)

// TestStories holds the frames of both APIs for each story.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		url, name := serve(t, &stories.Teller{}), fmt.Sprintf("%q", story.Name)
		_, chat, chatErr := post(t, url+"/v1/chat/completions",
			`{"model":"chat","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":`+name+`}]}`)
		_, response, responseErr := post(t, url+"/v1/responses", `{"model":"chat","stream":true,"input":`+name+`}`)
		if err := errors.Join(chatErr, responseErr); err != nil {
			t.Errorf("%s: %v", story.Name, err)
		}
		got := created.ReplaceAllString(chat, `"created":0`) + "--------\n\n" + response
		story.Golden(t, *update, got)
	}
}

// What a client of go-openai has at the end is what the State says.
func TestGoOpenAI(t *testing.T) {
	for _, story := range stories.All() {
		if story.Name == "question" {
			continue // TestQuestions
		}
		config := client.DefaultConfig("k")
		config.BaseURL = serve(t, &stories.Teller{}) + "/v1"
		c := client.NewClientWithConfig(config)
		ask := client.ChatCompletionRequest{Model: "chat", Messages: []client.ChatCompletionMessage{
			{Role: "user", Content: story.Name}}}
		streamed, streamErr := read(t, c, ask)
		if i := strings.LastIndex(streamed, "\n\n---\n\n"); i >= 0 {
			streamed = streamed[i+len("\n\n---\n\n"):]
		}
		whole, wholeErr := c.CreateChatCompletion(t.Context(), ask)
		state, want := story.State(), []string{}
		for _, s := range state.Streams {
			if !s.Thought {
				want = append(want, s.Text())
			}
		}
		if state.Status != messages.Completed {
			for _, err := range []error{streamErr, wholeErr} {
				if err == nil || !strings.Contains(err.Error(), string(state.End.Cause)) &&
					!strings.Contains(err.Error(), state.End.Error.Message) {
					t.Errorf("%s ends with %v", story.Name, err)
				}
			}
			continue
		}
		if err := errors.Join(streamErr, wholeErr); err != nil || streamed != strings.Join(want, "\n\n") ||
			whole.Choices[0].Message.Content != streamed || whole.Choices[0].FinishReason != client.FinishReason(model.EndOf(state).Reason) {
			t.Errorf("%s: %v, %q streamed, %+v whole, want %q", story.Name, err, streamed, whole, want)
		}
	}
}

func read(t *testing.T, c *client.Client, ask client.ChatCompletionRequest) (text string, err error) {
	t.Helper()
	stream, err := c.CreateChatCompletionStream(t.Context(), ask)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return text, nil
		} else if err != nil {
			return text, err
		}
		text += chunk.Choices[0].Delta.Content
	}
}

// Wherever the log breaks off, no client takes what it has for the whole.
func TestNoCutIsASuccess(t *testing.T) {
	for story, teller := range stories.Cuts(errGone) {
		url := serve(t, teller)
		_, body, err := post(t, url+"/v1/responses", `{"model":"chat","stream":true,"input":"`+story+`"}`)
		all := events(t, body)
		if last := all[len(all)-1]; last.Type != "error" || last.Code != "internal" || err == nil {
			t.Errorf("%s after %d events: %v, %s", story, teller.After, err, last.raw)
		}
		config := client.DefaultConfig("k")
		config.BaseURL = url + "/v1"
		ask := client.ChatCompletionRequest{Model: "chat", Messages: []client.ChatCompletionMessage{{Role: "user", Content: story}}}
		if _, err := read(t, client.NewClientWithConfig(config), ask); err == nil || !strings.Contains(err.Error(), errGone.Error()) {
			t.Errorf("%s after %d events: go-openai says %v", story, teller.After, err)
		}
		if status, _, _ := post(t, url+"/v1/responses", `{"model":"chat","input":"`+story+`"}`); status != 500 {
			t.Errorf("%s after %d events: status %d", story, teller.After, status)
		}
	}
}

// A stream goes on after every number that a client was sent, also when the log was merged since.
func TestStreamsGoOn(t *testing.T) {
	for _, story := range stories.All() {
		teller := &stories.Teller{}
		live, merged := serve(t, teller), serve(t, merging{teller})
		_, body, _ := post(t, live+"/v1/responses", `{"model":"chat","background":true,"input":"`+story.Name+`"}`)
		path := "/v1/responses/" + decode[object](t, body).ID + "?stream=true"
		_, whole, err := get(t, live+path)
		must(t, err)
		all := events(t, whole)
		for i, e := range all {
			if i > 0 && e.Number <= all[i-1].Number {
				t.Errorf("%s: %s does not come after %s", story.Name, e.raw, all[i-1].raw)
			}
			at := fmt.Sprintf("%s&starting_after=%d", path, e.Number)
			if _, rest, err := get(t, live+at); err != nil || rest != strings.TrimPrefix(whole[strings.Index(whole, e.raw)+len(e.raw):], "\n\n") {
				t.Errorf("%s after %d: %v, %s", story.Name, e.Number, err, rest)
			}
			if story.Name == "question" {
				continue // the log has no end to merge
			}
			status, rest, err := get(t, merged+at)
			if status == http.StatusUnprocessableEntity && (story.Name == "recovery" || story.Name == "two streams") {
				continue // nobody has what was lost, or the order of two streams
			}
			if e.Number == all[len(all)-1].Number {
				if rest != "" {
					t.Errorf("%s after the end: %s", story.Name, rest)
				}
				continue
			}
			got := append(all[:i+1:i+1], events(t, rest)...)
			if err != nil || !maps.Equal(texts(got), texts(all)) || got[len(got)-1].raw != all[len(all)-1].raw {
				t.Errorf("%s after %d, merged: %v, %s", story.Name, e.Number, err, rest)
			}
		}
		for _, after := range []string{"1", "x", "-1", "67108864000000", "9007199254740991"} {
			if status, body, _ := get(t, live+path+"&starting_after="+after); status != http.StatusUnprocessableEntity {
				t.Errorf("%s after %s: %d, %s", story.Name, after, status, body)
			}
		}
	}
}

// texts are what a client has that adds up deltas.
func texts(all []event) map[string]string {
	out := map[string]string{}
	for _, e := range all {
		out[e.Item] += e.Delta
	}
	return out
}

// A question ends the answer of both APIs; what the client says next is its answer.
func TestQuestions(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	ask := func(text string, header ...string) string {
		_, body, err := post(t, url+"/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"`+text+`"}]}`, header...)
		must(t, err)
		return decode[client.ChatCompletionResponse](t, body).Choices[0].Message.Content
	}
	for _, header := range []string{"X-Chat-Id", "X-OpenWebUI-Chat-Id"} {
		if got := ask("question", header, header); got != "Let me ask.\n\nWhich branch?" {
			t.Errorf("the question is %q", got)
		}
		if got := ask("main", header, header); got != "Took main." {
			t.Errorf("the answer is %q", got)
		}
		if got := ask("plain", header, header); got != "Hello, wörld 🌍" {
			t.Errorf("the next is %q", got)
		}
	}
	ask("question", "X-Chat-Id", "read elsewhere")

	_, body, _ := post(t, url+"/v1/responses", `{"model":"chat","input":"question"}`)
	first := decode[object](t, body)
	call := first.Output[len(first.Output)-1]
	if first.Status != "completed" || call.Type != "function_call" || call.Arguments != `{"prompt":"Which branch?","schema":{"type":"string"}}` {
		t.Errorf("the question is %s", body)
	}
	if status, body, _ := post(t, url+"/v1/responses", `{"input":"go on","previous_response_id":"`+first.ID+`"}`); status != 422 ||
		!strings.Contains(body, "no function_call_output for the call q1") {
		t.Errorf("without an answer: %d, %s", status, body)
	}
	for _, id := range []string{"resp_r_story1_3", "resp_r_story1_0", "resp_r_story1", "r_story1_1"} {
		if status, body, _ := get(t, url+"/v1/responses/"+id); status != http.StatusNotFound {
			t.Errorf("the response %s: %d, %s", id, status, body)
		}
	}
	answer := `{"input":[{"type":"function_call_output","call_id":"q1","output":"main"}],"previous_response_id":"` + first.ID + `"}`
	_, body, _ = post(t, url+"/v1/responses", answer)
	second := decode[object](t, body)
	if second.Status != "completed" || second.text() != "Took main." || second.Previous != first.ID {
		t.Errorf("the answer is %s", body)
	}
	if status, body, _ := post(t, url+"/v1/responses", answer); status != http.StatusConflict {
		t.Errorf("a second answer: %d, %s", status, body)
	}
	if _, again, _ := get(t, url+"/v1/responses/"+first.ID); decode[object](t, again).text() != "Let me ask." {
		t.Errorf("the first response is now %s", again)
	}
}

// A client that sends the whole conversation, as the SDKs do, needs no header: the message after a question answers it.
func TestQuestionsInConversations(t *testing.T) {
	config := client.DefaultConfig("k")
	config.BaseURL = serve(t, &stories.Teller{}) + "/v1"
	c := client.NewClientWithConfig(config)
	type said = []client.ChatCompletionMessage
	say := func(before said, text string) said {
		t.Helper()
		all := append(before[:len(before):len(before)], client.ChatCompletionMessage{Role: "user", Content: text})
		answer, err := c.CreateChatCompletion(t.Context(), client.ChatCompletionRequest{Model: "chat", Messages: all})
		must(t, err)
		return append(all, answer.Choices[0].Message)
	}
	want := func(chat said, text string) {
		t.Helper()
		if got := chat[len(chat)-1].Content; got != text {
			t.Errorf("the answer is %q, want %q", got, text)
		}
	}
	first, second := say(nil, "question"), say(nil, "question")
	want(first, "Let me ask.\n\nWhich branch?")
	other := say(said{{Role: "user", Content: "question"}, {Role: "assistant", Content: "No."}}, "plain")
	want(other, "Hello, wörld 🌍") // the conversation is another
	for _, chat := range []said{first, second} {
		chat = say(chat, "main")
		want(chat, "Took main.")
		want(say(chat, "plain"), "Hello, wörld 🌍")
	}
}

// The job gets what was said before, from either API.
func TestEarlierMessages(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	_, body, _ := post(t, url+"/v1/responses", `{"model":"chat","input":"plain","instructions":"Be brief.","metadata":{"project":"x"}}`)
	first := decode[object](t, body).ID
	post(t, url+"/v1/responses", `{"input":[{"role":"user","content":[{"type":"input_text","text":"tool error"}]}],"previous_response_id":"`+first+`"}`)
	post(t, url+"/v1/chat/completions", `{"model":"chat","temperature":0.5,"max_completion_tokens":9,"stop":".","messages":[`+
		`{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."},`+
		`{"role":"user","content":[{"type":"text","text":"plain"}]}]}`)
	post(t, url+"/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Sure"}]}`)
	post(t, url+"/v1/responses", `{"model":"chat","input":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Sure"}]}`)
	post(t, url+"/v1/chat/completions", `{"model":"chat","messages":[{"role":"system","content":"Write."}]}`)
	const prefilled = `{"earlier":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Sure"}],"message":""} map[context:begins-`
	for id, want := range map[messages.RunID]string{
		"r_story1": `{"message":"plain","system":"Be brief."} map[context:begins-` + messages.Digest("plain") + ` project:x]`,
		"r_story2": `{"earlier":[{"role":"user","content":"plain"},{"role":"assistant","content":"Hello, wörld 🌍"}],"message":"tool error"} map[context:begins-` + messages.Digest("plain") + `]`,
		"r_story3": `{"earlier":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}],"max_tokens":9,` +
			`"message":"plain","stop":["."],"system":"Be brief.","temperature":0.5} map[context:begins-` + messages.Digest("Hi") + `]`,
		"r_story4": prefilled + messages.Digest("Hi") + `]`,
		"r_story5": prefilled + messages.Digest("Hi") + `]`,
		"r_story6": `{"message":"","system":"Write."} map[context:begins-` + messages.Digest("") + `]`,
	} {
		state, err := teller.State(t.Context(), id)
		must(t, err)
		if got := fmt.Sprintf("%s %v", state.Queued.Input, state.Queued.Labels); got != want {
			t.Errorf("run %s is started with %s, want %s", id, got, want)
		}
	}
}

// A run in the background can be cancelled.
func TestBackground(t *testing.T) {
	url := serve(t, &stories.Teller{})
	_, body, _ := post(t, url+"/v1/responses", `{"model":"chat","input":"question","background":true}`)
	id := decode[object](t, body).ID
	for range 2 {
		status, body, _ := post(t, url+"/v1/responses/"+id+"/cancel", "")
		if o := decode[object](t, body); status != http.StatusOK || o.Status != "completed" { // its segment ended with the question
			t.Errorf("cancelled: %d, %s", status, body)
		}
	}
	next := strings.TrimSuffix(id, "1") + "2"
	if _, body, _ := get(t, url+"/v1/responses/"+next); decode[object](t, body).Status != "cancelled" {
		t.Errorf("the cancelled run is %s", body)
	}
}

// A response that is not stored can be read until its end, and then by nobody.
func TestNotStored(t *testing.T) {
	url := serve(t, &stories.Teller{})
	for story, want := range map[string]int{"plain": http.StatusNotFound, "question": http.StatusOK} { // the second one waits
		_, body, _ := post(t, url+"/v1/responses", `{"model":"chat","store":false,"input":"`+story+`"}`)
		o := decode[object](t, body)
		if status, said, _ := get(t, url+"/v1/responses/"+o.ID); o.Status != "completed" || status != want || !strings.Contains(body, `"metadata":{}`) {
			t.Errorf("%s: %s, and then %d, %s", story, body, status, said)
		}
		if status, said, _ := post(t, url+"/v1/responses", `{"input":"plain","previous_response_id":"`+o.ID+`"}`); want == http.StatusNotFound && status != want {
			t.Errorf("it goes on: %d, %s", status, said)
		}
	}
}

func TestRefusals(t *testing.T) {
	url := serve(t, &stories.Teller{})
	data, err := os.ReadFile("testdata/refusals.txt")
	must(t, err)
	for line := range strings.Lines(string(data)) {
		want, request, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		method, rest, _ := strings.Cut(request, " ")
		path, body, _ := strings.Cut(rest, " ")
		status, said, _ := testkit.ReadURL(t, method, url+path, body)
		var refusal struct {
			Error struct{ Message, Type, Code string }
		}
		if json.Unmarshal([]byte(said), &refusal) != nil || refusal.Error.Message == "" || refusal.Error.Type != "invalid_request_error" ||
			fmt.Sprint(status, " ", refusal.Error.Code) != want {
			t.Errorf("%s: %d, %s, want %s", request, status, said, want)
		}
	}
}

// The models are the jobs that answer and the server's own, which the job prompt asks.
func TestModels(t *testing.T) {
	teller := &stories.Teller{}
	url := serve(t, teller)
	_, list, _ := get(t, url+"/v1/models?client_version=1")
	if _, one, _ := get(t, url+"/v1/models/org/qwen"); !strings.Contains(list, one) || !strings.Contains(list, `"chat"`) ||
		!strings.Contains(list, `"models":[]`) || strings.Contains(list, `"generate"`) {
		t.Errorf("the models are %s, and one is %s", list, one)
	}
	_, body, _ := post(t, url+"/v1/responses", `{"model":"org/qwen","input":"plain"}`)
	if state, err := teller.State(t.Context(), "r_story1"); err != nil || !strings.Contains(body, `"model":"org/qwen"`) ||
		string(state.Queued.Input) != `{"model":"org/qwen","prompt":"plain"}` || state.Queued.Job != "prompt" {
		t.Errorf("the run is started with %s: %v, %s", state.Queued.Input, err, body)
	}
}

// What an answer has left behind can be deleted, but not before its end.
func TestDelete(t *testing.T) {
	url := serve(t, &stories.Teller{})
	post(t, url+"/v1/responses", `{"model":"chat","input":"question","background":true}`)
	post(t, url+"/v1/responses", `{"model":"chat","input":"plain"}`)
	post(t, url+"/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"plain"}]}`)
	for _, c := range []struct {
		path string
		want int
	}{{"responses/resp_r_story1_1", 409}, {"responses/resp_r_story2_1", 200}, {"responses/resp_r_story2_1", 404},
		{"chat/completions/chatcmpl-r_story3", 200}, {"chat/completions/chatcmpl-r_story3", 404}} {
		status, body, _ := testkit.ReadURL(t, http.MethodDelete, url+"/v1/"+c.path, "")
		if status != c.want || status == http.StatusOK && !strings.Contains(body, `"deleted":true`) {
			t.Errorf("DELETE %s: %d, %s", c.path, status, body)
		}
	}
}

// The helper of the official client wants response.created before anything else, also before a heartbeat.
func TestHeartbeatBeforeTheResponse(t *testing.T) {
	url := serveWith(t, door.Config{Runs: &stories.CutTeller{}, Heartbeat: time.Millisecond, Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}})
	answer, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(`{"model":"chat","stream":true,"input":"plain"}`))
	must(t, err)
	defer answer.Body.Close()
	first := make([]byte, 4)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != ":\n:\n" {
		t.Errorf("the first bytes are %q, %v", first, err)
	}
}
