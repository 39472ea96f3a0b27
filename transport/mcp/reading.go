package mcp

import (
	"context"
	"encoding/base64"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const (
	// readers is how many resources are read at a time.
	readers = 16
	// longContents is how many bytes of a resource are too many to be given to any number of clients that take their
	// time.
	longContents = 64 << 10
)

// reading is what every reader of a resource is behind: leave, and a bound on what all of them take of the memory. A
// few read at a time, and what they read is counted until its client has it.
func (s *Server) reading(read func(ctx context.Context, uri string) (Contents, error)) server.ResourceTemplateHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		if err := caller.Require(ctx, gate.ReadRuns); err != nil {
			return nil, err
		}
		select {
		case s.readers <- struct{}{}:
			defer func() { <-s.readers }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		contents, err := read(ctx, req.Params.URI)
		if err != nil {
			return nil, err
		}
		n := int64(len(contents.Text) + base64.StdEncoding.EncodedLen(len(contents.Blob)))
		if n > longContents && !wire.From(ctx).Hold(n) {
			return nil, messages.Errorf(messages.Code(messages.CauseLimitExceeded),
				"too many long resources are being read; try again in a moment, or read a part of %d bytes", longContents)
		}
		return []mcp.ResourceContents{contents.library(req.Params.URI)}, nil
	}
}
