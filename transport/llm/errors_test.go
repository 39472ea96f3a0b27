package llm_test

import (
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Issue: "Errors where providers put them, with the server's own words kept", though [DONE] follows.
func TestErrorsInFrames(t *testing.T) {
	for _, c := range []struct{ name, frame, code, message string }{
		{"in a choice", chosen(`"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"boom"}`), "502", "boom"},
		{"in another choice", `{"choices":[{"index":0,"delta":{"content":"b"}},{"index":1,"error":"boom"}]}`, "", "boom"},
		{"in a delta", chosen(`"delta":{"content":"","error":{"message":"boom"}}`), "", "boom"},
		{"in a message", chosen(`"message":{"error":{"message":"boom"}}`), "", "boom"},
		{"x_groq", `{"id":"c","choices":[],"x_groq":{"id":"r","error":"boom"}}`, "", "boom"},
		{"x_groq beside a choice", `{"choices":[{"index":0,"delta":{}}],"x_groq":{"error":{"message":"boom","code":"overloaded"}}}`, "overloaded", "boom"},
		{"base_resp", `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"boom"}}`, "1008", "boom"},
		{"base_resp beside a choice", `{"choices":[{"index":0,"delta":{"content":"b"}}],"base_resp":{"status_code":1013,"status_msg":"boom"}}`, "1013", "boom"},
		{"detail", `{"detail":"boom"}`, "", "boom"},
		{"detail as a list", `{"detail":[{"loc":["body","model"],"msg":"boom","type":"missing"}]}`, "", "boom"},
		{"detail as an object", `{"detail":{"error":{"message":"boom","code":7}}}`, "7", "boom"},
		{"code and message", `{"code":"InvalidParameter","message":"boom","request_id":"r"}`, "InvalidParameter", "boom"},
		{"code and msg", `{"code":500,"msg":"boom","success":false}`, "500", "boom"},
		{"code without success", `{"code":10013,"message":"boom","sid":"s","choices":[]}`, "10013", "boom"},
		{"error_code", `{"error_code":336003,"error_msg":"boom"}`, "336003", "boom"},
		{"errors", `{"success":false,"errors":[{"code":7003,"message":"boom"}]}`, "7003", "boom"},
		{"fault", `{"fault":{"faultstring":"boom","detail":{"errorcode":"policies.ratelimit"}}}`, "", "boom"},
		{"problem", `{"type":"about:blank","title":"boom","status":429}`, "429", "boom"},
		{"message alone", `{"message":"boom"}`, "", "boom"},
		{"message without a code", `{"message":"boom","code":null,"type":null}`, "", "boom"},
		{"status", `{"status":"error","message":"boom"}`, "error", "boom"},
		{"type", `{"type":"error","error":{"type":"overloaded_error","message":"boom"}}`, "overloaded_error", "boom"},
		{"object", `{"object":"error","message":"boom","code":40303}`, "40303", "boom"},
		{"further in", `{"Response":{"Error":{"Code":"AuthFailure","Message":"boom"},"RequestId":"r"}}`, "AuthFailure", "boom"},
		{"exception", `{"throttlingException":{"message":"boom"}}`, "", "boom"},
		{"exception by type", `{"__type":"ThrottlingException","message":"boom"}`, "", "boom"},
		{"true", `{"error":true,"message":"boom"}`, "", "boom"},
		{"a number", `{"error":503,"message":"boom"}`, "503", "boom"},
		{"in two places", `{"status":500,"error":"Internal Server Error","message":"boom"}`, "500", "Internal Server Error: boom"},
		{"capitals", `{"Error":"boom"}`, "", "boom"},
		{"in a choice's list", chosen(`"delta":{},"errors":[{"message":"boom"}],"finish_reason":"stop"`), "", "boom"},
		{"in a choice's words", chosen(`"delta":{},"error_message":"boom","finish_reason":"stop"`), "", "boom"},
		{"in a choice's exception", chosen(`"delta":{"content":"b"},"Exception":"boom"`), "", "boom"},
		{"in a delta's list", chosen(`"delta":{"errors":["boom"]}`), "", "boom"},
		{"in a message's words", chosen(`"message":{"errorMsg":"boom"}`), "", "boom"},
		{"capitals beside a choice", `{"choices":[{"delta":{}}],"ERROR":"boom"}`, "", "boom"},
		{"err", `{"err":"boom"}`, "", "boom"},
		{"err beside a choice", `{"choices":[{"delta":{}}],"err":{"message":"boom"}}`, "", "boom"},
		{"words beside a choice", `{"errmsg":"boom","errcode":5,"choices":[{"delta":{}}]}`, "5", "boom"},
		{"failure", `{"failure":{"message":"boom"}}`, "", "boom"},
		{"of the provider", `{"choices":[{"delta":{}}],"provider_error":{"message":"boom"}}`, "", "boom"},
		{"in another member", `{"choices":[{"delta":{}}],"metadata":{"error":{"message":"boom"}}}`, "", "boom"},
		{"no success", `{"choices":[{"delta":{}}],"success":false,"message":"boom"}`, "", "boom"},
		{"status beside a choice", `{"choices":[{"delta":{}}],"status":"FAILED","message":"boom"}`, "FAILED", "boom"},
		{"header", `{"header":{"code":10013,"message":"boom"},"payload":{}}`, "10013", "boom"},
		{"in a list", `[{"error":{"code":400,"message":"boom","status":"INVALID_ARGUMENT"}}]`, "400", "boom"},
		{"of the provider behind it", `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"boom"}}}`, "429", "Provider returned error: boom"},
		{"of an odd type", `{"error":{"reasonless":[1]}}`, "", `{"reasonless":[1]}`},
	} {
		h := told(t, chosen(`"delta":{"content":"a"}`), c.frame)
		f := h.end.Evidence.Failure
		if h.end.Verdict.Cause != messages.CauseProviderError || f == nil || f.Code != c.code || !strings.Contains(f.Message, c.message) ||
			!strings.HasPrefix(h.text, "a") {
			t.Errorf("%s: %s, %+v", c.name, h, f)
		}
	}
}

// The event's name alone is enough, in any of its spellings.
func TestEventsOfFailures(t *testing.T) {
	for _, name := range []string{"ERROR", "exception", "failed", "server_error", "response.failed"} {
		h := answered(t, llm.Config{}, standin.Frame(chosen(`"delta":{"content":"a"}`)), standin.Event(name, `{"x":"boom"}`), testkit.Done())
		if h.end.Verdict.Cause != messages.CauseProviderError || !strings.Contains(h.end.Verdict.Message, "boom") {
			t.Errorf("%s: %s", name, h)
		}
	}
}

// What only looks like an error costs no answer.
func TestNoErrors(t *testing.T) {
	for _, frame := range []string{
		`{"error":null,"choices":[]}`, `{"choices":[{"index":0,"delta":{},"error":null}]}`, `{"errors":[],"success":true,"choices":[]}`,
		`{"choices":[{"index":0,"delta":{"content":""}}],"base_resp":{"status_code":0,"status_msg":""}}`,
		`{"code":0,"message":"Success","sid":"s","choices":[],"usage":{"prompt_tokens":1}}`, `{"code":0,"message":"Success","sid":"s"}`,
		`{"code":200,"msg":"ok"}`, `{"type":"ping"}`, `{"ping":true}`, `{"x_groq":{"id":"r"}}`, `{"choices":[],"detail":null,"message":""}`,
		`{"id":"","choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]}`,
		`{"choices":[{"index":0,"delta":{},"content_filter_results":{"error":{"code":"content_filter_error","message":"not run"}}}]}`,
		`{"choices":[{"delta":{}}],"error":0}`, `{"choices":[{"delta":{},"errors":[]}]}`, `{"choices":[{"delta":{}}],"errcode":0,"errmsg":"ok"}`,
		`{"choices":[{"delta":{}}],"error_message":"","status":"ok","type":"chunk"}`, `{"header":{"code":0,"message":"Success"},"choices":[]}`,
		`{"type":"response.completed"}`, // by then it is known what the server speaks
	} {
		if h := told(t, chosen(`"delta":{"content":"a"}`), frame); h.err != nil || h.text != "a" {
			t.Errorf("%s: %s", frame, h)
		}
	}
}

// A list of frames is not one frame.
func TestFramesInAList(t *testing.T) {
	one := chosen(`"delta":{"content":"a"}`)
	if h := told(t, "["+one+"]"); h.text != "a" || h.err != nil {
		t.Error(h)
	}
	if h := told(t, "["+one+","+one+"]"); h.end.Verdict.Cause != messages.CauseProviderError {
		t.Error(h)
	}
}

// An error of ten thousand levels is looked into for a few of them.
func TestDeepErrors(t *testing.T) {
	deep := strings.Repeat(`{"error":`, 9990) + `"boom"` + strings.Repeat("}", 9990)
	if h := told(t, deep); h.end.Verdict.Cause != messages.CauseProviderError || len(h.err.Error()) > 3000 {
		t.Errorf("%.200s", h)
	}
}

// Issue: "Another protocol's events are named as such", and asked for once.
func TestOtherProtocols(t *testing.T) {
	for _, c := range []struct {
		want   string
		pieces []testkit.Piece
	}{
		{"Anthropic's", []testkit.Piece{standin.Event("message_start", `{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}`),
			standin.Event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`), standin.Event("message_stop", `{"type":"message_stop"}`)}},
		{"Anthropic's", []testkit.Piece{standin.Frame(`{"type":"ping"}`), standin.Frame(`{"type":"content_block_delta","delta":{"text":"Hello"}}`)}},
		{"Anthropic's", []testkit.Piece{standin.JSON(200, `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`)}},
		{"Responses", []testkit.Piece{standin.Event("response.created", `{"type":"response.created","response":{"id":"r"}}`), testkit.Done()}},
		{"Responses", []testkit.Piece{standin.Frame(`{"type":"response.output_text.delta","delta":"Hello"}`), testkit.Done()}},
		{"Responses", []testkit.Piece{standin.JSON(200, `{"id":"r","object":"response","status":"completed","output":[]}`)}},
		{"Gemini's", []testkit.Piece{standin.Frame(`{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}`)}},
		{"Cohere's", []testkit.Piece{standin.Event("content-delta", `{"type":"content-delta","delta":{"message":{"content":{"text":"Hello"}}}}`)}},
		{"Cohere's", []testkit.Piece{standin.Frame(`{"event_type":"text-generation","text":"Hello","is_finished":false}`)}},
		{"Bedrock's", []testkit.Piece{standin.Frame(`{"contentBlockDelta":{"delta":{"text":"Hello"}}}`)}},
		{"Ollama's", []testkit.Piece{standin.Status(200, "application/x-ndjson", `{"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}`+"\n")}},
		{"llama.cpp's", []testkit.Piece{standin.Frame(`{"index":0,"content":"Hello","stop":false,"tokens_predicted":1}`)}},
		{"TGI's", []testkit.Piece{standin.Send(`data:{"index":1,"token":{"id":1,"text":"Hello"},"generated_text":null,"details":null}` + "\n\n")}},
		{"DashScope's", []testkit.Piece{standin.Event("result", `{"output":{"text":"Hello","finish_reason":"null"},"usage":{},"request_id":"r"}`)}},
		{"Ernie's", []testkit.Piece{standin.Frame(`{"id":"e","sentence_id":0,"is_end":false,"result":"Hello"}`)}},
		{"Mistral's", []testkit.Piece{standin.Event("message.output.delta", `{"type":"message.output.delta","content":"Hello"}`)}},
		{"Coze's", []testkit.Piece{standin.Event("conversation.message.delta", `{"type":"answer","content":"Hello"}`)}},
		{"Dify's", []testkit.Piece{standin.Frame(`{"event":"message","answer":"Hello","conversation_id":"c"}`)}},
		{"AI SDK's", []testkit.Piece{standin.Frame(`{"type":"text-delta","id":"1","delta":"Hello"}`), testkit.Done()}},
		{"AG-UI", []testkit.Piece{standin.Frame(`{"type":"RUN_STARTED","threadId":"t"}`)}},
		{"Workers AI's", []testkit.Piece{standin.Frame(`{"response":"Hello","p":"abc"}`), testkit.Done()}},
		{"LM Studio's", []testkit.Piece{standin.Event("chat.start", `{"type":"chat.start"}`)}},
		{"JSON-RPC", []testkit.Piece{standin.JSON(200, `{"jsonrpc":"2.0","id":1,"result":{}}`)}},
	} {
		for _, profile := range []model.Profile{model.Strict, model.Generic} {
			m := testkit.NewModel(t)
			m.Always(c.pieces...)
			h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL(), Profile: profile}), hello())
			if f := h.end.Evidence.Failure; f == nil || f.Code != "protocol" || !strings.Contains(f.Message, c.want) || h.text != "" ||
				h.end.Verdict.Cause != messages.CauseProviderError || len(m.Requests()) != 1 {
				t.Errorf("%s: %s, %d requests", c.want, h, len(m.Requests()))
			}
		}
	}
}

// Issue: "Deterministic failures are tried once".
func TestTriedOnce(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		tries  int
	}{
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, 1},
		{429, `{"error":{"message":"boom","type":"insufficient_quota","code":429}}`, 1},
		{429, `{"error":{"message":"Your account is suspended due to insufficient balance, please recharge","type":"exceeded_current_quota_error"}}`, 1},
		{429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, 1},
		{500, `{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}`, 1},
		{503, `{"error":{"message":"no channel for this model","code":"model_not_found"}}`, 1},
		{500, `{"error":{"code":500,"message":"the request exceeds it","type":"exceed_context_size_error"}}`, 1},
		{501, `{"error":"not implemented"}`, 1},
		{429, `{"error":{"message":"Rate limit reached: 3 per minute. Please try again in 20ms. Add a payment method to your billing.","code":"rate_limit_exceeded"}}`, 3},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 34ms.","status":"RESOURCE_EXHAUSTED"}}]`, 3},
		{429, `{"error":{"message":"slow down"}}`, 3},
		{503, `{"error":"overloaded"}`, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			transport := &counted{played: &played{fixtureResponse{Status: c.status, Framing: standin.Chunked, Body: c.body}, []int{len(c.body)}}}
			h := listen(t.Context(), client(t, llm.Config{Transport: transport}), hello())
			overflow := strings.Contains(c.body, "exceed_context")
			if h.end.Verdict.Cause != map[bool]messages.Code{false: messages.CauseProviderError, true: messages.CauseContextExceeded}[overflow] || transport.n != c.tries {
				t.Errorf("%s: %d tries: %s", c.body, transport.n, h)
			}
		})
	}
}

// counted counts requests for completions.
type counted struct {
	*played
	n int
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		c.n++
	}
	c.played.pieces = []int{len(c.played.Body)}
	return c.played.RoundTrip(r)
}

// What answers speaks no HTTP, or no TLS.
func TestNoHTTP(t *testing.T) {
	for base, greeting := range map[string]string{"http://": "SSH-2.0-OpenSSH_9.6\r\n", "https://": "HTTP/1.0 400 Bad Request\r\n\r\n"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		accepted := make(chan int)
		go func() {
			n := 0
			for {
				conn, err := listener.Accept()
				if err != nil {
					accepted <- n
					return
				}
				n++
				_, _ = conn.Read(make([]byte, 16<<10))
				_, _ = conn.Write([]byte(greeting))
				conn.Close()
			}
		}()
		h := listen(t.Context(), client(t, llm.Config{BaseURL: base + listener.Addr().String(), Proxy: "none"}), hello())
		listener.Close()
		if n := <-accepted; h.end.Verdict.Cause != messages.CauseTransportClosed || n != 1 {
			t.Errorf("%d connections: %s", n, h)
		}
	}
}

// makeReusable leaves the client with an idle connection. One request is not always enough: net/http drops a
// connection whose write it has not seen complete 50 ms after the answer, as on a busy machine.
func makeReusable(t *testing.T, c *llm.Client) {
	t.Helper()
	idle := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{PutIdleConn: func(err error) { idle = err == nil }})
	for !idle {
		if _, err := c.Get(ctx, "/models", false); err != nil {
			t.Fatal(err)
		}
	}
}

// A server may close a connection just when the next request comes on it. That request is sent again on a new one,
// everywhere; one that had a new connection, or a byte of an answer, is not.
func TestStaleConnection(t *testing.T) {
	for name, ask := range map[string]func(*llm.Client) error{
		"completion": func(c *llm.Client) error { return listen(t.Context(), c, hello()).err },
		"models":     func(c *llm.Client) error { _, _, err := c.Models(t.Context()); return err },
		"page":       func(c *llm.Client) error { _, err := c.Get(t.Context(), "/models", false); return err },
	} {
		m := testkit.NewModel(t)
		c := client(t, llm.Config{BaseURL: m.URL(), Retries: -1})
		makeReusable(t, c)
		m.Answer(testkit.Cut())
		m.AnswerTo("/v1/models", testkit.Cut())
		before := len(m.Requests())
		err := ask(c)
		if sent := m.Requests()[before:]; err != nil || len(sent) < 2 || sent[0].Path != sent[1].Path || len(sent) > 2 && name != "models" {
			t.Errorf("%s: %v after %d requests", name, err, len(sent))
		}
	}
	for name, pieces := range map[string][]testkit.Piece{"new": {testkit.Cut()}, "reused": {standin.Wire("HTT"), testkit.Cut()}} {
		m := testkit.NewModel(t)
		c := client(t, llm.Config{BaseURL: m.URL(), Retries: -1})
		if name == "reused" {
			makeReusable(t, c)
		}
		before := len(m.Requests())
		m.Answer(pieces...)
		if h := listen(t.Context(), c, hello()); h.end.Verdict.Cause != messages.CauseTransportClosed || len(m.Requests()) != before+1 {
			t.Errorf("%s: %s after %d requests", name, h, len(m.Requests())-before)
		}
	}
}
