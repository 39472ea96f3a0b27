package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// Serve returns a Server for an mcp-go server of this process. It offers the tools, resources and prompts of srv, and tools
// to wait for runs, to answer and to cancel them. Each call of a tool is a run of the job tool, and a task for clients that
// have tasks, of any version. After a crash of the program the next one makes calls again whose tool is marked as read-only
// or idempotent. The System needs durable.Tools, as for [Durable]. Close ends srv's sessions, too.
func Serve(srv *server.MCPServer, system Runs) *Server {
	name, version, instructions := aboutOf(srv)
	var s *Server
	gateway := source.NewGateway([]source.Server{{Name: name, Local: srv, StartTimeout: 30 * time.Second}}, version, source.Events{
		Changed: func(method, uri string) { s.Changed(method, uri) },
		Ask: func(ctx context.Context, principal, run, method string, params json.RawMessage) (json.RawMessage, error) {
			return s.AskClient(ctx, principal, run, method, params)
		}}, nil)
	s = New(Config{Runs: system, Name: name, Version: version, Instructions: instructions, Wrap: &Wrap{Behind: local{gateway}, Alone: true}})
	s.local = gateway
	wrapped.Offer(name, gateway.Make) // no server starts before
	return s
}

// local is a server in this process. Logs hold all its results.
type local struct{ *source.Gateway }

func (local) Result(messages.RunID) json.RawMessage { return nil }

// aboutOf asks a server what it is.
func aboutOf(srv *server.MCPServer) (name, version, instructions string) {
	const ask = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"lastword","version":"0"}}}`
	var answer struct {
		Result struct {
			ServerInfo   struct{ Name, Version string }
			Instructions string
		}
	}
	text, _ := json.Marshal(srv.HandleMessage(context.Background(), json.RawMessage(ask)))
	_ = json.Unmarshal(text, &answer) // without an answer it has no name
	return answer.Result.ServerInfo.Name, answer.Result.ServerInfo.Version, answer.Result.Instructions
}
