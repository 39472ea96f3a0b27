package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// remote is a server over HTTP that speaks 2025-11-25, with sessions.
type remote struct {
	mu       sync.Mutex
	sessions int
	refusal  int         // status for a session that it has forgotten
	asks     chan string // questions on the stream of GET
	answers  chan string // to the server's questions, with the headers that matter
	canceled chan string
}

func (r *remote) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var got struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Cursor    string
			RequestID json.RawMessage
		}
	}
	body, _ := io.ReadAll(q.Body)
	_ = json.Unmarshal(body, &got)
	if q.Header.Get("Authorization") != "Bearer k1" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	session := fmt.Sprint("s", r.sessions)
	r.mu.Unlock()
	if got.Method != "initialize" && got.Method != "server/discover" && q.Header.Get("Mcp-Session-Id") != session {
		w.WriteHeader(r.refusal)
		fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	reply := func(result string) { fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, got.ID, result) }
	switch {
	case q.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		select {
		case ask := <-r.asks:
			fmt.Fprintf(w, "data: %s\n\n", ask)
			w.(http.Flusher).Flush()
			<-q.Context().Done()
		case <-q.Context().Done():
		}
	case got.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", session)
		reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"remote","version":"1"}}`)
	case got.Method == "tools/list" && got.Params.Cursor == "":
		reply(`{"nextCursor":"1","tools":[{"name":"old","inputSchema":{"type":"object"}}]}`)
	case got.Method == "tools/list":
		reply(`{"nextCursor":"","tools":[{"name":"aside","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}},{"name":"forget","inputSchema":{"type":"object"}},{"name":"form","inputSchema":{"type":"object"}},
			{"name":"hang","inputSchema":{"type":"object"}},{"name":"long","inputSchema":{"type":"object"}},
			{"name":"move","inputSchema":{"type":"object"}},{"name":"returns","inputSchema":{"type":"object"}},
			{"name":"whole","inputSchema":{"type":"object"}}]}`)
	case got.Method == "tools/call":
		r.call(w, q, got.Params.Name, reply)
	case got.Method == "" && q.Method == http.MethodPost:
		r.answers <- q.Header.Get("Mcp-Protocol-Version") + " " + string(body)
		w.WriteHeader(http.StatusAccepted)
	case got.Method == "notifications/cancelled":
		r.canceled <- string(got.Params.RequestID)
		w.WriteHeader(http.StatusAccepted)
	case len(got.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, got.ID)
	}
}

func (r *remote) call(w http.ResponseWriter, q *http.Request, tool string, reply func(string)) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(data string) {
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	switch tool {
	case "aside":
		r.asks <- `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Really?","requestedSchema":{"type":"object",` +
			`"properties":{"sure":{"type":"boolean"}}}}}`
		answer, _ := json.Marshal(<-r.answers)
		fmt.Fprint(w, "data: ")
		reply(`{"content":[{"type":"text","text":` + string(answer) + `}]}`)
		fmt.Fprint(w, "\n\n")
	case "ask":
		event(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Really?","requestedSchema":{"type":"object",` +
			`"properties":{"sure":{"type":"boolean"}}}}}`)
		answer, _ := json.Marshal(<-r.answers)
		fmt.Fprint(w, "data: ")
		reply(`{"content":[{"type":"text","text":` + string(answer) + `}]}`)
		fmt.Fprint(w, "\n\n")
	case "form":
		event(`{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object",` +
			`"properties":{"age":{"type":"integer","default":30},"name":{"type":"string","default":"Joe"},"note":{"type":"string"}}}}}`)
		answer, _ := json.Marshal(<-r.answers)
		fmt.Fprint(w, "data: ")
		reply(`{"content":[{"type":"text","text":` + string(answer) + `}]}`)
		fmt.Fprint(w, "\n\n")
	case "forget":
		r.mu.Lock()
		r.sessions++
		r.mu.Unlock()
		fmt.Fprint(w, "data: ")
		reply(`{"content":[]}`)
		fmt.Fprint(w, "\n\n")
	case "hang":
		event(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		<-q.Context().Done()
	case "long":
		for range 10 << 10 {
			fmt.Fprintf(w, "data: %s\n", strings.Repeat("x", 1<<10))
		}
	case "whole":
		w.Header().Set("Content-Type", "application/json")
		reply(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 9<<20) + `"}]}`)
	case "returns":
		event("\r\rdata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\rdata: \"params\":{}}\r\r")
		fmt.Fprint(w, "event: message\rdata: ")
		reply(`{"content":[{"type":"text","text":"went"}]}`)
		fmt.Fprint(w, "\r\r")
		w.(http.Flusher).Flush()
		<-q.Context().Done() // the stream stays open
	case "move":
		w.Header().Set("Location", "http://elsewhere.invalid/mcp")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

func TestRemote(t *testing.T) {
	r := &remote{asks: make(chan string), answers: make(chan string, 1), canceled: make(chan string, 1), refusal: http.StatusNotFound}
	web := httptest.NewServer(r)
	t.Cleanup(web.Close)
	at := source.Server{Name: "stub", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer k1"}, StartTimeout: time.Minute}
	_, tools := open(t, at)
	want := `2025-11-25 {"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"sure":true}}}`
	if got, err := call(t, tools["ask"], ""); got != want {
		t.Errorf("ask: %s, %v", got, err)
	}
	want = `2025-11-25 {"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"sure":true}}}`
	if got, err := call(t, tools["aside"], ""); got != want { // asked on the stream of GET
		t.Errorf("aside: %s, %v", got, err)
	}
	got, err := tools["form"].Call(t.Context(), source.Call{Arguments: json.RawMessage("{}"), // what a person leaves out has its default
		Ask: func(context.Context, messages.InputRequired) (json.RawMessage, error) {
			return json.RawMessage(`{"name":"Mia"}`), nil
		}})
	if want := `2025-11-25 {"jsonrpc":"2.0","id":8,"result":{"action":"accept","content":{"age":30,"name":"Mia"}}}`; got != want {
		t.Errorf("form: %s, %v", got, err)
	}
	for tool, want := range map[string]string{"long": "a message has more than 8 MiB or 1000 lines",
		"whole": "a message has more than 8 MiB or 1000 lines", "move": "redirects elsewhere"} {
		if got, err := call(t, tools[tool], ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", tool, got, err)
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	if _, err := tools["hang"].Call(ctx, source.Call{Arguments: json.RawMessage("{}")}); err == nil {
		t.Error("a canceled call has a result")
	}
	if id := <-r.canceled; id == "" {
		t.Error("the server is not told what is canceled")
	}

	// A server that has forgotten the session gets a new one before the call, whichever way it says so. Its list ends with
	// an empty cursor, and its events may end with carriage returns alone.
	for _, r.refusal = range []int{http.StatusNotFound, http.StatusBadRequest} {
		if _, err := call(t, tools["forget"], ""); err != nil {
			t.Error(err)
		}
		if got, err := call(t, tools["returns"], ""); got != "went" {
			t.Errorf("the call after %d: %q, %v", r.refusal, got, err)
		}
	}
	if tools["old"].Call == nil {
		t.Error("the first page is lost")
	}
}

// What a server's list has too much of, or no client understands, is left out, and said. Pages that never end bring nothing twice.
func TestLeftOut(t *testing.T) {
	var pages atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var got struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(q.Body).Decode(&got)
		w.Header().Set("Content-Type", "application/json")
		switch got.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}}`, got.ID)
		case "tools/list":
			all := []string{`null`, `{"name":"a\u202eb"}`, `{"name":"odd","description":5}`, `{"name":"any","inputSchema":true}`, `{"name":"big","inputSchema":{"type":"object","title":"` + strings.Repeat("x", 64<<10) + `"}}`}
			for i := range 500 {
				all = append(all, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s],"nextCursor":"%d"}}`, got.ID, strings.Join(all, ","), pages.Add(1))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(web.Close)
	src := source.New([]source.Server{{Name: "docs", URL: web.URL, StartTimeout: time.Minute}}, "1", nil)
	defer src.Close()
	list, err := src.Tools(t.Context())
	for _, want := range []string{"more than 500 tools", "tools such as big are left out"} {
		if err == nil || !strings.Contains(err.Error(), want) || len(list) != 500 {
			t.Errorf("%d tools, %v", len(list), err)
		}
	}
	g := source.NewGateway([]source.Server{{Name: "docs", URL: web.URL, StartTimeout: time.Minute}}, "1", source.Events{}, nil)
	defer g.Close()
	if all, err := g.List(t.Context(), "docs", source.Caller{}, "tools/list"); err != nil || len(all.Names) != 502 || string(all.Entries[0]) != `{"inputSchema":{"type":"object"},"name":"any"}` {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestUnauthorized(t *testing.T) {
	web := httptest.NewServer(&remote{})
	t.Cleanup(web.Close)
	src := source.New([]source.Server{{Name: "docs", URL: web.URL, StartTimeout: time.Minute}}, "1", nil)
	defer src.Close()
	_, err := src.Tools(t.Context())
	if messages.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), "put an Authorization header into its settings") {
		t.Errorf("%v", err)
	}
}

// A server is one of 2026-07-28 only if it says so. A refusal that names our version is asked again. A stream that an
// older server closes after an event id is resumed; if it has forgotten that stream, the call is not made again.
func TestVersions(t *testing.T) {
	const refusal = `"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}`
	for name, c := range map[string]struct {
		discovers    []string // what it answers to server/discover, one after the other
		legacy, gone bool
	}{
		"an empty answer":     {[]string{`"result":{}`}, true, false},
		"only older versions": {[]string{`"result":{"supportedVersions":["2025-11-25"],"capabilities":{"tools":{}}}`}, true, true},
		"ours":                {[]string{`"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`}, false, false},
		"a refusal of ours":   {[]string{refusal, `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`}, false, false},
		"it refuses for ever": {[]string{refusal, refusal, refusal}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var called json.RawMessage
			legacy := false
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				var got struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.NewDecoder(q.Body).Decode(&got)
				w.Header().Set("Content-Type", "application/json")
				const result = `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":"went"}]}}`
				switch {
				case q.Method == http.MethodGet && q.Header.Get("Last-Event-ID") == "e1" && c.gone, got.Method == "tools/call" && called != nil:
					w.WriteHeader(http.StatusNotFound)
				case q.Method == http.MethodGet && q.Header.Get("Last-Event-ID") == "e1":
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "data: "+result+"\n\n", called)
				case q.Method == http.MethodGet && !c.legacy:
					t.Error("a server of 2026-07-28 has no stream of GET")
				case q.Method == http.MethodGet:
					w.WriteHeader(http.StatusNotAcceptable) // it has none either
				case got.Method == "server/discover":
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, got.ID, c.discovers[0])
					c.discovers = c.discovers[1:]
				case got.Method == "initialize":
					legacy = true
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}}`, got.ID)
				case got.Method == "tools/list":
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[{"name":"go","inputSchema":{"type":"object"}}]}}`, got.ID)
				case got.Method == "tools/call" && legacy:
					called = got.ID
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "id: e1\nretry: 10\ndata: \n\n")
				case got.Method == "tools/call":
					fmt.Fprintf(w, result, got.ID)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
			}))
			t.Cleanup(web.Close)
			_, tools := open(t, source.Server{Name: "stub", URL: web.URL, StartTimeout: time.Minute})
			got, err := call(t, tools["go"], "")
			if ends := messages.CodeOf(err) == messages.CauseTransportClosed; ends != c.gone || !ends && got != "went" || legacy != c.legacy {
				t.Errorf("legacy %v: %q, %v", legacy, got, err)
			}
		})
	}
}
