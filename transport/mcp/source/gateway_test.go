package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// opened says on ready that the server says unasked, or has acknowledged, what has changed.
type opened struct {
	http.ResponseWriter
	unasked bool
	ready   chan string
}

func (o opened) Write(text []byte) (int, error) {
	n, err := o.ResponseWriter.Write(text)
	if bytes.Contains(text, []byte("subscriptions/acknowledged")) {
		o.ready <- string(text)
	}
	return n, err
}

func (o opened) Flush() {
	o.ResponseWriter.(http.Flusher).Flush()
	if o.unasked {
		select {
		case o.ready <- "":
		default:
		}
	}
}

// A server of either era that says that its list has changed is asked for it anew. One of 2026-07-28 says so only on request,
// and also for resources.
func TestGatewayHearsOfChanges(t *testing.T) {
	for _, capabilities := range []string{`{"sessions":true}`, `{}`} {
		lib := server.NewMCPServer("lib", "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
		lib.AddTool(mcp.NewTool("first"), nil)
		ready, changed := make(chan string, 1), make(chan string, 1)
		handler := server.NewStreamableHTTPServer(lib)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler.ServeHTTP(opened{w, r.Method == http.MethodGet, ready}, r)
		}))
		g := source.NewGateway([]source.Server{{Name: "s", URL: web.URL + "/mcp", StartTimeout: time.Minute}}, "1", source.Events{
			Changed: func(method, uri string) { changed <- method + uri }}, nil)
		caller := source.Caller{Capabilities: []byte(capabilities)}
		tools := func(want int) {
			t.Helper()
			list, err := g.List(t.Context(), "s", caller, "tools/list")
			if err != nil || len(list.Names) != want {
				t.Errorf("%s: %v, %v", capabilities, list, err)
			}
			if again, _ := g.List(t.Context(), "s", caller, "tools/list"); again != list {
				t.Errorf("%s: it is made again, and nothing is new", capabilities)
			}
		}
		tools(1)
		<-ready
		lib.AddTool(mcp.NewTool("second"), nil)
		if got := <-changed; got != mcp.MethodNotificationToolsListChanged {
			t.Errorf("%s: it hears of %s", capabilities, got)
		}
		tools(2)
		if capabilities == `{}` {
			_, err := g.Pass(t.Context(), "s", caller, "resources/subscribe", []byte(`{"uri":"a:b"}`))
			must(t, err)
			if got := <-ready; !strings.Contains(got, "a:b") {
				t.Errorf("it is told %s", got)
			}
		}
		g.Close()
		web.CloseClientConnections()
		web.Close()
	}
}

// Lists wait two seconds for a server that starts late, if another has listed. Changed tells when it has come.
func TestLateListsComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, changed := 5*time.Second, make(chan string, 2)
		serves := func(name string, pause *time.Duration) source.Server {
			hooks := &server.Hooks{}
			hooks.AddBeforeListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest) {
				ctx, stop := context.WithTimeout(ctx, *pause)
				defer stop()
				<-ctx.Done()
			})
			lib := server.NewMCPServer(name, "1", server.WithHooks(hooks))
			lib.AddTool(mcp.NewTool(name), nil)
			return source.Server{Name: name, Local: lib, StartTimeout: 30 * time.Second}
		}
		g := source.NewGateway([]source.Server{serves("late", &slow), serves("good", new(time.Duration))}, "1",
			source.Events{Changed: func(method, _ string) { changed <- method }}, nil)
		defer g.Close()
		looks := func(least int, want string, after time.Duration) {
			t.Helper()
			begun, got := time.Now(), ""
			for _, list := range g.Lists(t.Context(), source.Caller{}, "tools/list", 2*time.Second, least) {
				if list != nil {
					got += strings.Join(list.Names, " ") + ";"
				}
			}
			if took := time.Since(begun); got != want || took != after {
				t.Errorf("%q after %s, not %q after %s", got, took, want, after)
			}
		}
		looks(1, "good;", 2*time.Second)
		looks(1, "good;", 0)
		looks(2, "late;good;", 3*time.Second)
		if got := <-changed; got != mcp.MethodNotificationToolsListChanged {
			t.Errorf("it hears of %s", got)
		}
		time.Sleep(2 * time.Minute) // the lists are old: the last one stands in for the late one
		looks(1, "late;good;", 2*time.Second)
	})
}

// A server hears that a client does not know what it has not declared, and otherwise with which error the client refuses.
func TestClientsRefusalsPass(t *testing.T) {
	g := source.NewGateway([]source.Server{stdio(t, "legacy")}, "1", source.Events{
		Ask: func(context.Context, string, string, string, json.RawMessage) (json.RawMessage, error) {
			return nil, &source.RPCError{Code: -1, Message: "rejected", Data: []byte(`[1]`)}
		}}, nil)
	defer g.Close()
	for _, c := range []struct{ declared, method, want string }{
		{`{}`, "sampling/createMessage", `"code":-32601`}, {`{}`, "roots/list", `"code":-32601`}, {`{}`, "elicitation/create", `"code":-32601`},
		{`{"sampling":{}}`, "sampling/createMessage", `{"code":-1,"message":"rejected","data":[1]}`},
		{`{"roots":{}}`, "roots/list", `{"code":-1,"message":"rejected","data":[1]}`},
		{`{"sampling":{}}`, "unknown", `"code":-32601`}, {`{}`, "ping", `{}`},
	} {
		raw, err := g.Call(t.Context(), "stub", "asks", source.Caller{Capabilities: []byte(c.declared)}, source.Call{
			Arguments: fmt.Appendf(nil, `{"text":%q}`, c.method), Note: func(string, map[string]any) {}})
		var got struct{ Content []struct{ Text string } }
		if err != nil || json.Unmarshal(raw, &got) != nil || !strings.Contains(got.Content[0].Text, c.want) {
			t.Errorf("%+v: %s, %v", c, raw, err)
		}
	}
}

// What a client has set lasts longer than the server's memory of it: the level of log messages, and subscriptions.
func TestSettingsOutliveAServer(t *testing.T) {
	told, hooks := make(chan string, 9), &server.Hooks{}
	hooks.AddBeforeSetLevel(func(_ context.Context, _ any, r *mcp.SetLevelRequest) { told <- string(r.Params.Level) })
	hooks.AddBeforeAny(func(_ context.Context, _ any, method mcp.MCPMethod, message any) {
		if r, is := message.(*mcp.SubscribeRequest); is {
			told <- r.Params.URI
		}
	})
	lib := server.NewMCPServer("lib", "1", server.WithLogging(), server.WithResourceCapabilities(true, true), server.WithHooks(hooks))
	var last, forgotten atomic.Value // sessions
	handler := server.NewStreamableHTTPServer(lib)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get(server.HeaderKeySessionID); id != "" && id == forgotten.Load() {
			w.WriteHeader(http.StatusNotFound)
		} else {
			last.Store(id)
			handler.ServeHTTP(w, r)
		}
	}))
	defer web.Close()
	defer web.CloseClientConnections()
	g := source.NewGateway([]source.Server{{Name: "s", URL: web.URL + "/mcp", StartTimeout: time.Minute}}, "1", source.Events{}, nil)
	defer g.Close()
	caller := source.Caller{Capabilities: []byte(`{"sessions":true}`)}
	for _, r := range [][2]string{{"logging/setLevel", `{"level":"info"}`}, {"logging/setLevel", `{"level":"error"}`}, {"resources/subscribe", `{"uri":"a:b"}`},
		{"resources/subscribe", `{"uri":"c:d"}`}, {"resources/unsubscribe", `{"uri":"c:d"}`}} {
		if _, err := g.Pass(t.Context(), "s", caller, r[0], []byte(r[1])); err != nil {
			t.Fatalf("%v: %v", r, err)
		}
	}
	for len(told) > 0 {
		<-told
	}
	forgotten.Store(last.Load())
	_, err := g.Pass(t.Context(), "s", caller, "resources/list", nil)
	must(t, err)
	again := []string{}
	for len(told) > 0 {
		again = append(again, <-told)
	}
	if slices.Sort(again); !slices.Equal(again, []string{"a:b", "error"}) {
		t.Errorf("it is told %q again", again)
	}
}
