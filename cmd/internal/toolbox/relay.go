package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/lines"
	"github.com/seed889630bf/lastword/messages"
)

// mostMessage bounds a message, in bytes.
const mostMessage = 64 << 20

// relay passes the messages of one client to a server.
type relay struct {
	client     *http.Client
	url, token string
	mu         sync.Mutex // guards what is below
	out        io.Writer
	session    string
	version    string // of the session
}

// message is what the relay looks at in a message.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result struct{ ProtocolVersion string }
}

// Relay connects an MCP client that speaks over in and out with the MCP endpoint of lastword's server at the URL, or unix:PATH.
// It returns when ctx is done, or the client has ended and its requests are answered; for answers it waits as long as drain.
func Relay(ctx context.Context, server, token string, drain time.Duration, in io.Reader, out io.Writer) error {
	transport, server := dial.ServerTransport(server)
	r := &relay{client: dial.Named(transport), url: strings.TrimSuffix(server, "/") + command.MCPPath, token: token, out: out}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var reading, asked sync.WaitGroup
	ended := make(chan error, 1)
	reading.Go(func() {
		err := r.read(ctx, in, &asked)
		defer time.AfterFunc(drain, cancel).Stop()
		asked.Wait()
		ended <- err
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read passes on what the client says, until it ends. asked are its requests but those that listen.
func (r *relay) read(ctx context.Context, in io.Reader, asked *sync.WaitGroup) error {
	var listening sync.WaitGroup
	for from := lines.NewReader(in, mostMessage); ; {
		line, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m message
		_ = json.Unmarshal(line, &m) // the server says what is wrong
		switch {
		case m.Method == "initialize":
			r.pass(ctx, http.MethodPost, line, m)
			listening.Go(func() { r.pass(ctx, http.MethodGet, nil, message{}) }) // what the server says outside of requests
		case m.ID == nil, m.Method == "":
			r.pass(ctx, http.MethodPost, line, m) // in order
		case m.Method == "subscriptions/listen":
			listening.Go(func() { r.pass(ctx, http.MethodPost, line, m) })
		default:
			asked.Go(func() { r.pass(ctx, http.MethodPost, line, m) })
		}
	}
}

// pass sends a message, and passes on what the server answers. A request always gets an answer.
func (r *relay) pass(ctx context.Context, method string, line []byte, m message) {
	answered, err := r.exchange(ctx, method, line, m)
	if m.ID == nil || m.Method == "" || answered {
		return
	}
	if err == nil {
		err = messages.Errorf(messages.CauseTransportClosed, "the connection ended before the answer")
	}
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": mcp.INTERNAL_ERROR, "message": "lastword's server: " + err.Error()}})
	r.say(text)
}

func (r *relay) exchange(ctx context.Context, method string, line []byte, m message) (answered bool, err error) {
	q, err := http.NewRequestWithContext(ctx, method, r.url, bytes.NewReader(line))
	if err != nil {
		return false, err
	}
	var meta struct {
		Meta *mcp.Meta `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &meta) // there may be none
	r.mu.Lock()
	session, version := r.session, r.version
	r.mu.Unlock()
	if declared := meta.Meta.ProtocolVersion(); declared != "" {
		session, version = "", declared
		for name, value := range mcp.StandardHeaders(declared, mcp.MCPMethod(m.Method), m.Params) {
			q.Header.Set(name, value)
		}
	}
	for name, value := range map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		mcp.HeaderSessionID: session, mcp.HeaderProtocolVersion: version, "Authorization": "Bearer " + r.token} {
		if strings.TrimPrefix(value, "Bearer ") != "" {
			q.Header.Set(name, value)
		}
	}
	answer, err := r.client.Do(q)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	stream := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream")
	for body := lines.NewReader(answer.Body, mostMessage); ; {
		text, err := body.Next()
		if err != nil {
			return answered, err
		}
		data, is := bytes.CutPrefix(text, []byte("data:"))
		var said message
		switch wrong := json.Unmarshal(data, &said); {
		case stream && !is:
			continue // another field of an event
		case wrong != nil && answer.StatusCode >= http.StatusBadRequest:
			return false, fmt.Errorf("%s: %s", answer.Status, messages.Bound(string(text), 1<<10))
		case wrong != nil:
			continue
		}
		if m.Method == "initialize" && said.Result.ProtocolVersion != "" {
			r.mu.Lock()
			r.session, r.version = answer.Header.Get(mcp.HeaderSessionID), said.Result.ProtocolVersion
			r.mu.Unlock()
		}
		answered = answered || said.Method == "" && bytes.Equal(said.ID, m.ID)
		r.say(bytes.TrimSpace(data))
	}
}

func (r *relay) say(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.out.Write(append(text, '\n')) // a client that has left has closed stdin, too
}
