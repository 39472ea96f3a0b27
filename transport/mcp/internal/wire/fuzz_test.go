package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// seeds are messages as clients send them, and some as none should.
func seeds() []string {
	all := []string{
		initialize(able), ping, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"no"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","id":3,"params":{"requestId":"ask-1"}}`,
		`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{}}}`,
		`{"jsonrpc":"2.0","id":"ask-1","error":{"code":-32603,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1}}`, `{"jsonrpc":"2.0","id":-0.5e3,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"\u0000\ud800","method":"logging/setLevel","params":{"level":"debug"}}`,
		`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"resources/read","params":{"uri":"run://x"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"x/set","params":{"_meta":null}}`, `[` + ping + `]`, `{"id":{}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tasks/get","params":{"taskId":"t","_meta":{` + modernMeta + `}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{` + modernMeta + `}}}`,
		`{"jsonrpc":"2.0","id":8,"method":"x/ok","params":{"_meta":{` + modernMeta + `}}}`,
		`{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
			`"_meta":{` + modernMeta + `}}}`,
		strings.Repeat(`{"a":[`, 100),
	}
	for _, tool := range []string{"count", "echo", "panic", "instead", "refused", "none"} {
		all = append(all, toolCall(`"i"`, tool, `{"n":3,"tag":"t","begin":true}`, `"progressToken":1.50`),
			toolCall("1", tool, `{"n":2}`, `"progressToken":"p",`+modernMeta))
	}
	return all
}

func newFuzzed(t testing.TB) *fixture {
	return newFixture(t, wire.Config{Message: 1 << 20, Door: door.New(door.Config{Heartbeat: time.Millisecond}), Methods: map[string]wire.Method{
		"x/ok":      ok,
		"x/set":     func(context.Context, *wire.Exchange) (any, error) { return json.RawMessage(`{"_meta":1}`), nil },
		"tasks/get": func(context.Context, *wire.Exchange) (any, error) { return nil, &wire.Error{Code: mcp.INVALID_PARAMS} },
	}})
}

// Whatever comes over HTTP is answered with a status, and with JSON-RPC that ends with the answer; what asks
// nothing is answered by nothing.
func FuzzHTTP(f *testing.F) {
	for i, seed := range seeds() {
		f.Add(uint8(i), true, "Accept: application/json, text/event-stream", seed)
		f.Add(uint8(0), false, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?eA==?=", seed)
	}
	f.Fuzz(func(t *testing.T, method uint8, routed bool, fields, body string) {
		fixture := newFuzzed(t)
		session := begin(t, fixture.wire)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		methods := []string{http.MethodPost, http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodPut}
		r := httptest.NewRequestWithContext(ctx, methods[int(method)%len(methods)], "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if c := (&client{session: session}); routed {
			c.route(r, body)
		}
		for line := range strings.Lines(fields) {
			name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
			r.Header.Add(name, value)
		}
		w := httptest.NewRecorder()
		fixture.wire.ServeHTTP(w, r)
		inOrder(t, r.Method, w)
	})
}

func begin(t *testing.T, h http.Handler) (session string) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(initialize(able)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	return w.Header().Get("Mcp-Session-Id")
}

// inOrder checks the form of a response.
func inOrder(t *testing.T, method string, w *httptest.ResponseRecorder) {
	t.Helper()
	text := w.Body.Bytes()
	if len(text) > 0 && method == http.MethodPost && (w.Code == http.StatusAccepted || w.Code == http.StatusNoContent) {
		t.Errorf("%d with %q", w.Code, text)
	}
	switch w.Header().Get("Content-Type") {
	case "application/json":
		if !isMessage(text) || isNotification(text) {
			t.Errorf("%d %s", w.Code, text)
		}
	case "text/event-stream":
		answered := false
		for event := range bytes.SplitSeq(text, []byte("\n\n")) {
			data, isData := bytes.CutPrefix(event, []byte("event: message\ndata: "))
			switch {
			case len(event) == 0 || event[0] == ':' && !bytes.Contains(event, []byte("\n")):
			case !isData || !isMessage(data) || answered:
				t.Errorf("%q in %q", event, text)
			default:
				answered = !isNotification(data)
			}
		}
	default:
		if w.Code < 400 && len(text) > 0 {
			t.Errorf("%d %q", w.Code, text)
		}
	}
}

// isMessage reports whether text is a message, or a batch of messages.
func isMessage(text []byte) bool {
	var batch []json.RawMessage
	if json.Unmarshal(text, &batch) == nil && len(batch) > 0 {
		return !slices.ContainsFunc(batch, func(m json.RawMessage) bool { return !isMessage(m) })
	}
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(text, &m) == nil && m.Version == "2.0" && bytes.IndexByte(text, '\n') < 0
}

func isNotification(text []byte) bool {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(text, &m)
	return m["method"] != nil
}

// Whatever comes on stdin, what goes out are messages, a line each, no more answers than there were lines, and the end
// of the one is the end of the other.
func FuzzStdio(f *testing.F) {
	f.Add(strings.Join(seeds(), "\n"))
	// A client that names no version may send batches.
	f.Add(strings.NewReplacer("subscriptions", "x", `"protocolVersion`, `"v`).Replace(strings.Join(seeds(), "\n")))
	for _, seed := range seeds() {
		f.Add(seed)
		f.Add(initialize(able) + "\r\n\n" + seed + "\n" + seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.Contains(in, "subscriptions") {
			t.Skip("it would not end before its client is known to be gone")
		}
		var out bytes.Buffer
		must(t, newFuzzed(t).wire.ServeStdio(t.Context(), strings.NewReader(in), &out))
		lines, answers := slices.Collect(bytes.Lines(out.Bytes())), 0
		for _, line := range lines {
			text, whole := bytes.CutSuffix(line, []byte("\n"))
			if !whole || !isMessage(text) {
				t.Errorf("%q", line)
			}
			if !isNotification(text) {
				answers++
			}
		}
		if asked := strings.Count(in, "\n") + 1; answers > asked {
			t.Errorf("%d answers to %d lines", answers, asked)
		}
	})
}
