package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// BenchmarkCall5 is a call with five notifications, over HTTP with a session: ours, mcp-go's transport, which loses
// some of them, and the official Go SDK's.
func BenchmarkCall5(b *testing.B) {
	for _, parallel := range []int{1, 8} {
		for _, of := range []struct {
			name string
			make func() (http.Handler, func())
		}{{"wire", wireHandler}, {"mcp-go", mcpgoHandler}, {"go-sdk", sdkHandler}} {
			b.Run(fmt.Sprintf("%s/c=%d", of.name, parallel), func(b *testing.B) {
				h, end := of.make()
				s := httptest.NewServer(h)
				defer s.Close()
				defer end()
				benchCalls(b, s.Listener.Addr().String(), parallel)
			})
		}
	}
}

func benchCalls(b *testing.B, address string, parallel int) {
	session := dialRaw(b, address).initialize(b)
	var ids, lost atomic.Int64
	var left atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	left.Store(int64(b.N))
	done := make(chan struct{}, parallel)
	for range parallel {
		c := dialRaw(b, address)
		c.session = session
		go func() {
			for left.Add(-1) >= 0 {
				lost.Add(5 - int64(c.call(b, ids.Add(1)+100)))
			}
			done <- struct{}{}
		}()
	}
	for range parallel {
		<-done
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(lost.Load())/float64(b.N), "lost/op")
}

// raw is a client on one connection, as cheap as it gets, so that the server is what is measured.
type raw struct {
	conn    net.Conn
	in      *bufio.Reader
	session string
	out     bytes.Buffer
}

func dialRaw(b *testing.B, address string) *raw {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return &raw{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
}

func (c *raw) post(b *testing.B, body string) *http.Response {
	c.out.Reset()
	fmt.Fprintf(&c.out, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n", len(body))
	if c.session != "" {
		c.out.WriteString("Mcp-Session-Id: " + c.session + "\r\n")
	}
	c.out.WriteString("\r\n" + body)
	if _, err := c.conn.Write(c.out.Bytes()); err != nil {
		b.Error(err)
		return nil
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		b.Error(err)
	}
	return response
}

func (c *raw) initialize(b *testing.B) string {
	response := c.post(b, initialize)
	_, _ = io.Copy(io.Discard, response.Body)
	c.session = response.Header.Get("Mcp-Session-Id")
	response = c.post(b, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	_, _ = io.Copy(io.Discard, response.Body)
	return c.session
}

// call returns how many notifications came.
func (c *raw) call(b *testing.B, id int64) int {
	text := strconv.FormatInt(id, 10)
	response := c.post(b, toolCall(text, "count", `{"tag":"t"}`, `"progressToken":`+text))
	body, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Contains(body, []byte(`"content"`)) {
		b.Error(err, string(body))
	}
	return strings.Count(string(body), "notifications/progress")
}

func wireHandler() (http.Handler, func()) {
	m := server.NewMCPServer("x", "1")
	m.AddTool(mcp.NewTool("count"), count)
	s := wire.New(wire.Config{MCP: m})
	return s, s.Close
}

func mcpgoHandler() (http.Handler, func()) {
	m := server.NewMCPServer("x", "1")
	m.AddTool(mcp.NewTool("count"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			_ = m.SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1, "message": "t"})
		}
		return mcp.NewToolResultText("t"), nil
	})
	return server.NewStreamableHTTPServer(m, server.WithStateful(true)), func() {}
}

func sdkHandler() (http.Handler, func()) {
	m := sdk.NewServer(&sdk.Implementation{Name: "x", Version: "1"}, nil)
	m.AddTool(&sdk.Tool{Name: "count", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for i := range 5 {
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Message: "t"})
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "t"}}}, nil
		})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return m }, nil), func() {
		for session := range m.Sessions() {
			session.Close()
		}
	}
}
