package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
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

// auditPlan is calls of a streamed job, and how they are made.
type auditPlan struct {
	transport string // http or stdio
	era       era
	calls     int
	inFlight  int
	events    int           // milestones that each run says itself
	get       bool          // a GET stream is open beside the calls
	pause     time.Duration // of the reader, between two messages
}

func (p auditPlan) String() string {
	s := fmt.Sprintf("mcp %s, %s era, %d x %d events, %d in flight", p.transport, p.era, p.calls, p.events, p.inFlight)
	if p.get {
		s += ", GET open"
	}
	if p.pause > 0 {
		s += ", slow reader"
	}
	return s
}

// auditPlans are the rows of the table: many calls, with and without a stream beside them, bursts, and slow readers.
func auditPlans() []auditPlan {
	var plans []auditPlan
	for _, inFlight := range []int{1, 8} {
		plans = append(plans,
			auditPlan{transport: "http", era: session, calls: 1500, events: 5, inFlight: inFlight},
			auditPlan{transport: "http", era: session, calls: 1500, events: 5, inFlight: inFlight, get: true},
			auditPlan{transport: "http", era: modern, calls: 1500, events: 5, inFlight: inFlight},
			auditPlan{transport: "stdio", era: session, calls: 1500, events: 5, inFlight: inFlight},
			auditPlan{transport: "stdio", era: modern, calls: 1500, events: 5, inFlight: inFlight})
	}
	for _, transport := range []string{"http", "stdio"} {
		plans = append(plans,
			auditPlan{transport: transport, era: session, calls: 10, events: 2000, inFlight: 1},
			auditPlan{transport: transport, era: modern, calls: 10, events: 2000, inFlight: 1},
			auditPlan{transport: transport, era: modern, calls: 2, events: 2000, inFlight: 2, pause: 200 * time.Microsecond})
	}
	return plans
}

// auditFigures are the rows of make bench: what was lost, foreign, reordered or late on the wire, which is nothing.
func auditFigures() []figure {
	var rows []figure
	for _, p := range auditPlans() {
		rows = append(rows, figure{name: p.String(), unit: "lost, foreign, reordered or late", ours: func(t *testing.T) float64 {
			sum := p.run(t)
			if sum.events < p.calls*p.events {
				t.Errorf("%d events came of %d calls", sum.events, p.calls)
			}
			return float64(sum.lost + sum.foreign + sum.reordered + sum.late)
		}})
	}
	return rows
}

// TestAudit is a small audit of each kind.
func TestAudit(t *testing.T) {
	for _, p := range auditPlans() {
		p.calls, p.events = min(p.calls, 40), min(p.events, 300)
		t.Run(p.String(), func(t *testing.T) {
			sum := p.run(t)
			if sum.events < p.calls*p.events || sum.lost+sum.foreign+sum.reordered+sum.late > 0 {
				t.Errorf("of %d calls: %v", p.calls, sum)
			}
		})
	}
}

func (p auditPlan) run(t *testing.T) tally {
	t.Helper()
	var strays atomic.Int64 // events where no call waits for them
	stray := func(message []byte) {
		var m rawMessage
		if json.Unmarshal(message, &m) == nil && m.Params.Meta.Event != nil {
			strays.Add(1)
		}
	}
	client, ids := p.dial(t, stray), make(chan int, p.calls)
	for i := range p.calls {
		ids <- i + 1
	}
	close(ids)
	var mu sync.Mutex
	var sum tally
	var workers sync.WaitGroup
	for range p.inFlight {
		workers.Go(func() {
			for id := range ids {
				one, err := p.audit(client, id)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				sum.add(one)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	sum.foreign += int(strays.Load())
	return sum
}

func (p auditPlan) dial(t *testing.T, stray func([]byte)) rawClient {
	t.Helper()
	if p.transport == "stdio" {
		cmd := exec.Command(os.Args[0])
		cmd.Env = kitTarget{folder: t.TempDir()}.env()
		cmd.Stderr = os.Stderr
		return dialStdio(t, cmd, p.era, stray)
	}
	door, end, err := openDoor(t.TempDir())
	must(t, err)
	server := httptest.NewServer(http.StripPrefix("/mcp", door))
	t.Cleanup(func() { end(); server.CloseClientConnections(); server.Close() })
	c := dialRaw(t, server.URL+"/mcp", p.era)
	if p.get {
		c.listen(t, stray)
	}
	return c
}

// audit makes one call and judges its events.
func (p auditPlan) audit(client rawClient, id int) (tally, error) {
	var w watched
	foreign := 0
	err := client.call(id, "count", fmt.Sprintf(`{"n":%d}`, p.events), func(message []byte) {
		var m rawMessage
		if err := json.Unmarshal(message, &m); err != nil {
			w.Error = err.Error()
		}
		switch {
		case m.ID != nil:
			w.Result = m.Result.Structured
		case m.Params.Meta.Event == nil:
		case m.Params.ProgressToken != id:
			foreign++
		default:
			w.take(*m.Params.Meta.Event)
		}
		time.Sleep(p.pause)
	})
	switch {
	case err != nil:
		return tally{}, err
	case w.Error != "":
		return tally{}, errors.New(w.Error)
	case w.Result == nil || w.Result.Status != messages.Completed:
		return tally{}, fmt.Errorf("call %d has no result", id)
	}
	sum := w.count(0)
	sum.foreign += foreign
	return sum, nil
}

func (w *watched) take(e seen) {
	if e.From == 0 {
		e.From = e.Seq
	}
	if w.Result != nil {
		w.Late++
	}
	w.Events = append(w.Events, e)
}
