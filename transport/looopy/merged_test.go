package looopy_test

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit/stories"
)

// merged is a runtime whose journal has merged every run as far as that goes.
type merged struct{ *stories.Teller }

func (m merged) Follow(ctx context.Context, id messages.RunID, f messages.Follow) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		var all []messages.Event
		for events, err := range m.Teller.Follow(ctx, id, f) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = append(all, events...)
		}
		yield(messages.MergeDeltas(all), nil)
	}
}
