package actors

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
)

// List returns the runs that the query selects as the journal has them: active ones, and ended ones until the retention
// forgets them. They are in the order of [messages.Query.Compare], and no more than [messages.Query.Most].
func (s *System) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.journal.List(ctx, q)
}
