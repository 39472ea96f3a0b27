package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

func modernRequest(method, params string) string {
	comma := ","
	if params == "" {
		comma = ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s%s"_meta":{%s}}}`, method, params, comma, modernMeta)
}

func TestModernValidation(t *testing.T) {
	f := newFixture(t, wire.Config{Methods: map[string]wire.Method{"tasks/get": ok, "x/own": ok}})
	f.mcp.AddTool(mcp.NewToolWithRawSchema("routed", "",
		[]byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)), echo)
	url, echoed := f.serveHTTP(t), modernRequest("tools/call", `"name":"echo","arguments":{}`)
	routed := modernRequest("tools/call", `"name":"routed","arguments":{"region":"eu"}`)
	task, ours := modernRequest("tasks/get", `"taskId":"t1"`), modernRequest("x/own", "")
	validates(t, "modern", strings.NewReplacer("ECHO", echoed, "ROUTED", routed, "TASK", task, "OURS", ours,
		"OLD", strings.ReplaceAll(echoed, "2026-07-28", "2026-07-99"),
		"INCAPABLE", strings.Replace(echoed, `,"io.modelcontextprotocol/clientCapabilities":{}`, "", 1),
		"NULLED", strings.Replace(ours, `clientCapabilities":{}`, `clientCapabilities":null`, 1),
		"REQUEST x/none", modernRequest("x/none", ""), "REQUEST initialize", modernRequest("initialize", ""), "REQUEST ping", modernRequest("ping", "")),
		func() *client { return modernClient(t, url) })
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		client := modernClient(t, url)
		client.headers["Mcp-Protocol-Version"] = "2026-07-28"
		if s := client.send(t.Context(), method, ""); s.StatusCode != 405 || s.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %s %v", method, s.Status, s.Header)
		}
	}
}

func ok(context.Context, *wire.Exchange) (any, error) { return map[string]any{"fine": true}, nil }

func TestVersionError(t *testing.T) {
	c := modernClient(t, newFixture(t, wire.Config{}).serveHTTP(t))
	c.headers["Mcp-Protocol-Version"] = "v999"
	_, got := c.ask(strings.ReplaceAll(modernRequest("server/discover", ""), "2026-07-28", "v999"))
	var data struct {
		Supported []string
		Requested string
	}
	if got[0].Error == nil || json.Unmarshal(got[0].Error.Data, &data) != nil {
		t.Fatalf("%+v", got)
	}
	if data.Requested != "v999" || len(data.Supported) == 0 || data.Supported[0] != "2026-07-28" {
		t.Errorf("%+v", data)
	}
}

// validates sends the requests of a file of testdata: what is wrong; status, code; header fields, and the body.
func validates(t *testing.T, file string, words *strings.Replacer, dial func() *client) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file + ".txt")
	must(t, err)
	for line := range strings.Lines(words.Replace(string(data))) {
		v, c, code := strings.Split(strings.TrimSuffix(line, "\n"), "\t"), dial(), 0
		c.headers = map[string]string{}
		for field := range strings.SplitSeq(v[3], "|") {
			if name, value, ok := strings.Cut(field, ": "); ok {
				c.headers[name] = value
			}
		}
		status, got := c.ask(v[4])
		if len(got) > 0 && got[0].Error != nil {
			code = got[0].Error.Code
		}
		if fmt.Sprint(status, " ", code) != v[1]+" "+v[2] {
			t.Errorf("%s: %d %d, not %s %s: %+v", v[0], status, code, v[1], v[2], got)
		}
		if len(got) > 0 && strings.Contains(v[4], `"id":7,`) && string(got[0].ID) != "7" {
			t.Errorf("%s: the id is %s", v[0], got[0].ID)
		}
	}
}

func TestLegacyValidation(t *testing.T) {
	c := sessionClient(t, newFixture(t, wire.Config{}).serveHTTP(t))
	validates(t, "legacy", strings.NewReplacer("PING", ping, "BYTE", "\xff"), func() *client { return c })
	c.headers = map[string]string{"Accept": "application/json"}
	if s := c.send(t.Context(), http.MethodGet, ""); s.StatusCode != http.StatusNotAcceptable {
		t.Error(s.Status)
	}
	if s := c.send(t.Context(), http.MethodPut, ""); s.StatusCode != 405 || s.Header.Get("Allow") != "POST, GET, DELETE" {
		t.Errorf("%s %v", s.Status, s.Header)
	}
}

// What a method of ours answers has for a modern client what all results there have, and errors their status.
func TestMethods(t *testing.T) {
	f := newFixture(t, wire.Config{Methods: map[string]wire.Method{
		"x/ok": ok,
		"x/set": func(context.Context, *wire.Exchange) (any, error) {
			return json.RawMessage(`{"resultType":"task","_meta":{"a":1}}`), nil
		},
		"x/fail": func(context.Context, *wire.Exchange) (any, error) {
			return nil, fmt.Errorf("as said: %w", &wire.Error{Code: -32602, Message: "which one?"})
		},
		"x/broken": func(context.Context, *wire.Exchange) (any, error) { return nil, errors.New("the secret is 42") },
		"x/panic":  func(context.Context, *wire.Exchange) (any, error) { panic("the secret is 42") },
		"x/nojson": func(context.Context, *wire.Exchange) (any, error) { return make(chan int), nil },
	}})
	url := f.serveHTTP(t)
	modern, session, stdio := modernClient(t, url), sessionClient(t, url), f.serveStdio(t)
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1"}`
	for method, want := range map[string]struct {
		modern, legacy string
		status         int
	}{
		"x/ok":     {`{"_meta":{` + info + `},"fine":true,"resultType":"complete"}`, `{"fine":true}`, 200},
		"x/set":    {`{"_meta":{"a":1,` + info + `},"resultType":"task"}`, `{"resultType":"task","_meta":{"a":1}}`, 200},
		"x/fail":   {"which one?", "which one?", 400},
		"x/broken": {"internal error", "internal error", 200},
		"x/panic":  {"internal error", "internal error", 200},
		"x/nojson": {"internal error", "internal error", 200},
	} {
		status, got := modern.ask(modernRequest(method, ""))
		stdio.send(modernRequest(method, ""))
		for _, m := range []message{got[0], stdio.next()} {
			if said(m) != want.modern {
				t.Errorf("%s: %s", method, said(m))
			}
		}
		if status != want.status {
			t.Errorf("%s: %d", method, status)
		}
		if _, got = session.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`); said(got[0]) != want.legacy {
			t.Errorf("%s: %s", method, said(got[0]))
		}
	}
	stdio.send(strings.ReplaceAll(modernRequest("x/ok", ""), "2026-07-28", "2027-01-01"))
	if m := stdio.next(); m.Error == nil || m.Error.Code != -32022 {
		t.Errorf("%+v", m)
	}
}

func said(m message) string {
	if m.Error != nil {
		return m.Error.Message
	}
	return string(m.Result)
}

// What a request says of its client is the request's alone.
func TestWhatTheClientSays(t *testing.T) {
	seen := make(chan *wire.Exchange, 1)
	f := newFixture(t, wire.Config{Methods: map[string]wire.Method{
		"x/see": func(_ context.Context, x *wire.Exchange) (any, error) { seen <- x; return nil, nil }}})
	url := f.serveHTTP(t)
	const declared = `{"elicitation":{},"extensions":{"x/tasks":{}}}`
	modernClient(t, url).ask(strings.Replace(modernRequest("x/see", ""), `Capabilities":{}`, `Capabilities":`+declared, 1))
	x := <-seen
	if !x.Modern() || x.Version() != "2026-07-28" || !x.Elicits() || !x.Extension("x/tasks") || x.Session() != nil {
		t.Errorf("%+v", x.Capabilities())
	}
	modernClient(t, url).ask(modernRequest("x/see", ""))
	if x = <-seen; x.Elicits() || x.Extension("x/tasks") {
		t.Errorf("%+v", x.Capabilities())
	}
	sessionClientAs(t, url, "", declared).ask(
		`{"jsonrpc":"2.0","id":"a","method":"x/see","params":{"k":[1],"_meta":{"progressToken":"\u0041"}}}`)
	if x = <-seen; x.Modern() || x.Version() != "2025-11-25" || !x.Elicits() || !x.Extension("x/tasks") ||
		x.Extension("y") {
		t.Errorf("%s %+v", x.Version(), x.Capabilities())
	}
	if string(x.ID()) != `"a"` || string(x.ProgressToken()) != `"\u0041"` ||
		!strings.HasPrefix(string(x.Params()), `{"k":[1],`) {
		t.Errorf("%s %s %s", x.ID(), x.ProgressToken(), x.Params())
	}
}
