package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// bubble is the API behind a gate on pipes, in a bubble of virtual time.
func bubble(t *testing.T, test func(submit func(input string) messages.RunID, dial func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		system := newSystem(t)
		entrance, err := auth.New(auth.Config{Rate: -1})
		if err != nil {
			t.Fatal(err)
		}
		dial := inBubble(t, ctx, entrance.Wrap(newAPI(system)))
		test(func(input string) messages.RunID {
			id, err := system.Submit(ctx, messages.Request{Job: "tell", Input: json.RawMessage(input)})
			if err != nil {
				t.Fatal(err)
			}
			return id
		}, dial)
		stop()
		synctest.Wait()
		done, cancel := context.WithCancel(context.Background())
		cancel() // runs that hang are cancelled
		_ = system.Close(done)
		time.Sleep(2 * time.Minute) // what the runtime's library started in the background ends
	})
}

// write writes without waiting for the server to read it.
func write(c net.Conn, text string) { go func() { _, _ = io.WriteString(c, text) }() }

const events = " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"

func TestBodiesAreBounded(t *testing.T) {
	entrance, err := auth.New(auth.Config{MaxBody: 3 << 20})
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body) // the server may close early
		response.Body.Close()
		if code, _ := (answer{response, string(text)}).problem(); response.StatusCode != 413 || code != "too_large" {
			t.Errorf("4 MiB %s: %s %s", name, response.Status, text)
		}
	}
}

// Slow senders lose their connection, and whoever has sent a request may read for as long as there is something.
func TestSlowBody(t *testing.T) {
	bubble(t, func(_ func(string) messages.RunID, dial func() net.Conn) {
		const post = "POST /v1/runs" + events + "Content-Type: application/json\r\nContent-Length: "
		slow, quick := dial(), dial()
		write(slow, post+"100\r\n\r\n{")
		write(quick, post+"36\r\n\r\n"+`{"job":"tell","input":{"hang":true}}`)
		heard := make(chan string)
		go func() {
			text, _ := io.ReadAll(quick) // until the server stops
			heard <- string(text)
		}()
		began := time.Now()
		text, err := io.ReadAll(slow)
		if took := time.Since(began); err != nil || took < time.Minute || took > time.Minute+time.Second ||
			!strings.Contains(string(text), `"bad_request"`) {
			t.Errorf("half a body: %v after %v, %s", err, took, text)
		}
		time.Sleep(time.Minute)
		select {
		case text := <-heard:
			t.Errorf("the stream of a POST was cut: %s", text)
		default:
			go func() { <-heard }()
		}
	})
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

// Readers that only wait cost the others nothing.
func TestIdleReaders(t *testing.T) {
	bubble(t, func(submit func(string) messages.RunID, dial func() net.Conn) {
		idle := submit(`{"hang":true}`)
		var readers sync.WaitGroup
		for range 2000 {
			c := dial()
			write(c, "GET /v1/runs/"+string(idle)+"/events"+events+"\r\n")
			readers.Go(func() { _, _ = io.Copy(io.Discard, c) })
		}
		synctest.Wait()
		began := time.Now()
		c := dial()
		write(c, "GET /v1/runs/"+string(submit(`{"words":500}`))+"/events"+events+"\r\n")
		var lines []string
		for text := bufio.NewScanner(c); text.Scan() && text.Text() != "event: run.completed"; {
			if line, ok := strings.CutPrefix(text.Text(), "data: "); ok {
				lines = append(lines, line)
			}
		}
		words := strings.Count(fold(t, lines).state, "word ")
		if took := time.Since(began); words != 500 || took > time.Second {
			t.Errorf("%d words in %v beside 2,000 idle readers, want 500 at once", words, took)
		}
		_ = c.Close()
		go readers.Wait()
	})
}
