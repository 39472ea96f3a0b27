package durable

import (
	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/wrap"
	"github.com/seed889630bf/lastword/internal/wrapped"
)

// Tools returns the definition of the job tool, whose runs are the calls that mcp.Durable and mcp.Serve get. After a crash
// mcp.Serve makes calls again whose tool is marked as read-only or idempotent.
func Tools() actors.Definition {
	return wrap.Define(wrap.Config{Call: wrapped.Make, Rule: func(string, string) wrap.Rule { return wrap.Rule{Hints: true} }})
}
