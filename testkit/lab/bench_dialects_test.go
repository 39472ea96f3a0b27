package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/nano"
	"github.com/seed889630bf/lastword/transport/openai"
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
	{"chat completions", "/v1/chat/completions",
		`{"model":"chat","stream":true,"messages":[{"role":"user","content":TEXT}]}`},
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
	openai.Add(to, func(h *door.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(path, h)
		}
	})
	for _, protocol := range []struct {
		handler http.Handler
		paths   []string
	}{
		{aisdk.New(to), aisdk.Paths()}, {agui.New(to), agui.Paths()}, {a2a.New(to), []string{a2a.Path}},
		{looopy.New(to), []string{looopy.Path}}, {erlmcp.New(to), []string{"/erlmcp"}},
		{nano.New(to), nano.Paths()}} {
		for _, path := range protocol.paths {
			mux.Handle(path, protocol.handler)
		}
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
		begin := time.Now()
		got := call(fmt.Sprintf(`{"stream_id":%q,"from_seq":%d}`, id, seq))
		if took := time.Since(begin); len(got.Chunks) > 0 {
			times = append(times, float64(took)/1e6)
		}
		seq, more = seq+len(got.Chunks), got.HasMore
	}
	return median(times)
}
