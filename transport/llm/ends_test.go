package llm_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Every fault of the catalogue ends in its cause, and in that alone.
func TestFaults(t *testing.T) {
	for _, f := range modelFaults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			m := testkit.NewModel(t)
			f.breaks(m)
			config := llm.Config{BaseURL: m.URL(), Profile: model.Profile(f.Profile), Retries: -1}
			if f.Watchdog {
				config.Limits = llm.Limits{FirstToken: 500 * time.Millisecond, Idle: 500 * time.Millisecond}
			}
			c := client(t, config)
			for range f.Calls - 1 {
				if h := listen(t.Context(), c, hello()); h.text != "fine" || h.err != nil {
					t.Fatal(h)
				}
			}
			h := listen(t.Context(), c, hello())
			v := h.end.Verdict
			if h.ends != 1 || v.Cause != f.Cause || v.Signal != f.Signal || h.text != f.Text || v.Truncated != f.Truncated ||
				v.Filtered != f.Filtered || !strings.Contains(v.Message, f.Message) || messages.CodeOf(h.err).Cause() != v.Cause && h.err != nil {
				t.Errorf("%s, %d ends", h, h.ends)
			}
		})
	}
}

func TestFaultsRetried(t *testing.T) {
	for _, f := range modelFaults() {
		if f.Watchdog || f.Cause == "" || f.Calls > 1 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			m := testkit.NewModel(t)
			f.breaks(m)
			c := client(t, llm.Config{BaseURL: m.URL(), Profile: model.Profile(f.Profile), Retries: f.Retries + 1})
			h := listen(t.Context(), c, hello())
			if f.Retries > 0 && (h.err != nil || h.text != "fine" || len(m.Requests()) != f.Retries+1) {
				t.Errorf("%s after %d requests", h, len(m.Requests()))
			}
			if f.Text != "" && len(m.Requests()) != 1 {
				t.Errorf("%d requests though %q had reached the reader", len(m.Requests()), f.Text)
			}
		})
	}
}

// stops are the ways to end a call from this side.
var stops = map[string]struct {
	stop func(context.CancelCauseFunc)
	want messages.Code
}{
	"cancel":       {func(c context.CancelCauseFunc) { c(nil) }, messages.CauseCanceledByUser},
	"cause":        {func(c context.CancelCauseFunc) { c(messages.Errorf("canceled_by_user", "no longer wanted")) }, messages.CauseCanceledByUser},
	"shutdown":     {func(c context.CancelCauseFunc) { c(messages.Errorf("shutdown", "good night")) }, messages.CauseShutdown},
	"stalled":      {func(c context.CancelCauseFunc) { c(messages.Errorf("stalled", "too slow")) }, messages.CauseStalled},
	"deadline":     {func(c context.CancelCauseFunc) { c(context.DeadlineExceeded) }, messages.CauseDeadline},
	"other causes": {func(c context.CancelCauseFunc) { c(errors.New("a sibling failed")) }, messages.CauseError},
}

// Canceling closes the connection: the server sees it, whatever it was doing.
func TestCancel(t *testing.T) {
	for name, s := range stops {
		for _, pieces := range [][]testkit.Piece{
			{testkit.Stall()}, {standin.Head(), testkit.Stall()}, {testkit.Text("Hel"), testkit.Stall()}, {testkit.Text("Hel"), standin.Comments(time.Millisecond)},
		} {
			m := testkit.NewModel(t)
			m.Answer(pieces...)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			h := &heard{}
			if len(pieces) < 2 || pieces[0].String() == "head" {
				go func() { <-m.Asked(0); s.stop(cancel) }()
			}
			for part, err := range client(t, llm.Config{BaseURL: m.URL()}).Stream(ctx, hello()) {
				if h.take(part, err); !isEnd(part) {
					s.stop(cancel)
				}
			}
			<-m.Closed(0)
			if h.ends != 1 || h.end.Evidence.Stopped != s.want || h.end.Verdict.Cause != s.want || len(m.Requests()) != 1 {
				t.Errorf("%s at %s: %s", name, pieces[0], h)
			}
			if canceled := h.end.Verdict.Outcome == model.Canceled; canceled != (s.want == messages.CauseCanceledByUser) {
				t.Errorf("%s: %s", name, h.end.Verdict.Outcome)
			}
		}
	}
}

func TestCancelBefore(t *testing.T) {
	m := testkit.NewModel(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := listen(ctx, client(t, llm.Config{BaseURL: m.URL()}), hello())
	if h.ends != 1 || h.end.Verdict.Outcome != model.Canceled || len(m.Requests()) > 0 {
		t.Error(h)
	}
}

// A consumer that leaves the range takes the connection with it.
func TestLeave(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Text("Hel"), testkit.Text("lo"), testkit.Stall())
	for part := range client(t, llm.Config{BaseURL: m.URL()}).Stream(t.Context(), hello()) {
		if part != (model.Text{Text: "Hel"}) {
			t.Errorf("%v came", part)
		}
		break
	}
	<-m.Closed(0)
}

// Connections serve again, also where the last chunk comes after [DONE] or the consumer leaves at the end, and after refusals. One that is not free in
// time is given up, which a busy machine may see now and then; without reuse there would be ten and more.
func TestReuse(t *testing.T) {
	m := testkit.NewModel(t)
	c := client(t, llm.Config{BaseURL: m.URL(), Retries: -1})
	for i := range 30 {
		switch {
		case i%3 == 0:
			m.Answer(testkit.Text("fine"), testkit.Done(), standin.Pace(2*time.Millisecond))
		case i%3 == 1:
			m.Answer(standin.JSON(503, `{"error":"busy"}`))
		}
		for part := range c.Stream(t.Context(), hello()) {
			if isEnd(part) {
				break
			}
		}
	}
	if m.Accepted() > 5 {
		t.Errorf("%d connections for 30 calls", m.Accepted())
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 9<<20)
	for name, c := range map[string]struct {
		pieces  []testkit.Piece
		limits  llm.Limits
		message string
	}{
		"a line of 9 MiB":    {[]testkit.Piece{testkit.Text("a"), testkit.Text(long)}, llm.Limits{}, "a frame of the answer is larger than 8 MiB"},
		"a line without end": {[]testkit.Piece{testkit.Text("a"), standin.Send("data: {" + long)}, llm.Limits{}, "a frame of the answer is larger than 8 MiB"},
		"a long answer": {[]testkit.Piece{testkit.Text("a"), testkit.Tokens(1000, 0), testkit.Done()}, llm.Limits{ResponseBytes: 10 << 10},
			"the answer is larger than 10240 bytes"},
		"endless comments": {[]testkit.Piece{testkit.Text("a"), standin.Send(strings.Repeat(":\n", 10<<10))}, llm.Limits{ResponseBytes: 10 << 10},
			"the answer is larger than 10240 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			m := testkit.NewModel(t)
			m.Answer(append(c.pieces, testkit.Stall())...)
			h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL(), Limits: c.limits}), hello())
			if h.ends != 1 || h.end.Verdict.Cause != messages.CauseLimitExceeded || h.err.Error() != c.message || !strings.HasPrefix(h.text, "a") {
				t.Errorf("%d ends, %+v, %v", h.ends, h.end.Verdict, h.err)
			}
			<-m.Closed(0)
		})
	}
}

// A long error is read no further than it is of use.
func TestLongError(t *testing.T) {
	h := answered(t, llm.Config{}, standin.JSON(400, `{"error":"`+strings.Repeat("x", 5<<20)+`"}`))
	if h.end.Verdict.Cause != messages.CauseProviderError || len(h.err.Error()) > 3000 {
		t.Errorf("%d bytes of error: %.80s", len(h.err.Error()), h.err)
	}
}

func TestNoStream(t *testing.T) {
	page := "<!DOCTYPE html>\n<html><head><TITLE lang=en>Sign\n in</TITLE></head><body>{ color: red }</body></html>"
	for name, c := range map[string]struct {
		piece         testkit.Piece
		code, message string
	}{
		"page":           {standin.Status(200, "text/html", page), "html", "an HTML page instead of an answer: Sign in"},
		"page as stream": {standin.Status(200, "text/event-stream", page), "html", "Sign in"},
		"page at 502":    {standin.Status(502, "text/html", page), "html", "http 502: an HTML page instead of an answer: Sign in"},
		"error":          {standin.JSON(200, `{"error":{"message":"boom","code":7}}`), "7", "boom"},
		"error on lines": {standin.JSON(200, "{\n  \"error\": {\n    \"message\": \"boom\"\n  }\n}\n"), "", "boom"},
		"detail":         {standin.JSON(200, `{"detail":"Not Found"}`), "json", "a document instead of a stream: Not Found"},
		"completion": {standin.JSON(200, `{"object":"chat.completion","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`),
			"json", "a document instead of a stream"},
		"brotli": {standin.Header("Content-Encoding", "br"), "encoding", "compressed"},
		"words":  {standin.Status(200, "text/plain", "Ollama is running"), "text", "not a stream: Ollama is running"},
	} {
		h := answered(t, llm.Config{Retries: -1}, c.piece)
		if f := h.end.Evidence.Failure; f == nil || f.Code != c.code || !strings.Contains(h.err.Error(), c.message) || h.end.Verdict.Cause != messages.CauseProviderError {
			t.Errorf("%s: %s, %+v", name, h, f)
		}
	}
}

// An event that is called an error is one, whatever it holds.
func TestErrorEvent(t *testing.T) {
	for data, message := range map[string]string{
		`{"message":"boom"}`: "boom", "boom": "boom", `"boom"`: "boom", "": "without a message", "null": "null", "[DONE]": "[DONE]",
	} {
		h := answered(t, llm.Config{}, testkit.Text("a"), standin.Event("error", data), testkit.Done())
		if h.end.Verdict.Cause != messages.CauseProviderError || !strings.Contains(h.err.Error(), message) || h.text != "a" {
			t.Errorf("%q: %s", data, h)
		}
	}
}

func TestRedirect(t *testing.T) {
	other := testkit.NewModel(t)
	for _, status := range []int{301, 302, 307, 308} {
		h := answered(t, llm.Config{Key: "sesame-sesame"}, standin.Header("Location", other.URL()+"/chat/completions"), standin.Status(status, "text/plain", ""))
		if h.end.Verdict.Cause != messages.CauseProviderError || !strings.Contains(h.err.Error(), "redirects to http://"+other.Host()) {
			t.Errorf("%d: %s", status, h)
		}
	}
	if n := len(other.Requests()); n > 0 {
		t.Errorf("%d requests were sent on", n)
	}
}

// The key is sent, and is in nothing else.
func TestKey(t *testing.T) {
	const key = "sk-sesame-sesame"
	file := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
	for name, pieces := range map[string][]testkit.Piece{
		"error":       {standin.JSON(401, `{"error":{"message":"bad key `+key+`","code":"`+key+`"}}`)},
		"page":        {standin.Status(401, "text/html", "<title>"+key+"</title>")},
		"text":        {standin.Status(401, "text/plain", key)},
		"frame":       {testkit.ErrorFrame("key " + key)},
		"cut":         {testkit.Cut()},
		"garbage":     {standin.Wire("HTTP/1.1 999 " + key + "\r\nBad " + key + "\r\n\r\n")},
		"long":        {standin.JSON(401, `{"error":{"message":"`+strings.Repeat("x", 1995)+key+`"}}`)},
		"text at 200": {standin.Status(200, "text/plain", strings.Repeat("x", 1995)+key)},
		"fine":        {standin.Named(key), testkit.Text("fine"), testkit.Finish(key), testkit.Done()},
	} {
		for _, config := range []llm.Config{{Key: key}, {KeyFile: file}} {
			m := standin.NewModelWith(t, testkit.ModelOptions{Key: key})
			m.Always(pieces...)
			config.BaseURL, config.Retries = m.URL(), -1
			h := listen(t.Context(), client(t, config), hello())
			if (h.err == nil) != (name == "fine") || h.err != nil && strings.Contains(h.err.Error(), key) ||
				strings.Contains(h.String()+h.end.Model+h.end.Evidence.Finish, key[:3]) || h.end.Evidence.Failure != nil && strings.Contains(h.end.Evidence.Failure.Code, key) {
				t.Errorf("%s: %s", name, h)
			}
			if r := m.Requests(); len(r) != 1 || !r[0].Authorized {
				t.Errorf("%s: the key was not sent", name)
			}
		}
	}
}

// A key that is no secret leaves the words alone that a failure is known by.
func TestShortKey(t *testing.T) {
	for key, want := range map[string]string{
		"x":       "http 400: maximum context length of [key], xx",
		"context": "http 400: maximum [key] length of x, xx",
		"none":    "http 400: maximum context length of x, xx",
	} {
		m := testkit.NewModel(t)
		m.Answer(standin.JSON(400, `{"error":"maximum context length of x, xx"}`))
		c := client(t, llm.Config{BaseURL: m.URL(), Key: key, Retries: -1})
		h, r := listen(t.Context(), c, hello()), hello()
		r.Model = "x/" + key
		if answer := listen(t.Context(), c, r); answer.end.Model != r.Model {
			t.Errorf("%s answers for %s", answer.end.Model, r.Model)
		}
		if h.err == nil || !strings.HasPrefix(h.err.Error(), want) {
			t.Errorf("%s: %v, want %s", key, h.err, want)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	m := testkit.NewModel(t)
	c := client(t, llm.Config{BaseURL: m.URL(), Retries: -1})
	m.Close()
	h := listen(t.Context(), c, hello())
	if h.ends != 1 || h.end.Verdict.Cause != messages.CauseTransportClosed ||
		!strings.HasPrefix(h.err.Error(), "nothing answers at "+m.Host()+" (") || !strings.Contains(h.err.Error(), "--base-url") ||
		strings.Contains(h.err.Error(), "http://") {
		t.Error(h)
	}
}

// TLS and HTTP/2, whose frames tell the end of a body.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.ProtoMajor != 2 {
			t.Error("the server was asked over", r.Proto)
		}
		_, _ = w.Write([]byte(`data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n"))
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	must(t, os.WriteFile(file, ca, 0o600))
	if h := listen(t.Context(), client(t, llm.Config{BaseURL: s.URL + "/v1", CAFile: file, Proxy: "none"}), hello()); h.text != "hi" || h.err != nil {
		t.Error(h)
	}
	began := time.Now()
	h := listen(t.Context(), client(t, llm.Config{BaseURL: s.URL + "/v1", Proxy: "none", Retries: 8}), hello())
	if h.err == nil || !strings.Contains(h.err.Error(), "certificate") || time.Since(began) > 10*time.Second {
		t.Error(h)
	}
}

// A stream of HTTP/2 that the server resets is cut, whatever came before.
func TestReset(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(w, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\n")
		panic(http.ErrAbortHandler)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	c := client(t, llm.Config{BaseURL: s.URL + "/v1", Transport: s.Client().Transport, Profile: model.Generic})
	if h := listen(t.Context(), c, hello()); h.text != "hi" || h.end.Verdict.Cause != messages.CauseTransportClosed || h.end.Evidence.Read == "" {
		t.Error(h)
	}
}

func TestProxy(t *testing.T) {
	m := testkit.NewModel(t)
	m.AnswerTo("http://model.test/v1/chat/completions", testkit.Text("by proxy"), testkit.Done())
	m.Always(testkit.Text("by proxy"), testkit.Done())
	h := listen(t.Context(), client(t, llm.Config{Proxy: "http://" + m.Host(), Retries: -1}), hello())
	if h.text != "by proxy" {
		t.Error(h, m.Requests())
	}
}

func TestProfiles(t *testing.T) {
	generic := []testkit.Piece{testkit.Text("x"), testkit.Finish("stop")} // and no [DONE]
	for name, c := range map[string]struct {
		config llm.Config
		header string
		want   string
	}{
		"unknown":         {llm.Config{}, "", "eof+finish"},
		"by header":       {llm.Config{}, "llama.cpp", ""},
		"by a check":      {llm.Config{Server: &llm.ServerProfile{Profile: model.Strict}}, "", ""},
		"by the config":   {llm.Config{Profile: model.Generic, Server: &llm.ServerProfile{Profile: model.Strict}}, "llama.cpp", "eof+finish"},
		"a common server": {llm.Config{}, "uvicorn", "eof+finish"},
	} {
		m := testkit.NewModel(t)
		m.Always(append([]testkit.Piece{standin.Header("Server", c.header)}, generic...)...)
		c.config.BaseURL = m.URL()
		if h := listen(t.Context(), client(t, c.config), hello()); h.end.Verdict.Signal != c.want {
			t.Errorf("%s: %s", name, h)
		}
	}
}
