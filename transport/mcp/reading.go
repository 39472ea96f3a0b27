package mcp

import (
	"context"

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
func (s *Server) reading(read server.ResourceTemplateHandlerFunc) server.ResourceTemplateHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		if err := caller.May(ctx, gate.ReadRuns); err != nil {
			return nil, err
		}
		select {
		case s.readers <- struct{}{}:
			defer func() { <-s.readers }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		contents, err := read(ctx, req)
		if n := sizeOf(contents); err == nil && n > longContents && !wire.From(ctx).Hold(n) {
			return nil, messages.Errorf(messages.Code(messages.CauseLimitExceeded),
				"too many long resources are being read; try again in a moment, or read a part of %d bytes", longContents)
		}
		return contents, err
	}
}

func sizeOf(contents []mcp.ResourceContents) (bytes int64) {
	for _, c := range contents {
		switch c := c.(type) {
		case mcp.TextResourceContents:
			bytes += int64(len(c.Text))
		case mcp.BlobResourceContents:
			bytes += int64(len(c.Blob))
		}
	}
	return bytes
}
