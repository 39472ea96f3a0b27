package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/nano"
)

const (
	dialectReaders = 60 // NANO gives a client 64 streams
	dialectTime    = time.Second
	dialectPace    = 10 * time.Millisecond  // 100 tokens a second, each reader
	nanoPace       = 250 * time.Microsecond // more than two cores can do
)

// dialectWire is how a client starts a run of the job chat and reads it. The body has TEXT for what the client says,
// and ID for its own number.
type dialectWire struct{ name, path, body string }

// nativeWire is what the dialects are held to.
var nativeWire = dialectWire{"", "/v1/runs", `{"job":"chat","input":{"message":TEXT}}`}

var dialectWires = []dialectWire{
	{"chat completions", "/v1/chat/completions", `{"model":"chat","stream":true,"messages":[{"role":"user","content":TEXT}]}`},
	{"responses", "/v1/responses", `{"model":"chat","stream":true,"input":TEXT}`},
	{"AI SDK", "/api/chat", `{"id":"ID","messages":[{"role":"user","parts":[{"type":"text","text":TEXT}]}]}`},
	{"AG-UI", "/agui", `{"threadId":"ID","runId":"1","messages":[{"role":"user","content":TEXT}]}`},
	{"A2A", a2a.Path, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":` +
		`{"message":{"messageId":"ID","role":"ROLE_USER","parts":[{"text":TEXT}]}}}`},
	{"Looopy", looopy.Path, `{"contextId":"ID","message":TEXT}`},
	{"erlmcp", "/erlmcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chat","stream":true,"arguments":{"message":TEXT}}}`},
	{"NANO WebSocket", nanoSocket,
		`{"jsonrpc":"2.0","id":1,"method":"run","params":{"prompt":TEXT,"context":"ID","stream":true}}`},
}

const nanoSocket = "/nano/ws"

func dialectFigures() []figure {
	var all []figure
	for _, wire := range dialectWires {
		goal := 2.0
		if wire.path == a2a.Path {
			goal = 1.3
		}
		all = append(all, figure{name: wire.name + ", a token to its reader, CPU, to SSE", unit: "us", goal: goal,
			ours:     func(t *testing.T) float64 { return dialectToken(t, wire, dialectPace) },
			baseline: func(t *testing.T) float64 { return dialectToken(t, nativeWire, dialectPace) }})
	}
	nano := dialectWires[len(dialectWires)-1]
	return append(all,
		// 20 us on each of two cores are 100,000 chunks a second.
		figure{name: "NANO, 60 WebSockets at full load, CPU for a chunk", unit: "us", goal: 20,
			ours: func(t *testing.T) float64 { return dialectToken(t, nano, nanoPace) }},
		figure{name: "NANO, a poll", unit: "ms", goal: 1, ours: nanoPoll})
}

// dialectDoors adds the dialects to the server that startHTTP starts.
func dialectDoors(mux *http.ServeMux, system *actors.System) {
	chat := messages.JobInfo{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message", Input: withContext}}
	to := door.New(door.Config{Runs: system, Jobs: []messages.JobInfo{chat}})
	addFronts(mux, to)
	mux.Handle(looopy.Path, looopy.New(to))
	mux.Handle(erlmcp.Path, erlmcp.New(to))
	streams := nano.New(to)
	for _, path := range nano.Paths() {
		mux.Handle(path, streams)
	}
}

// dialectChat says as many tokens as the message tells, at its pace.
func dialectChat(_ context.Context, task *actors.TaskContext, in struct{ Message, Context string }) (string, error) {
	var tokens int
	var pace string
	_, err := fmt.Sscan(in.Message, &tokens, &pace)
	every, paceErr := time.ParseDuration(pace)
	if err := errors.Join(err, paceErr); err != nil {
		return "", err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for range tokens {
		<-tick.C
		if err := task.AppendText("answer", dialectWord); err != nil {
			return "", err
		}
	}
	return "done", nil
}

// dialectWord is a token that nothing else on the wire holds.
const dialectWord = "tok3n "

// dialectToken is the CPU time of the server's process for a token, from the job to its own client.
func dialectToken(t *testing.T, wire dialectWire, pace time.Duration) float64 {
	at, tokens := startHTTP(t), int(dialectTime/pace)
	before := numberOf(t, at+"/cpu")
	var pieces atomic.Int64
	var readers sync.WaitGroup
	for i := range dialectReaders {
		text := strconv.Quote(fmt.Sprint(tokens, " ", pace))
		body := strings.NewReplacer("TEXT", text, "ID", strconv.Itoa(i)).Replace(wire.body)
		readers.Go(func() {
			read := readDialect
			if wire.path == nanoSocket {
				read = readNANO
			}
			n, err := read(t.Context(), at+wire.path, body)
			if err != nil {
				t.Error(err)
			}
			pieces.Add(int64(n))
		})
	}
	readers.Wait()
	said := dialectReaders * tokens
	if n := pieces.Load(); n < int64(said)*9/10 {
		t.Errorf("%d tokens came in %d pieces", said, n)
	}
	return (numberOf(t, at+"/cpu") - before) / float64(said)
}

// readDialect reads an answer to its end, and counts the frames with a piece of its text.
func readDialect(ctx context.Context, url, body string) (pieces int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Accept-Encoding", "identity") // Go's client asks for gzip by itself
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(dialectWord)) {
			pieces++
		}
	}
	return pieces, lines.Err()
}

// readNANO does so with the chunks that a WebSocket is sent.
func readNANO(ctx context.Context, url, body string) (pieces int, err error) {
	c, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return 0, err
	}
	defer c.CloseNow()
	if err := c.Write(ctx, websocket.MessageText, []byte(body)); err != nil {
		return 0, err
	}
	for {
		_, message, err := c.Read(ctx)
		if err != nil || bytes.Contains(message, []byte(`"end":true`)) {
			return pieces, err
		}
		if bytes.Contains(message, []byte(dialectWord)) {
			pieces++
		}
	}
}

// nanoPoll is the median time of a poll for a chunk, while the run goes on.
func nanoPoll(t *testing.T) float64 {
	url := startHTTP(t) + "/nano/mcp"
	call := func(params string) (result struct {
		StreamID string `json:"stream_id"`
		Chunks   []struct{}
		HasMore  bool `json:"has_more"`
	}) {
		body := `{"jsonrpc":"2.0","id":1,"method":"run","params":` + params + `}`
		response, err := http.Post(url, "application/json", strings.NewReader(body))
		must(t, err)
		defer response.Body.Close()
		answer := struct{ Result any }{&result}
		must(t, json.NewDecoder(response.Body).Decode(&answer))
		return result
	}
	id := call(`{"prompt":"1000 1ms","context":"c","stream":true}`).StreamID
	var times []float64
	for seq, more := 0, true; more; {
		begin, got := time.Now(), call(fmt.Sprintf(`{"stream_id":%q,"from_seq":%d}`, id, seq))
		if took := time.Since(begin); len(got.Chunks) > 0 {
			times = append(times, float64(took)/1e6)
		}
		seq, more = seq+len(got.Chunks), got.HasMore
	}
	return median(times)
}

// A thin link, and a model that says more than it takes: 100 tokens a second.
const (
	linkRate  = 10_000                 // bytes a second
	linkDelay = 500 * time.Millisecond // each way
	linkQueue = 16 << 10               // bytes that the link holds
	linkMTU   = 512
	linkWords = 2000
	linkPace  = 10 * time.Millisecond
)

// thinLink is the address of a link to the server.
func thinLink(t *testing.T, to string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error { // else the kernel takes much ahead of the link
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) })
	}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := small.DialContext(t.Context(), "tcp", to)
			if err != nil {
				c.Close()
				continue
			}
			go carry(up, c)
			go carry(c, up)
		}
	}()
	return l.Addr().String()
}

// carry carries what one end sends to the other.
func carry(to, from net.Conn) {
	defer to.Close()
	type packet struct {
		data []byte
		due  time.Time
	}
	queue := make(chan packet, linkQueue/linkMTU)
	go func() {
		defer close(queue)
		for next := time.Now(); ; {
			data := make([]byte, linkMTU)
			n, err := from.Read(data)
			if err != nil {
				return
			}
			if now := time.Now(); next.Before(now) {
				next = now
			}
			next = next.Add(time.Duration(n) * time.Second / linkRate)
			queue <- packet{data[:n], next.Add(linkDelay)}
		}
	}()
	for p := range queue {
		time.Sleep(time.Until(p.due))
		_, _ = to.Write(p.data) // an end that has left reads nothing; the rest of the queue goes with it
	}
}

// linkModel answers with linkWords words, and tells when each answer ended by the name that the prompt begins with.
type linkModel struct {
	mu   sync.Mutex
	ends map[string]time.Time
}

func (m *linkModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		fmt.Fprint(w, `{"data":[{"id":"scripted","object":"model"}]}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(linkPace)
	defer tick.Stop()
	for range linkWords {
		<-tick.C
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, door := range linkDoors {
		if bytes.Contains(body, []byte("door "+door.name+".")) {
			m.ends[door.name] = time.Now()
		}
	}
}

// linkDoors are the requests of each door, in which %s stands for the prompt; last is in its last frame.
var linkDoors = []struct{ name, path, header, body, last string }{
	{"SSE", "/v1/runs?done=digest", "Accept: text/event-stream", `{"job":"prompt","input":{"text":"%s"}}`, `"run.completed"`},
	{"NDJSON", "/v1/runs?done=digest", "Accept: application/x-ndjson", `{"job":"prompt","input":{"text":"%s"}}`, `"run.completed"`},
	{"OpenAI chat", "/v1/chat/completions", "", `{"model":"prompt","stream":true,"messages":[{"role":"user","content":"%s"}]}`, `[DONE]`},
	{"OpenAI responses", "/v1/responses", "", `{"model":"prompt","stream":true,"input":"%s"}`, `"response.completed"`},
	{"AI SDK", "/api/chat", "", `{"id":"c1","job":"prompt","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"%s"}]}]}`, `"type":"finish"`},
	{"AG-UI", "/agui", "", `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"%s"}],"tools":[],"context":[],"state":{},"forwardedProps":{"job":"prompt"}}`, `RUN_FINISHED`},
	{"A2A", "/a2a", "A2A-Version: 1.0", `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","metadata":{"skill":"prompt"},"parts":[{"text":"%s"}]}}}`, `TASK_STATE_COMPLETED`},
	{"Looopy", "/api/sse/message", "", `{"message":"%s","contextId":"s1"}`, `"task-complete"`},
	{"erlmcp", "/erlmcp", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prompt","arguments":{"text":"%s"},"stream":true}}`, `stream_complete`},
	{"MCP", "/mcp", "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: prompt\r\nAccept: application/json, text/event-stream", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"prompt","arguments":{"text":"%s"},"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, `"id":9`},
}

// TestThinLink holds DESIGN.md, section 8: "The terminal and questions reach a reader at 10 KB/s within 2 s." What a
// dialect repeats of the text with its terminal comes at the speed of the link.
func TestThinLink(t *testing.T) {
	onlyBy(t, "bench")
	m := &linkModel{ends: map[string]time.Time{}}
	model := httptest.NewServer(m)
	t.Cleanup(model.Close)
	server := serve(t, "--dialects", "openai,ai-sdk,ag-ui,a2a,looopy,erlmcp", "--base-url", model.URL+"/v1", "--model", "scripted", "--state", t.TempDir())
	link := thinLink(t, strings.TrimPrefix(server, "http://"))
	for _, door := range linkDoors {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", link)
			must(t, err)
			defer c.Close()
			body := fmt.Sprintf(door.body, "door "+door.name+".")
			if door.header == "" {
				door.header = "X: y"
			}
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\n\r\n%s", door.path, door.header, len(body), body)
			read, all := 0, []byte(nil)
			for lines := bufio.NewReader(c); ; {
				line, err := lines.ReadBytes('\n')
				read += len(line)
				if all = append(all, line...); err != nil {
					t.Fatalf("%v after %s", err, all[:min(2000, len(all))])
				}
				if bytes.Contains(line, []byte(door.last)) {
					break
				}
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			late := time.Since(m.ends[door.name])
			again := bytes.Count(all, []byte("word ")) - linkWords
			may := 2*time.Second + time.Duration(again*len("word "))*time.Second/linkRate
			t.Logf("%-16s %7d bytes; the last word came %.2f s late, of %.2f", door.name, read, late.Seconds(), may.Seconds())
			if late > may {
				t.Errorf("%s", all[max(0, len(all)-2000):])
			}
		})
	}
}
