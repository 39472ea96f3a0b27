package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// era is how a raw client speaks: with a session, or by itself in each request.
type era string

const (
	session era = "session" // up to 2025-11-25
	modern  era = "modern"  // 2026-07-28
)

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

// rawClient speaks MCP by hand, so that what it sees is what is on the wire.
type rawClient interface {
	// call calls the tool and gives each message of the answer, in order, to got; the result is the last it gives.
	call(id int, tool, arguments string, got func(message []byte)) error
}

// rawMessage is what the audit reads of a message.
type rawMessage struct {
	ID     *int            `json:"id"`
	Error  json.RawMessage `json:"error"`
	Result struct {
		IsError    bool          `json:"isError"`
		Structured *kitRunResult `json:"structuredContent"`
	} `json:"result"`
	Params struct {
		ProgressToken int     `json:"progressToken"`
		Progress      float64 `json:"progress"`
		Meta          struct {
			Event *seen `json:"io.github.seed889630bf.lastword/event"`
		} `json:"_meta"`
	} `json:"params"`
}

func callBody(e era, id int, tool, arguments string) []byte {
	meta := fmt.Sprintf(`"progressToken":%d`, id)
	if e == modern {
		meta += "," + modernMeta
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`,
		id, tool, arguments, meta)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

// rawHTTP is a client of streamable HTTP.
type rawHTTP struct {
	url     string
	era     era
	session string
	client  *http.Client
}

func dialRaw(t testing.TB, url string, e era) *rawHTTP {
	t.Helper()
	c := &rawHTTP{url: url, era: e, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	t.Cleanup(c.client.CloseIdleConnections)
	if e == modern {
		return c
	}
	response, err := c.post(context.Background(), []byte(initialize), "")
	must(t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if c.session = response.Header.Get("Mcp-Session-Id"); c.session == "" {
		t.Fatalf("no session: %s", response.Status)
	}
	ready, err := c.post(context.Background(), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), "")
	must(t, err)
	ready.Body.Close()
	return c
}

func (c *rawHTTP) post(ctx context.Context, body []byte, tool string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.era == modern {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", tool)
	}
	return c.client.Do(r)
}

func (c *rawHTTP) call(id int, tool, arguments string, got func([]byte)) error {
	response, err := c.post(context.Background(), callBody(c.era, id, tool, arguments), tool)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(response.Body)
		got(body)
		return err
	}
	return frames(response.Body, got)
}

// listen opens the session's GET stream and gives each of its messages to got, until the test ends.
func (c *rawHTTP) listen(t testing.TB, got func([]byte)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", c.session)
	response, err := c.client.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		cancel()
		t.Fatalf("GET: %v %v", response, err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = frames(response.Body, got) }()
	t.Cleanup(func() { cancel(); response.Body.Close(); <-done })
}

// frames gives the data of each event of an SSE stream.
func frames(body io.Reader, got func([]byte)) error {
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			got(bytes.TrimSpace(data))
		}
		switch err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// rawStdio is a client of a process; calls may be in flight at once.
type rawStdio struct {
	era  era
	in   io.Writer
	mu   sync.Mutex
	open map[int]func([]byte)
	done map[int]chan struct{}
	// stray gives what belongs to no call in flight, as what comes after a result does.
	stray func([]byte)
}

func dialStdio(t testing.TB, cmd *exec.Cmd, e era, stray func([]byte)) *rawStdio {
	t.Helper()
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &rawStdio{era: e, in: in, open: map[int]func([]byte){}, done: map[int]chan struct{}{}, stray: stray}
	read := make(chan struct{})
	go func() { defer close(read); c.read(out) }()
	t.Cleanup(func() { in.Close(); <-read; _ = cmd.Wait() })
	if e == session {
		must(t, c.send(0, []byte(initialize), func([]byte) {}))
	}
	return c
}

func (c *rawStdio) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     *int
			Params struct{ ProgressToken int }
		}
		_ = json.Unmarshal(line, &m)
		id := m.Params.ProgressToken
		if m.ID != nil {
			id = *m.ID
		}
		c.mu.Lock()
		got, done := c.open[id], c.done[id]
		if m.ID != nil {
			delete(c.open, id)
			delete(c.done, id)
		}
		c.mu.Unlock()
		if got == nil {
			c.stray(line)
			continue
		}
		got(line)
		if m.ID != nil {
			close(done)
		}
	}
}

func (c *rawStdio) call(id int, tool, arguments string, got func([]byte)) error {
	return c.send(id, callBody(c.era, id, tool, arguments), got)
}

func (c *rawStdio) send(id int, body []byte, got func([]byte)) error {
	done := make(chan struct{})
	c.mu.Lock()
	c.open[id], c.done[id] = got, done
	_, err := c.in.Write(append(body, '\n'))
	c.mu.Unlock()
	if err != nil {
		return err
	}
	<-done
	return nil
}
