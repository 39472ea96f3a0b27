package erlmcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
)

// Client is a client of erlmcp in Go: it calls tools and gives their chunks to its handlers.
type Client struct {
	URL string
	// Chunk gets the chunks in their order, and Complete, Error or Cancelled the end. All but Chunk may be nil.
	Chunk     func(stream string, number int, data json.RawMessage)
	Complete  func(stream string, result json.RawMessage)
	Error     func(stream, code, message string)
	Cancelled func(stream string)
}

// errNoEnd says that the connection was cut: nobody knows how the run ended, until somebody subscribes again.
var errNoEnd = errors.New("the stream has no end")

// CallTool calls a tool with stream: true, and returns after the end of the stream.
func (c Client) CallTool(ctx context.Context, name string, arguments any) error {
	return c.call(ctx, "tools/call", map[string]any{"name": name, "arguments": arguments, "stream": true})
}

// Subscribe reads a stream that another call began, from its first chunk.
func (c Client) Subscribe(ctx context.Context, stream string) error {
	return c.call(ctx, "stream/subscribe", map[string]any{"streamId": stream})
}

func (c Client) call(ctx context.Context, method string, params any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if lines.Text() == "" { // a heartbeat
			continue
		}
		ended, err := c.handle(lines.Bytes())
		if ended || err != nil {
			return err
		}
	}
	return errors.Join(errNoEnd, lines.Err())
}

// handle handles one message, and reports whether it is the last.
func (c Client) handle(line []byte) (ended bool, err error) {
	var m struct {
		Error  *struct{ Message string }
		Method string
		Params struct {
			Stream string `json:"streamId"`
			Number int    `json:"chunk_num"`
			Data   json.RawMessage
			Result json.RawMessage
			Error  struct{ Code, Message string }
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return false, err
	}
	p := m.Params
	switch {
	case m.Error != nil:
		return true, errors.New(m.Error.Message)
	case m.Method == "stream_chunk":
		c.Chunk(p.Stream, p.Number, p.Data)
	case m.Method == "stream_complete" && c.Complete != nil:
		c.Complete(p.Stream, p.Result)
	case m.Method == "stream_error" && c.Error != nil:
		c.Error(p.Stream, p.Error.Code, p.Error.Message)
	case m.Method == "stream_cancelled" && c.Cancelled != nil:
		c.Cancelled(p.Stream)
	}
	return m.Method == "stream_complete" || m.Method == "stream_error" || m.Method == "stream_cancelled", nil
}

// A page of Go is a client with chunk handlers, as erlmcp's own is to become.
func Example() {
	handler := erlmcp.New(door.New(door.Config{Runs: &stories.Teller{}, Jobs: []messages.JobInfo{{Name: "prompt"}}}))
	server := httptest.NewServer(handler)
	defer server.Close()
	client := Client{
		URL:      server.URL + erlmcp.Path,
		Chunk:    func(_ string, number int, data json.RawMessage) { fmt.Println(number, string(data)) },
		Complete: func(string, json.RawMessage) { fmt.Println("complete") },
		Error:    func(_, code, _ string) { fmt.Println("failed:", code) },
	}
	for _, story := range []string{"plain", "failure"} {
		if err := client.CallTool(context.Background(), "prompt", map[string]string{"text": story}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	// Output:
	// 1 "Hel"
	// 2 "lo, "
	// 3 "wörld 🌍"
	// complete
	// 1 "Hel"
	// failed: transport_closed
}
