package http_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

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
		want    websocket.StatusCode
	}{
		"a huge frame":   {websocket.MessageText, strings.Repeat("x", 2<<20), websocket.StatusMessageTooBig},
		"a binary frame": {websocket.MessageBinary, `{"op":"ack"}`, websocket.StatusUnsupportedData},
	} {
		socket := w.dial()
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
