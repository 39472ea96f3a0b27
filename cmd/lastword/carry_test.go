package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"context"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/openai"
)

// passage is a server in front of a scripted model server.
func passage(t *testing.T) (m *testkit.Model, url string) {
	t.Helper()
	m = testkit.NewModel(t)
	client, err := llm.New(llm.Config{BaseURL: m.URL(), Retries: -1})
	must(t, err)
	t.Cleanup(client.Close)
	system := faultplan.Open(t, actors.Config{Jobs: []actors.Definition{prompt.Define(func() (prompt.Config, error) {
		return prompt.Config{Stream: client.Stream}, nil
	})}})
	to := door.New(door.Config{Runs: system, Jobs: system.Jobs(), Models: func(context.Context, string) ([]string, error) { return []string{"m"}, nil }})
	mux := http.NewServeMux()
	openai.Add(to, func(h *door.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(path, h)
		}
	})
	mux.Handle("/agui", agui.New(to))
	return m, testkit.ServeURL(t, mux)
}

// upstream returns the last request that the model server got.
func upstream(t *testing.T, m *testkit.Model) (body map[string]json.RawMessage) {
	t.Helper()
	all := m.Requests()
	for i := len(all) - 1; i >= 0; i-- {
		if strings.HasSuffix(all[i].Path, "/chat/completions") {
			must(t, json.Unmarshal(all[i].Body, &body))
			return body
		}
	}
	return nil
}

// Each member of a request that an official client may send is sent on, read, or refused by its name.
func TestMembersOfRequests(t *testing.T) {
	read := strings.Fields("messages model stream stream_options n metadata input instructions background previous_response_id " +
		"max_output_tokens max_tokens include")
	values := map[string]string{"messages": `[{"role":"user","content":"Hi"}]`, "model": `"m"`, "stream": "false", "n": "1", "metadata": `{"a":"b"}`,
		"input": `"Hi"`, "instructions": `"Brief."`, "background": "false", "previous_response_id": `""`, "max_tokens": "7", "max_output_tokens": "7",
		"max_completion_tokens": "7", "temperature": "0.5", "top_p": "0.5", "seed": "1", "stop": `["."]`, "include": `["reasoning.encrypted_content"]`,
		"response_format": `{"type":"json_object"}`, "text": `{"verbosity":"low"}`, "reasoning": `{"effort":"low","summary":"auto"}`,
		"tools": `[{"type":"function","name":"f","function":{"name":"f"}}]`, "tool_choice": `"required"`, "stream_options": `{}`}
	sentAs := map[string]string{"text": "verbosity", "reasoning": "reasoning_effort", "max_completion_tokens": "max_tokens"}
	m, url := passage(t)
	m.Always(testkit.Text(`{"a":1}`), testkit.Finish("stop"), testkit.Done())
	for door, base := range map[string]string{"completions": `"messages":[{"role":"user","content":"Hi"}]`, "responses": `"input":"Hi"`} {
		list, err := os.ReadFile("testdata/members/" + door + ".txt")
		must(t, err)
		for line := range strings.Lines(string(list) + "unheard_of\n") {
			name := strings.TrimSpace(line)
			if strings.HasPrefix(name, "#") {
				continue
			}
			value := values[name]
			if value == "" {
				value = `{"a":["b",1]}`
			}
			if name == "tool_choice" || name == "parallel_tool_calls" {
				value += `,"tools":` + values["tools"]
			}
			path := map[string]string{"completions": "/v1/chat/completions", "responses": "/v1/responses"}[door]
			status, body, err := testkit.ReadURL(t, http.MethodPost, url+path, fmt.Sprintf(`{"model":"m",%s,%q:%s}`, base, name, value))
			must(t, err)
			at := name
			if as := sentAs[name]; as != "" {
				at = as
			}
			switch sent := upstream(t, m)[at]; {
			case status >= 400 && strings.Contains(body, name):
			case status == 200 && (slices.Contains(read, name) || sent != nil):
			default:
				t.Errorf("%s: the member %s is lost: %d, %s", door, name, status, body)
			}
		}
	}
	for body, name := range map[string]string{`"n":2`: "n must be 1", `"tools":[{"type":"mcp","name":"x"}]`: "mcp", `"tools":[{"type":"web_search"}]`: "web_search", `"tools":[{"type":"custom","custom":{"name":"x"}}]`: "custom", `"api_key":"k"`: "api_key",
		`"logprobs":true`: "logprobs", `"tool_choice":"required"`: "tool_choice"} {
		if status, said, _ := testkit.ReadURL(t, http.MethodPost, url+"/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"Hi"}],`+body+`}`); status != 422 || !strings.Contains(said, name) {
			t.Errorf("%s: %d, %s", body, status, said)
		}
	}
}

// What nobody reads of messages, calls and tools reaches the server, and what the server sent so goes back with the answer.
func TestOpaqueMembers(t *testing.T) {
	m, url := passage(t)
	m.Answer(standin.Frame(`{"choices":[{"index":0,"delta":{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","index":0,"text":"H"}]}}]}`),
		standin.Frame(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"m","signature":"s"}]}}]}`),
		standin.Frame(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"t"}},"function":{"name":"f","arguments":"{}"}}]}}]}`),
		testkit.Finish("tool_calls"), testkit.Done())
	m.Always(testkit.Text("Done."), testkit.Finish("stop"), testkit.Done())
	const tools = `"tools":[{"type":"function","cache_control":{"type":"ephemeral"},"function":{"name":"f","strict":true}}]`
	_, body, err := testkit.ReadURL(t, http.MethodPost, url+"/v1/chat/completions", `{"model":"m",`+tools+`,"messages":[`+
		`{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]},{"role":"user","name":"ann","content":"Hi"}]}`)
	must(t, err)
	const kept = `[{"index":0,"signature":"s","text":"Hm","type":"reasoning.text"}]`
	var answer struct {
		Choices []struct{ Message json.RawMessage }
	}
	if must(t, json.Unmarshal([]byte(body), &answer)); !strings.Contains(body, `"extra_content":{"google":{"thought_signature":"t"}}`) ||
		!strings.Contains(body, `"reasoning_details":`+kept) {
		t.Fatalf("the answer is %s", body)
	}
	got := upstream(t, m)
	for member, want := range map[string]string{"messages": `[{"content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"role":"system"},` +
		`{"content":"Hi","name":"ann","role":"user"}]`, "tools": `[{"cache_control":{"type":"ephemeral"},"function":{"name":"f","parameters":{"type":"object","properties":{}},"strict":true},"type":"function"}]`} {
		if string(got[member]) != want {
			t.Errorf("%s: the server gets %s", member, got[member])
		}
	}
	result := `{"role":"tool","tool_call_id":"a","content":"r"}`
	_, _, err = testkit.ReadURL(t, http.MethodPost, url+"/v1/chat/completions", `{"model":"m",`+tools+`,"messages":[{"role":"user","content":"Hi"},`+
		string(answer.Choices[0].Message)+`,`+result+`]}`)
	must(t, err)
	if said := string(upstream(t, m)["messages"]); !strings.Contains(said, `"thought_signature":"t"`) || !strings.Contains(said, kept) {
		t.Errorf("the next request has %s", said)
	}
	// A response that goes on after another has them from the log.
	m.Answer(standin.Frame(`{"choices":[{"index":0,"delta":{"reasoning":"Hm"}}]}`),
		standin.Frame(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","extra_content":{"x":1},"function":{"name":"f","arguments":"{}"}}]}}]}`),
		testkit.Finish("tool_calls"), testkit.Done())
	const flat = `"tools":[{"type":"function","name":"f","strict":true}]`
	_, body, err = testkit.ReadURL(t, http.MethodPost, url+"/v1/responses", `{"model":"m","input":"Hi",`+flat+`}`)
	must(t, err)
	var first struct{ ID string }
	must(t, json.Unmarshal([]byte(body), &first))
	_, body, err = testkit.ReadURL(t, http.MethodPost, url+"/v1/responses", `{"previous_response_id":"`+first.ID+`",`+flat+
		`,"input":[{"type":"function_call_output","call_id":"a","output":"r"}]}`)
	must(t, err)
	if said := string(upstream(t, m)["messages"]); !strings.Contains(said, `"extra_content":{"x":1}`) || !strings.Contains(said, `"reasoning":"Hm"`) {
		t.Errorf("after %s the next request has %s", body, said)
	}
	// Thoughts that the client itself sends back go where this server has them.
	_, body, err = testkit.ReadURL(t, http.MethodPost, url+"/v1/responses", `{`+flat+`,"input":[{"role":"user","content":"Hi"},`+
		`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},`+
		`{"type":"function_call_output","call_id":"a","output":"r"}]}`)
	must(t, err)
	if said := string(upstream(t, m)["messages"]); !strings.Contains(said, `{"content":null,"reasoning":"Hm","role":"assistant"`) {
		t.Errorf("after %s the next request has %s", body, said)
	}
}

// A failure of the model server keeps its class at each API: status, code, the time to wait and the request's id.
func TestClassOfFailuresAtDoors(t *testing.T) {
	for _, c := range fatal.Table[[]struct {
		Status int
		Body   json.RawMessage
		Want   int
		Code   string // of a completion
		Event  string // of a response; "" for Code
		Retry  string // the field X-Should-Retry
	}](t, "testdata/failures.json") {
		m, url := passage(t)
		m.Always(standin.Header("Retry-After", "600"), standin.Header("X-Request-Id", "req_1"), standin.JSON(c.Status, string(c.Body)))
		for path, body := range map[string]string{"/v1/chat/completions": `"messages":[{"role":"user","content":"Hi"}]`,
			"/v1/chat/completions?": `"stream":true,"messages":[{"role":"user","content":"Hi"}]`, "/v1/responses": `"input":"Hi"`} {
			r := testkit.OpenURL(t.Context(), t, http.MethodPost, url+path, `{"model":"m",`+body+`}`)
			var said struct{ Error struct{ Code, Type string } }
			must(t, json.NewDecoder(r.Body).Decode(&said))
			r.Body.Close()
			code := c.Code
			if path == "/v1/responses" && c.Event != "" {
				code = c.Event
			}
			h := r.Header
			if r.StatusCode != c.Want || said.Error.Code != code || h.Get("X-Should-Retry") != c.Retry || h.Get("Retry-After") != "600" ||
				h.Get("X-Request-Id") != "req_1" || (said.Error.Type == "rate_limit_error") != (code == "rate_limit_exceeded") {
				t.Errorf("%d %s at %s: %d %+v, %v", c.Status, c.Body, path, r.StatusCode, said, h)
			}
		}
		if _, stream, _ := testkit.ReadURL(t, http.MethodPost, url+"/agui", `{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"Hi"}]}`); !strings.Contains(stream, `"request_id":"req_1"`) ||
			c.Want == 424 && !strings.Contains(stream, `"code":"provider_auth"`) || c.Want == 400 && !strings.Contains(stream, `"code":"context_exceeded"`) {
			t.Errorf("%d at /agui: %s", c.Status, stream)
		}
	}
}

// Counts of tokens are told as the server told them: what it did not tell is absent.
func TestUsageAsTold(t *testing.T) {
	for told, want := range map[string][2]string{
		``:                             {`"finish_reason":"stop"}]}`, `"object":"response"`},
		`,"usage":{"prompt_tokens":7}`: {`"usage":{"prompt_tokens":7}`, `"object":"response"`}, // the types of Responses require both counts
		`,"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":2}}`: {
			`"usage":{"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":2},"prompt_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":10}`,
			`"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":10}`},
	} {
		m, url := passage(t)
		m.Always(testkit.Text("Hi."), testkit.Finish("stop"), standin.Frame(`{"choices":[]`+told+`}`), testkit.Done())
		_, whole, _ := testkit.ReadURL(t, http.MethodPost, url+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`)
		_, response, _ := testkit.ReadURL(t, http.MethodPost, url+"/v1/responses", `{"model":"m","input":"Hi"}`)
		if !strings.Contains(whole, want[0]) || !strings.Contains(response, want[1]) || strings.Contains(whole, "usage") != (told != "") ||
			strings.Contains(response, "usage") != strings.Contains(want[1], "usage") {
			t.Errorf("%s: %s, %s", told, whole, response)
		}
	}
}
