package lab_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

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
