package mcp

import "github.com/seed889630bf/lastword/transport/mcp/subscription"

// Kept is how much the door keeps for those who subscribed.
func (s *Server) Kept() subscription.Kept { return s.hub.Kept() }
