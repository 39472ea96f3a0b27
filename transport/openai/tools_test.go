package openai_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
)

// calling is a runtime whose runs call tools of the client after their text.
type calling struct {
	stories.Teller
	silent bool // no text comes before the calls
}

const calls = `{"text":"Hello, wörld 🌍","calls":[{"id":"c1","name":"weather","arguments":"{\"city\":\"Oslo\"}"},` +
	`{"id":"c2","name":"patch","arguments":"{\"input\":\"*** Begin\"}"},{"id":"c3","name":"agents__spawn","arguments":"{}"}]}`

func (c *calling) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		for events, err := range c.Teller.Follow(ctx, id, f) {
			for i, e := range events {
				switch b := e.Body.(type) {
				case messages.RunCompleted:
					b.Result = []byte(calls)
					if c.silent {
						b.Result = bytes.Replace(b.Result, []byte("Hello, wörld 🌍"), nil, 1)
					}
					events[i].Body = b
				case messages.TextDelta, messages.TextDone:
					if c.silent {
						events[i].Body = messages.FaultInjected{Fault: "silence"}
					}
				}
			}
			if !yield(events, err) {
				return
			}
		}
	}
}

func (c *calling) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := c.Teller.State(ctx, id)
	if err == nil {
		state.End.Result = []byte(calls)
	}
	return state, err
}

// A request that brings tools is answered with calls of them, whole and streamed, and their results go on in the next run.
func TestTools(t *testing.T) {
	runs := &calling{}
	url, config := serve(t, runs), client.DefaultConfig("k")
	config.BaseURL = url + "/v1"
	c := client.NewClientWithConfig(config)
	ask := client.ChatCompletionRequest{Model: "prompt", Messages: []client.ChatCompletionMessage{{Role: "user", Content: "plain"}},
		Tools: []client.Tool{{Type: "function", Function: &client.FunctionDefinition{Name: "weather", Parameters: map[string]string{"type": "object"}}}}, ToolChoice: "required"}
	answer, err := c.CreateChatCompletion(t.Context(), ask)
	must(t, err)
	said := answer.Choices[0]
	if said.FinishReason != "tool_calls" || len(said.Message.ToolCalls) != 3 || said.Message.ToolCalls[0].ID != "c1" ||
		said.Message.ToolCalls[0].Function.Arguments != `{"city":"Oslo"}` || said.Message.Content != "Hello, wörld 🌍" {
		t.Errorf("the answer is %+v", said)
	}
	_, whole, _ := post(t, serve(t, &calling{silent: true})+"/v1/chat/completions", `{"model":"prompt","messages":[{"role":"user","content":"plain"}]}`)
	if !strings.Contains(whole, `"message":{"role":"assistant","content":null,"tool_calls":[`) {
		t.Errorf("calls alone are %s", whole)
	}
	_, streamed, err := post(t, url+"/v1/chat/completions", `{"model":"prompt","stream":true,"messages":[{"role":"user","content":"plain"}]}`)
	const first = `"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":null}`
	if err != nil || !strings.Contains(streamed, first) || strings.Count(streamed, `"finish_reason":"tool_calls"`) != 1 ||
		!strings.HasSuffix(streamed, "data: [DONE]\n\n") {
		t.Errorf("%v, %s", err, streamed)
	}
	ask.Messages = append(ask.Messages, said.Message, client.ChatCompletionMessage{Role: "tool", ToolCallID: "c1", Content: "Rain."})
	ask.Messages = append(ask.Messages, client.ChatCompletionMessage{Role: "user", Content: "plain"})
	_, err = c.CreateChatCompletion(t.Context(), ask)
	must(t, err)
	state, err := runs.State(t.Context(), "r_story3")
	const want = `"functions":[{"name":"weather","parameters":{"type":"object"}}],"prompt":"plain"}`
	if input := string(state.Queued.Input); err != nil || !strings.HasSuffix(input, want) ||
		!strings.Contains(input, `{"role":"tool","content":"Rain.","call_id":"c1"}`) || !strings.HasPrefix(input, `{"choice":"required",`) {
		t.Errorf("%v, the run is started with %s", err, input)
	}
}

// The Responses API has tools that are no functions: Codex sends them. What its calls are named the client is told.
func TestToolsOfResponses(t *testing.T) {
	runs := &calling{}
	url := serve(t, runs)
	const tools = `"tools":[{"type":"function","name":"weather"},{"type":"custom","name":"patch","description":"Edit.","format":{"type":"text"}},` +
		`{"type":"namespace","name":"agents","tools":[{"type":"function","name":"spawn"}]},{"type":"web_search"}]`
	_, body, err := post(t, url+"/v1/responses", `{"model":"prompt","input":"plain",`+tools+`}`)
	first := decode[object](t, body)
	got := fmt.Sprintf("%+v", first.Output[1:])
	if want := `[{ID:fc_c1 Type:function_call Status:completed Name:weather Namespace: Arguments:{"city":"Oslo"} Input: CallID:c1 Content:[]} ` +
		`{ID:ctc_c2 Type:custom_tool_call Status:completed Name:patch Namespace: Arguments: Input:*** Begin CallID:c2 Content:[]} ` +
		`{ID:fc_c3 Type:function_call Status:completed Name:spawn Namespace:agents Arguments:{} Input: CallID:c3 Content:[]}]`; err != nil || got != want {
		t.Errorf("%v, the calls are %s", err, got)
	}
	const results = `{"type":"function_call_output","call_id":"c1","output":"Rain."},{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"Done."}]},` +
		`{"type":"function_call_output","call_id":"c3","output":"1"},{"role":"user","content":"plain"}]`
	const history = `[{"role":"user","content":"plain"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello, wörld 🌍"}]},` +
		`{"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\":\"Oslo\"}"},{"type":"custom_tool_call","call_id":"c2","name":"patch","input":"*** Begin"},` +
		`{"type":"function_call","call_id":"c3","name":"spawn","namespace":"agents","arguments":"{}"},`
	post(t, url+"/v1/responses", `{"previous_response_id":"`+first.ID+`","input":[`+results+`,`+tools+`}`)
	post(t, url+"/v1/responses", `{"model":"prompt","prompt_cache_key":"thread","input":`+history+results+`,`+tools+`}`)
	chained, err := runs.State(t.Context(), "r_story2")
	must(t, err)
	whole, err := runs.State(t.Context(), "r_story3")
	if err != nil || whole.Queued.Labels[messages.ContextLabel] != "thread" || strings.Replace(string(whole.Queued.Input), `"extra":{"prompt_cache_key":"thread"},`, "", 1) != string(chained.Queued.Input) ||
		!strings.Contains(string(whole.Queued.Input), `{"id":"c2","name":"patch","arguments":"{\"input\":\"*** Begin\"}"},{"id":"c3","name":"agents__spawn"`) {
		t.Errorf("%v, whole it is %s,\nby its id %s", err, whole.Queued.Input, chained.Queued.Input)
	}
	_, streamed, _ := post(t, url+"/v1/responses", `{"model":"prompt","stream":true,"input":"plain",`+tools+`}`)
	last, before := "", 0
	for _, e := range events(t, streamed) {
		if e.Type == "response.output_item.done" {
			before++
		}
		last += e.Type + " "
	}
	if before != 4 || !strings.HasSuffix(last, "response.output_item.added response.custom_tool_call_input.delta response.custom_tool_call_input.done "+
		"response.output_item.done response.output_item.added response.function_call_arguments.delta response.function_call_arguments.done "+
		"response.output_item.done response.completed ") {
		t.Errorf("the events are %s", last)
	}
}

// A client that comes back soon with the same request gets the run that it left; one that does not ends it.
func TestClientsThatLeave(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"chat","stream":true,"messages":[{"role":"user","content":"plain"}]}`,
		"/v1/responses":        `{"model":"chat","stream":true,"input":"plain"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			runs := &cut{stories.CutTeller{After: 5}, make(chan messages.RunID, 9)}
			server := doors(door.Config{Runs: runs, Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}})
			call := func(body string) string {
				ctx, leave := context.WithCancel(t.Context())
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
				w, over := httptest.NewRecorder(), make(chan any)
				go func() { defer func() { over <- recover() }(); server.ServeHTTP(w, r) }()
				synctest.Wait()
				leave()
				if why := <-over; why != http.ErrAbortHandler {
					t.Errorf("the handler ended with %v", why)
				}
				return w.Body.String()
			}
			first := call(body)
			if again := call(body); again != first || !strings.Contains(again, "r_story1") {
				t.Errorf("%s: the same request gives %s, after %s", path, again, first)
			}
			if other := call(strings.Replace(body, "{", `{"top_p":0.5,`, 1)); !strings.Contains(other, "r_story2") {
				t.Errorf("%s: another request gives %s", path, other)
			}
			if len(runs.canceled) > 0 {
				t.Errorf("%s: run %s is cancelled at once", path, <-runs.canceled)
			}
			if a, b := <-runs.canceled, <-runs.canceled; a == b {
				t.Errorf("%s: run %s is cancelled twice", path, a)
			}
			if late := call(body); !strings.Contains(late, "r_story3") {
				t.Errorf("%s: a late request gives %s", path, late)
			}
			<-runs.canceled
		})
	}
}

// A request that says that it is sent again gets the run of the first, unless that failed. One that does not say so asks anew.
func TestRequestsSentAgain(t *testing.T) {
	for _, c := range []struct {
		path, body, retry string
		runs              int
	}{
		{"/v1/responses", `{"model":"chat","input":"plain"}`, "", 2},
		{"/v1/responses", `{"model":"chat","input":"plain"}`, "1", 1},
		{"/v1/responses", `{"model":"chat","input":"failure"}`, "1", 2},
		{"/v1/responses", `{"model":"chat","input":"plain","client_metadata":{"turn_id":"t"}}`, "", 1},
		{"/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"plain"}]}`, "1", 1},
		{"/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"plain"}]}`, "0", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			runs := &stories.Teller{}
			server := doors(door.Config{Runs: runs, Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}})
			for range 2 {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body))
				r.Header.Set("X-Stainless-Retry-Count", c.retry)
				server.ServeHTTP(httptest.NewRecorder(), r)
			}
			all, err := runs.List(t.Context(), messages.Query{})
			if err != nil || len(all) != c.runs {
				t.Errorf("%s %s, sent again with %q: %d runs, %v", c.path, c.body, c.retry, len(all), err)
			}
			time.Sleep(time.Minute) // nothing is left
		})
	}
}
