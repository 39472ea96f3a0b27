package mcp

import (
	"context"
	_ "embed"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/internal/packed"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// The run card is a page that hosts with MCP Apps (SEP-1865) show beside a tool's result: it follows the run, asks its
// questions and cancels it, all by calls of tools.
const (
	cardExtension = "io.modelcontextprotocol/ui"
	cardURI       = "ui://lastword/run"
	cardName      = "run-card"
	cardType      = "text/html;profile=mcp-app"
)

//go:embed card/run.html.gz
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
func (s *Server) addCard() {
	s.mcp.AddResource(mcp.Resource{URI: cardURI, Name: cardName, MIMEType: cardType, Description: "A card that shows a run."},
		server.ResourceHandlerFunc(s.reading(func(context.Context, string) (Contents, error) {
			return Contents{MIMEType: cardType, Text: string(packed.Text(cardPage))}, nil
		})))
	hooks := s.mcp.GetHooks()
	hooks.AddAfterListResources(func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		i := slices.IndexFunc(result.Resources, func(r mcp.Resource) bool { return r.URI == cardURI })
		if i >= 0 && !showsCards(ctx) {
			result.Resources = append(result.Resources[:i], result.Resources[i+1:]...) // the list belongs to this response
		}
	})
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		if !showsCards(ctx) {
			return
		}
		look := getTool
		if s.behind != nil && s.behind.Alone {
			look = waitTool
		}
		for i := range result.Tools { // the slice belongs to this response
			if t := &result.Tools[i]; t.Name == startTool || t.Name == look || s.jobs[t.Name] != nil {
				t.Meta = &mcp.Meta{AdditionalFields: map[string]any{"ui": map[string]string{"resourceUri": cardURI}}}
			}
		}
	})
}
