package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/testkit"
)

// A dialect is served only where it is named, and --nano serves NANO at its own paths as well.
func TestServeDialects(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nano := free.Addr().String()
	must(t, free.Close())
	ask := func(url string) string {
		status, body, err := testkit.ReadURL(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		must(t, err)
		return fmt.Sprint(status, body)
	}
	off := serveHTTP(t, t.TempDir())
	if got := ask(off.base() + "/nano/mcp"); !strings.HasPrefix(got, "404") {
		t.Errorf("without --dialects it answers %s", got)
	}
	on := serveHTTP(t, t.TempDir(), "--nano", nano)
	for _, url := range []string{on.base() + "/nano/mcp", "http://" + nano + "/mcp"} {
		if got := ask(url); !strings.HasPrefix(got, "200") || !strings.Contains(got, `"streaming":true`) {
			t.Errorf("%s answers %s", url, got)
		}
	}
	if _, metrics := on.get("/metrics"); !strings.Contains(metrics, `route="/mcp",status="200"} 1`) {
		t.Errorf("the requests at NANO's own address are not counted: %s", metrics)
	}
	wrong := binary(t, t.TempDir(), "serve", "--dialects", "klingon")
	if out, err := wrong.CombinedOutput(); exitCode(t, wrong) != exit.Usage || !strings.Contains(string(out), "--dialects takes") {
		t.Errorf("an unknown dialect: %v %s", err, out)
	}
}

// The metrics count the requests of every dialect by its routes, and what is none of them as one.
func TestServeCountsDialects(t *testing.T) {
	s := serveHTTP(t, t.TempDir(), "--dialects", "all")
	for _, route := range []string{"POST /nano/mcp", "GET /nano/ws", "POST /erlmcp", "POST /api/sse/message", "GET /v1/models",
		"POST /api/chat", "POST /agui", "POST /a2a", "GET /.well-known/agent-card.json", "PUT /erlmcp"} {
		method, path, _ := strings.Cut(route, " ")
		answer := testkit.OpenURL(t.Context(), t, method, s.base()+path, "{}")
		answer.Body.Close()
		if method == http.MethodPut {
			method, path = "other", "other"
		}
		want := fmt.Sprintf("lastword_http_requests_total{method=%q,route=%q,status=\"%d\"} 1\n", method, path, answer.StatusCode)
		if _, metrics := s.get("/metrics"); !strings.Contains(metrics, want) {
			t.Errorf("after %s the metrics lack %s", route, want)
		}
	}
}

// A client's tools and the form of its answer reach the model, whose calls are the answer. Only that the model has the name
// of the request.
func TestServeClientsTools(t *testing.T) {
	m := standin.NewModelWith(t, testkit.ModelOptions{Models: []standin.ServedModel{{ID: "org/qwen", Loaded: true, Context: 8192}}})
	s := serveHTTP(t, t.TempDir(), "--dialects", "openai", "--base-url", m.URL(), "--ephemeral")
	if _, list := s.get("/v1/models"); !strings.Contains(list, `"prompt"`) || !strings.Contains(list, `"org/qwen"`) {
		t.Errorf("the models are %s", list)
	}
	for _, c := range []struct{ path, body, want string }{
		{"/v1/chat/completions", `{"model":"org/qwen","messages":[{"role":"user","content":"Oslo?"}],"tools":[{"type":"function","function":` +
			`{"name":"weather","parameters":{"type":"object"}}}],"tool_choice":"required","parallel_tool_calls":false}`, `"finish_reason":"tool_calls"`},
		{"/v1/responses", `{"model":"org/qwen","input":"Oslo?","tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}],` +
			`"tool_choice":"required","parallel_tool_calls":false}`, `"type":"function_call"`},
	} {
		x := m.Answer(testkit.Call(0, "c1", "weather", `{"city":"Oslo"}`), testkit.Finish("stop"), testkit.Done())
		_, body, err := testkit.ReadURL(t, http.MethodPost, s.base()+c.path, c.body)
		if err != nil || !strings.Contains(body, c.want) || !strings.Contains(body, `"arguments":"{\"city\":\"Oslo\"}"`) {
			t.Errorf("%s answers %s, %v", c.path, body, err)
		}
		told := string(x.Request().Body)
		for _, part := range []string{`"model":"org/qwen"`, `"name":"weather"`, `"tool_choice":"required"`, `"parallel_tool_calls":false`} {
			if !strings.Contains(told, part) {
				t.Errorf("%s: the model is told %s, without %s", c.path, told, part)
			}
		}
	}
	x := m.Answer(testkit.Text(`{"city":"Oslo"}`), testkit.Finish("stop"), testkit.Done())
	status, body, _ := testkit.ReadURL(t, http.MethodPost, s.base()+"/v1/chat/completions", `{"model":"org/qwen","messages":[{"role":"user","content":"?"}],`+
		`"response_format":{"type":"json_schema","json_schema":{"name":"place","strict":true,"schema":{"type":"object","required":["city"]}}}}`)
	if told := string(x.Request().Body); status != 200 || !strings.Contains(told, `"json_schema":{"name":"place","schema":{"type":"object","required":["city"]},"strict":true}`) {
		t.Errorf("%d %s; the model is told %s", status, body, told)
	}
	if status, body, _ := testkit.ReadURL(t, http.MethodPost, s.base()+"/v1/responses", `{"model":"gpt-4o","input":"?"}`); status != 404 ||
		!strings.Contains(body, "prompt, chat, org/qwen") {
		t.Errorf("another model: %d %s", status, body)
	}
}

// Over every dialect the model asks the user with ask_user, is told the answer, and its words reach the client.
func TestServeDialectsAsk(t *testing.T) {
	m := testkit.NewModel(t)
	s := serveHTTP(t, t.TempDir(), "--dialects", "all", "--base-url", m.URL(), "--model", "scripted", "--ephemeral")
	// How a client of each dialect says something and answers what the model asks. In Next, $1 and $2 are what Found captures
	// of the answer to Say.
	for _, c := range fatal.Table[[]struct {
		Path, Found string
		Say, Next   json.RawMessage
	}](t, "testdata/asking.json") {
		m.Answer(testkit.Call(0, "c1", "ask_user", `{"question":"Which city?"}`), testkit.Finish("tool_calls"), testkit.Done())
		x := m.Answer(testkit.Text("Rain at last."), testkit.Finish("stop"), testkit.Done())
		first := testkit.OpenURL(t.Context(), t, http.MethodPost, s.base()+c.Path, string(c.Say), "Content-Type", "application/json")
		asked, found := "", regexp.MustCompile(c.Found)
		for buffer := make([]byte, 4096); !found.MatchString(asked); {
			n, err := first.Body.Read(buffer)
			if asked += string(buffer[:n]); err != nil && !found.MatchString(asked) {
				t.Fatalf("%s asks nothing: %s, %s, %v", c.Path, first.Status, asked, err)
			}
		}
		next := found.ReplaceAllString(found.FindString(asked), string(c.Next))
		_, second, err := testkit.ReadURL(t, http.MethodPost, s.base()+c.Path, next, "Content-Type", "application/json")
		rest, restErr := io.ReadAll(first.Body)
		first.Body.Close()
		if all := string(rest) + second; err != nil || restErr != nil || strings.Count(all, "Rain at last.") == 0 {
			t.Errorf("%s: the answer %s gets %s, %v, %v", c.Path, next, all, err, restErr)
		}
		if told := string(x.Request().Body); !strings.Contains(told, "Oslo") {
			t.Errorf("%s: the model is told %s", c.Path, told)
		}
	}
}
