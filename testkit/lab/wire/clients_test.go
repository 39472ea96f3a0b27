package wire_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// pipes are the client's ends of a server on stdio.
func (f *fixture) pipes(t *testing.T) (io.ReadCloser, io.WriteCloser) {
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	go func() {
		_ = f.wire.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		out.Close()
	})
	return out, in
}

func TestOfficialClient(t *testing.T) {
	f := newFixture(t, wire.Config{})
	out, in := f.pipes(t)
	for name, transport := range map[string]sdk.Transport{
		"HTTP":  &sdk.StreamableClientTransport{Endpoint: f.serveHTTP(t)},
		"stdio": &sdk.IOTransport{Reader: out, Writer: in},
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Int32
			all := make(chan struct{})
			c := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
					if told.Add(1) == 200 {
						close(all)
					}
				}})
			session, err := c.Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			call := &sdk.CallToolParams{Name: "count", Arguments: map[string]any{"n": 200, "tag": "t"}}
			call.SetProgressToken("p")
			r, err := session.CallTool(t.Context(), call)
			if err != nil || r.Content[0].(*sdk.TextContent).Text != "t" {
				t.Fatal(r, err)
			}
			soon(t, all)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-f.entered
				cancel()
			}()
			if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "wait"}); err == nil {
				t.Error("it was not cancelled")
			}
			soon(t, f.causes)
			// A client that cancelled goes on.
			if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestClientOfMCPGo(t *testing.T) {
	f := newFixture(t, wire.Config{})
	out, in := f.pipes(t)
	http, err := transport.NewStreamableHTTP(f.serveHTTP(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, way := range map[string]transport.Interface{
		"HTTP":  http,
		"stdio": transport.NewIO(out, in, io.NopCloser(&io.LimitedReader{})),
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Int32
			c := mcpgo.NewClient(way)
			c.OnNotification(func(n mcp.JSONRPCNotification) {
				if n.Method == "notifications/progress" {
					told.Add(1)
				}
			})
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			begin := mcp.InitializeRequest{}
			begin.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
			if _, err := c.Initialize(t.Context(), begin); err != nil {
				t.Fatal(err)
			}
			call := mcp.CallToolRequest{}
			call.Params.Name, call.Params.Arguments = "count", map[string]any{"n": 200, "tag": "t"}
			call.Params.Meta = &mcp.Meta{ProgressToken: "p"}
			r, err := c.CallTool(t.Context(), call)
			if err != nil || r.Content[0].(mcp.TextContent).Text != "t" {
				t.Fatal(r, err)
			}
			if n := told.Load(); n != 200 {
				t.Errorf("%d notifications", n)
			}
		})
	}
}
