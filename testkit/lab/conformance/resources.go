package conformance

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func addResources(s *server.MCPServer) {
	written(s, "test://static-text", "static-text", "This is the content of the static text resource.")
	written(s, "test://watched-resource", "watched-resource", "This is watched.")
	s.AddResource(mcp.NewResource("test://static-binary", "static-binary",
		mcp.WithResourceDescription("A picture of one point."), mcp.WithMIMEType("image/png")),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{
				mcp.BlobResourceContents{URI: r.Params.URI, MIMEType: "image/png", Blob: pixel}}, nil
		})
	s.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template",
		mcp.WithTemplateDescription("Says its id."), mcp.WithTemplateMIMEType("application/json")), filled)
}

func written(s *server.MCPServer, uri, name, words string) {
	s.AddResource(mcp.NewResource(uri, name, mcp.WithResourceDescription("A text."), mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: words}}, nil
		})
}

func filled(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.Params.URI, "test://template/"), "/")
	words, err := json.Marshal(struct {
		ID   string `json:"id"`
		Test bool   `json:"templateTest"`
		Data string `json:"data"`
	}{id, true, "Data for ID: " + id})
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{
		mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: string(words)}}, nil
}
