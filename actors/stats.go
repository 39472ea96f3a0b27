package actors

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/seed889630bf/lastword/messages"
)

// counts are a System's counters.
type counts struct {
	started, ended, refused, losers, fenced, shutdown, refusals, late, subscriptions atomic.Int64
}

// Stats are a System's counters since it began. Of the Active runs, sub-runs among them, those Waiting wait for people.
type Stats struct {
	Active, Waiting int
	Started, Ended  int64
	// RefusedEvents were not legal; LostFinishes came to a run that had its terminal.
	RefusedEvents, LostFinishes     int64
	AbandonedTasks, AbandonedActors int64
	// Retries counts how often the journal did not take a block, or did not say so; LateAnswers what it said too late, or
	// twice.
	Retries, LateAnswers int64
	// Fenced counts the runs that another node took over.
	Fenced int64
	// SetAside are the runs whose logs are broken: their node neither goes on with them nor ends them.
	SetAside []messages.RunID
}

// Stats returns the counters.
func (s *System) Stats() Stats {
	n := s.node.Counters()
	stats := Stats{
		Started: s.counts.started.Load(), Ended: s.counts.ended.Load(),
		RefusedEvents: s.counts.refused.Load(), LostFinishes: s.counts.losers.Load(),
		AbandonedTasks: n.AbandonedTasks, AbandonedActors: n.AbandonedActors,
		Retries: s.counts.refusals.Load(), LateAnswers: s.counts.late.Load(), Fenced: s.counts.fenced.Load(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Active = len(s.live)
	for _, r := range s.live {
		if r.clock.waits.Load() {
			stats.Waiting++
		}
	}
	stats.SetAside = slices.Sorted(maps.Keys(s.aside))
	return stats
}
