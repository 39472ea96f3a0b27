package http_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// "Streams are compressed when asked", and JSON and texts over 1 KiB; never a range.
func TestCompression(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":100,"file":true}`)
	w.until(id, messages.KindRunCompleted)
	run := "/v1/runs/" + string(id)
	tag := `"` + file.SHA256 + `"`
	for name, c := range map[string]struct {
		method, path string
		header       []string
		coding, etag string
		status       int
	}{
		"JSON of the framework":  {"GET", "/openapi.json", nil, "gzip", "", 200},
		"a page of events":       {"GET", run + "/events", nil, "gzip", `W/"`, 200},
		"a file":                 {"GET", run + "/artifacts/told.txt", nil, "gzip", "W/" + tag, 200},
		"a file that is known":   {"GET", run + "/artifacts/told.txt", []string{"If-None-Match", "W/" + tag}, "", tag, 304},
		"a range":                {"GET", run + "/artifacts/told.txt", []string{"Range", "bytes=5-2000"}, "", tag, 206},
		"the header alone":       {"HEAD", run + "/artifacts/told.txt", nil, "", tag, 200},
		"a small answer":         {"GET", "/v1/jobs", nil, "", "", 200},
		"no answer":              {"DELETE", "/v1/session", nil, "", "", 204},
		"a failure":              {"GET", "/v1/runs/r_unknown", nil, "", "", 404},
		"server-sent events":     {"GET", run + "/events", []string{"Accept", "text/event-stream"}, "gzip", "", 200},
		"JSON lines":             {"GET", run + "/events", []string{"Accept", "application/x-ndjson"}, "gzip", "", 200},
		"gzip is refused":        {"GET", "/openapi.json", []string{"Accept-Encoding", "br, gzip;q=0"}, "", "", 200},
		"gzip is taken too":      {"GET", "/openapi.json", []string{"Accept-Encoding", "br, GZIP; q=0.5"}, "gzip", "", 200},
		"only identity is taken": {"GET", "/openapi.json", []string{"Accept-Encoding", "identity"}, "", "", 200},
	} {
		response := w.open(t.Context(), c.method, c.path, "", append([]string{"Accept-Encoding", "gzip"}, c.header...)...)
		h := response.Header
		if response.StatusCode != c.status || h.Get("Content-Encoding") != c.coding || !strings.HasPrefix(h.Get("ETag"), c.etag) ||
			!strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: %s %v; want %d %q %s", name, response.Status, h, c.status, c.coding, c.etag)
		}
		var body io.Reader = response.Body
		if c.coding != "" {
			opened, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(name, err)
			}
			body = opened
		}
		text, err := io.ReadAll(body)
		if err != nil || name == "a file" && string(text) != told || name == "a range" && string(text) != told[5:2001] {
			t.Errorf("%s: %v, %d bytes", name, err, len(text))
		}
		response.Body.Close()
	}
	if got := w.call("GET", run, "", "If-None-Match", w.call("GET", run, "").Header.Get("ETag")); got.StatusCode != http.StatusNotModified {
		t.Errorf("a State that is known: %s", got.Status)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	entrance, err := auth.New(auth.Config{MaxBody: 3 << 20})
	must(t, err)
	system := newSystem(t)
	server := httptest.NewServer(entrance.Wrap(newAPI(system)))
	t.Cleanup(server.Close)
	w := &world{t: t, url: server.URL, system: system, server: server}
	body := func(size int) string { return `{"job":"tell"` + strings.Repeat(" ", size) + `}` }
	if got := w.call("POST", "/v1/runs", body(2<<20)); got.StatusCode != http.StatusAccepted {
		t.Errorf("2 MiB: %s %s", got.Status, got.body)
	}
	for name, content := range map[string]io.Reader{"of known length": strings.NewReader(body(4 << 20)),
		"of unknown length": io.MultiReader(strings.NewReader(body(4 << 20)))} {
		response, err := http.Post(w.url+"/v1/runs", "application/json", content)
		must(t, err)
		text, _ := io.ReadAll(response.Body) // the server may close early
		response.Body.Close()
		if code, _ := (answer{response, string(text)}).problem(); response.StatusCode != 413 || code != "too_large" {
			t.Errorf("4 MiB %s: %s %s", name, response.Status, text)
		}
	}
}

func TestWebSocketLimits(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		kind    websocket.MessageType
		message string
		packed  websocket.CompressionMode
		want    websocket.StatusCode
	}{
		"a huge frame":             {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.CompressionDisabled, websocket.StatusMessageTooBig},
		"a packed frame":           {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.CompressionContextTakeover, websocket.StatusMessageTooBig},
		"a frame packed by itself": {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.CompressionNoContextTakeover, websocket.StatusMessageTooBig},
		"a binary frame":           {websocket.MessageBinary, `{"op":"ack"}`, websocket.CompressionDisabled, websocket.StatusUnsupportedData},
	} {
		socket, response, err := websocket.Dial(t.Context(), w.url+"/v1/ws", &websocket.DialOptions{CompressionMode: c.packed})
		must(t, err)
		if packed := response.Header.Get("Sec-WebSocket-Extensions") != ""; packed != (c.packed != websocket.CompressionDisabled) {
			t.Errorf("%s: %v", name, response.Header)
		}
		_ = socket.Write(t.Context(), c.kind, []byte(c.message)) // the server may close before it has read all
		if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != c.want {
			t.Errorf("%s: %v, want %d", name, err, c.want)
		}
		_ = socket.CloseNow()
	}
	guarded, tokens, _ := guarded(t)
	for origin, want := range map[string]int{"https://evil.example": 403, "null": 403, guarded.url: 101} {
		socket, response, err := websocket.Dial(t.Context(), guarded.url+"/v1/ws", &websocket.DialOptions{
			HTTPHeader: http.Header{"Origin": {origin}, "Authorization": {"Bearer " + tokens["ann"]}}})
		if response == nil || response.StatusCode != want {
			t.Errorf("a page of %s: %v, %v", origin, response, err)
		}
		if err == nil {
			_ = socket.CloseNow()
		}
	}
}
