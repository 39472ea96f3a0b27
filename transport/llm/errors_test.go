package llm_test

import (
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
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
	for _, c := range frames(t, "errors") {
		h := told(t, chosen(`"delta":{"content":"a"}`), c[3])
		f := h.end.Evidence.Failure
		if h.end.Verdict.Cause != messages.CauseProviderError || f == nil || f.Code != c[1] || !strings.Contains(f.Message, c[2]) ||
			!strings.HasPrefix(h.text, "a") {
			t.Errorf("%s: %s, %+v", c[0], h, f)
		}
	}
}

// frames are the rows of a section of testdata/frames.txt.
func frames(t *testing.T, section string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile("testdata/frames.txt")
	must(t, err)
	_, text, found := strings.Cut(string(data), "\n# "+section+": ")
	if !found {
		t.Fatalf("there are no %s", section)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
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
	for _, frame := range frames(t, "no errors") {
		if h := told(t, chosen(`"delta":{"content":"a"}`), frame[0]); h.err != nil || h.text != "a" {
			t.Errorf("%s: %s", frame[0], h)
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
	for _, c := range frames(t, "tries") {
		synctest.Test(t, func(t *testing.T) {
			status, _ := strconv.Atoi(c[0])
			transport := &counted{played: &played{fixtureResponse{Status: status, Framing: standin.Chunked, Body: c[2]}, []int{len(c[2])}}}
			h := listen(t.Context(), client(t, llm.Config{Transport: transport}), hello())
			want := messages.CauseProviderError
			if strings.Contains(c[2], "exceed_context") {
				want = messages.CauseContextExceeded
			}
			if h.end.Verdict.Cause != want || strconv.Itoa(transport.n) != c[1] {
				t.Errorf("%s: %d tries: %s", c[2], transport.n, h)
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
		_, err := c.Get(ctx, "/models", false)
		must(t, err)
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
		before, err := len(m.Requests()), ask(c)
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
