package http_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// guarded is a world behind a gate that asks for tokens; it returns them by name: ann, bob, and reader who may not write.
func guarded(t *testing.T) (*world, map[string]string, string) {
	t.Helper()
	file, tokens := filepath.Join(t.TempDir(), "tokens"), map[string]string{}
	var lines strings.Builder
	for name, scopes := range map[string][]auth.Scope{"ann": {auth.ReadRuns, auth.WriteRuns},
		"bob": {auth.ReadRuns, auth.WriteRuns}, "reader": {auth.ReadRuns}, "writer": {auth.WriteRuns}} {
		token, digest := auth.NewToken()
		line, err := auth.Line(name, scopes, digest)
		must(t, err)
		tokens[name] = token
		lines.WriteString(line + "\n")
	}
	must(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	list, err := auth.LoadTokens(file)
	must(t, err)
	entrance, err := auth.New(auth.Config{Tokens: list, Rate: -1})
	must(t, err)
	system := newSystem(t)
	server := httptest.NewServer(entrance.Wrap(newAPI(system)))
	t.Cleanup(server.Close)
	return &world{t: t, url: server.URL, system: system, server: server}, tokens, file
}

// DESIGN 9: "a run is visible to its principal alone (404 to others); Origin and Host are checked everywhere". The
// operations are the operations of the OpenAPI document.
func TestEveryOperationIsGuarded(t *testing.T) {
	w, tokens, _ := guarded(t)
	var document struct {
		Paths map[string]map[string]struct {
			Description string
			RequestBody any
		}
	}
	ann := []string{"Authorization", "Bearer " + tokens["ann"]}
	if got := w.call("GET", "/openapi.json", "", ann...); json.Unmarshal([]byte(got.body), &document) != nil {
		t.Fatal(got.body)
	}
	got := w.call("POST", "/v1/runs", `{"job":"tell","input":{"hang":true}}`, ann...)
	run, n := strings.TrimPrefix(got.Header.Get("Location"), "/v1/runs/"), 0
	for path, operations := range document.Paths {
		at := strings.NewReplacer("{id}", run, "{request}", "loud", "{name}", "tell").Replace(path)
		for method, operation := range operations {
			n++
			method, body := strings.ToUpper(method), ""
			if operation.RequestBody != nil {
				body = `{"job":"tell","value":1}`
				if strings.HasSuffix(path, "/cancel") || strings.HasSuffix(path, "/move") {
					body = `{}`
				}
				if strings.HasSuffix(path, "/input/{request}") {
					body = `{"value":1}`
				}
				if strings.HasSuffix(path, "/messages") {
					body = `{"content":"x"}`
				}
				if path == "/v1/runs" {
					body = `{"job":"tell"}`
				}
			}
			without := "writer"
			if strings.Contains(operation.Description, string(auth.WriteRuns)) {
				without = "reader"
			}
			for name, c := range map[string]struct {
				status int
				header []string
			}{
				"no token":      {401, nil},
				"wrong token":   {401, []string{"Authorization", "Bearer wrong"}},
				"missing scope": {403, []string{"Authorization", "Bearer " + tokens[without]}},
				"foreign page":  {403, append([]string{"Origin", "https://evil.example"}, ann...)},
			} {
				if got := w.call(method, at, body, c.header...); got.StatusCode != c.status &&
					(name != "wrong token" || got.StatusCode != 429) { // too many of them
					t.Errorf("%s %s, %s: %s, want %d: %s", method, path, name, got.Status, c.status, got.body)
				} else if name == "missing scope" && !strings.Contains(got.Header.Get("WWW-Authenticate"), "insufficient_scope") {
					t.Errorf("%s %s without the scope: %v", method, path, got.Header)
				}
			}
			if !strings.Contains(path, "{id}") {
				continue
			}
			got := w.call(method, at, body, "Authorization", "Bearer "+tokens["bob"])
			if code, _ := got.problem(); got.StatusCode != 404 || code != "not_found" {
				t.Errorf("%s %s of another's run: %s %s", method, path, got.Status, got.body)
			}
		}
	}
	if n < 14 {
		t.Errorf("the document has %d operations", n)
	}
	if got := w.call("GET", "/v1/runs", "", "Host", "rebound.example", "Authorization", ann[1]); got.StatusCode != 403 {
		t.Errorf("a rebound host: %s", got.Status)
	}
	if got := w.call("GET", "/v1/runs", "", "Authorization", "Bearer "+tokens["bob"]); strings.Contains(got.body, run) {
		t.Errorf("bob's list has ann's run: %s", got.body)
	}
}

// A browser's EventSource cannot send a token. On pages of this server it sends the cookie of a session instead.
func TestSession(t *testing.T) {
	w, tokens, _ := guarded(t)
	opened := w.call("POST", "/v1/session", "", "Authorization", "Bearer "+tokens["ann"])
	cookies := opened.Cookies()
	if opened.StatusCode != 204 || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%s %v", opened.Status, cookies)
	}
	cookie := cookies[0].Name + "=" + cookies[0].Value
	if strings.Contains(cookie, tokens["ann"]) || !strings.HasPrefix(cookie, auth.SessionCookie) {
		t.Errorf("the cookie is %s", cookie)
	}
	for name, c := range map[string]struct {
		status int
		header []string
	}{
		"own page":                            {200, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}},
		"old browser":                         {200, []string{"Cookie", cookie}},
		"foreign page":                        {401, []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}},
		"page of another port, by its site":   {401, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}},
		"page of another port, by its origin": {401, []string{"Cookie", cookie, "Origin", "http://localhost:1"}},
		"wrong cookie":                        {401, []string{"Cookie", cookies[0].Name + "=wrong"}},
	} {
		if got := w.call("GET", "/v1/runs", "", c.header...); got.StatusCode != c.status {
			t.Errorf("%s: %s, want %d", name, got.Status, c.status)
		}
	}
	socket := w.dial("Cookie", cookie)
	w.send(socket, `{"op":"start","id":"a","start":{"job":"echo"}}`)
	if got := w.receive(socket); !strings.Contains(string(got.Problem), "forbidden") {
		t.Errorf("a page that nobody knows starts a run: %s", got.Problem)
	}
	if other := w.call("DELETE", "/v1/session", "", "Cookie", cookie); other.StatusCode != 401 {
		t.Errorf("somebody who does not say where he is from ends the session: %s", other.Status)
	}
	if closed := w.call("DELETE", "/v1/session", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); len(closed.Cookies()) != 1 || closed.Cookies()[0].MaxAge >= 0 {
		t.Errorf("the session's end: %s %v", closed.Status, closed.Cookies())
	}
	if got := w.call("GET", "/v1/runs", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); got.StatusCode != 401 {
		t.Errorf("after its end the session reads on: %s", got.Status)
	}
}

// inBubble serves the API on pipes, so that virtual time passes over its connections.
func inBubble(t *testing.T, ctx context.Context, handler http.Handler) *standin.Network {
	t.Helper()
	network, done := standin.NewNetwork(), make(chan struct{})
	go func() { defer close(done); _ = server.Serve(ctx, network, handler, server.Limits{Drain: time.Minute}) }()
	t.Cleanup(func() { <-done })
	return network
}

// A silent stream says every 15 s that it lives, and a stopping server tells its readers to come back with their cursor.
func TestHeartbeatAndDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		system := newSystem(t)
		network := inBubble(t, ctx, newAPI(system))
		id, err := system.Submit(ctx, messages.Request{Job: "tell", Input: json.RawMessage(`{"hang":true}`)})
		must(t, err)
		c, err := network.Dial(ctx, "", "")
		must(t, err)
		go func() {
			_, _ = io.WriteString(c, "GET /v1/runs/"+string(id)+"/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
		}()
		got := make(chan string, 1)
		go func() { data, _ := io.ReadAll(c); got <- string(data) }()
		socket, _, err := websocket.Dial(ctx, "ws://localhost/v1/ws", &websocket.DialOptions{HTTPClient: &http.Client{
			Transport: &http.Transport{DialContext: network.Dial}}})
		must(t, err)
		closed := make(chan error, 1)
		go func() { _, _, err := socket.Read(context.Background()); closed <- err }()
		time.Sleep(46 * time.Second)
		stop()
		text := <-got
		if n := strings.Count(text, "\n:\n\n"); n != 3 {
			t.Errorf("%d heartbeats in 46 s, want 3: %q", n, text)
		}
		if !strings.Contains(text, "event: draining\ndata: ") || !strings.Contains(text, "cursor 3") {
			t.Errorf("the stream ended with %q", text)
		}
		if err := <-closed; websocket.CloseStatus(err) != websocket.StatusServiceRestart {
			t.Errorf("the WebSocket ended with %v", err)
		}
		must(t, system.Cancel(context.Background(), id, "", ""))
		synctest.Wait()
		_ = system.Close(context.Background())
		time.Sleep(time.Minute) // what the runtime's library started in the background ends
	})
}

// A revoked token's stream ends within 2 s.
func TestRevokedToken(t *testing.T) {
	w, tokens, file := guarded(t)
	got := w.call("POST", "/v1/runs", `{"job":"tell","input":{"hang":true}}`, "Authorization", "Bearer "+tokens["ann"])
	stream := w.open(t.Context(), "GET", got.Header.Get("Location")+"/events", "", "Authorization", "Bearer "+tokens["ann"],
		"Accept", "text/event-stream")
	defer stream.Body.Close()
	must(t, os.WriteFile(file, []byte("# nobody\n"), 0o600))
	text, err := io.ReadAll(stream.Body)
	if err != nil || !strings.Contains(string(text), `"code":"unauthorized"`) {
		t.Errorf("the stream of a revoked token ended with %v: %s", err, text)
	}
}
