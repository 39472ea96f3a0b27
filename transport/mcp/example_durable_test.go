package mcp_test

import (
	"context"
	"fmt"

	goclient "github.com/mark3labs/mcp-go/client"
	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/durable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// One line makes each call of a server's tools a run. Config.Journal of the System says where the log is; here it is in
// memory. To answer slow calls with tasks, serve the server with [mcp.Serve] instead.
func ExampleDurable() {
	ctx := context.Background()
	system, err := actors.New(ctx, actors.Config{Jobs: []actors.Definition{durable.Tools()}})
	if err != nil {
		panic(err)
	}
	defer system.Close(ctx)

	srv := server.NewMCPServer("everything", "1.0.0")
	srv.AddTool(protocol.NewTool("echo", protocol.WithString("message")),
		func(_ context.Context, r protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			return protocol.NewToolResultText("Echo: " + r.GetString("message", "")), nil
		})
	srv.Use(mcp.Durable(system, "everything"))

	client, err := goclient.NewInProcessClient(srv) // or server.ServeStdio(srv), server.NewStreamableHTTPServer(srv)
	if err != nil {
		panic(err)
	}
	if _, err := client.Initialize(ctx, protocol.InitializeRequest{}); err != nil {
		panic(err)
	}
	var call protocol.CallToolRequest
	call.Params.Name, call.Params.Arguments = "echo", map[string]any{"message": "hello"}
	result, err := client.CallTool(ctx, call)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Content[0].(protocol.TextContent).Text)
	runs, err := system.List(ctx, messages.Query{})
	if err != nil {
		panic(err)
	}
	fmt.Println(runs[0].Job, runs[0].Labels["mcp.tool"], runs[0].Status)

	// Output:
	// Echo: hello
	// tool everything/echo completed
}
