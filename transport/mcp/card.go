package mcp

import (
	"context"
	_ "embed"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// The run card is a page that hosts with MCP Apps (SEP-1865) show beside a tool's result: it follows the run, asks its
// questions and cancels it, all by calls of tools.
const (
	cardExtension = "io.modelcontextprotocol/ui"
	cardURI       = "ui://lastword/run"
	cardType      = "text/html;profile=mcp-app"
)

//go:embed card/run.html
var cardPage string

// showsCards reports whether the client has declared that it shows pages.
func showsCards(ctx context.Context) bool {
	x := wire.From(ctx)
	if x == nil {
		return false
	}
	declared, _ := x.Capabilities().Extensions[cardExtension].(map[string]any)
	types, _ := declared["mimeTypes"].([]any)
	return slices.Contains(types, any(cardType))
}

// addCard adds the card, which only clients that show it are told of.
func (s *Server) addCard() error {
	hooks := s.mcp.GetHooks()
	hooks.AddAfterListResourceTemplates(func(ctx context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		result.ResourceTemplates = slices.DeleteFunc(slices.Clone(result.ResourceTemplates), func(t mcp.ResourceTemplate) bool { return t.MIMEType == cardType })
	})
	hooks.AddAfterListResources(func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		if showsCards(ctx) {
			result.Resources = append(slices.Clip(result.Resources), mcp.NewResource(cardURI, "run-card", mcp.WithMIMEType(cardType),
				mcp.WithResourceDescription("A card that shows a run.")))
		}
	})
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		if !showsCards(ctx) {
			return
		}
		for i, tool := range result.Tools { // the slice belongs to this response
			if tool.Name == startTool || tool.Name == "run_get" || s.jobs[tool.Name] != nil {
				result.Tools[i].Meta = mcp.NewMetaFromMap(map[string]any{"ui": map[string]any{"resourceUri": cardURI}})
			}
		}
	})
	return s.AddResource(Resource{Template: "ui://lastword/{card}", Name: "run-card", Title: "Run", MIMEType: cardType},
		func(_ context.Context, uri string) (Contents, error) {
			if uri != cardURI {
				return Contents{}, ErrNoResource
			}
			return Contents{MIMEType: cardType, Text: cardPage}, nil
		})
}
