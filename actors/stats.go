package actors

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/seed889630bf/lastword/messages"
)

// counts are a System's counters.
type counts struct {
	started, ended, refused, lateFinishes, fenced, shutdown, journalRetries, lateAnswers, subscriptions atomic.Int64
}

// Stats are a System's counters since it began.
type Stats struct {
	// Active counts the runs and sub-runs that have not ended; those Waiting wait for people.
	Active, Waiting int
	Started, Ended  int64
	// RefusedEvents were not legal. LostFinishes are terminals that came after the run's terminal.
	RefusedEvents, LostFinishes int64
	// AbandonedTasks and AbandonedActors did not end in time; each may hold a goroutine for good.
	AbandonedTasks, AbandonedActors int64
	// JournalRetries counts appends that failed or went unanswered, and were tried again. Retries of tasks are in the
	// runs' logs. LateJournalAnswers came too late, or twice.
	JournalRetries, LateJournalAnswers int64
	// Fenced counts the runs that another node took over.
	Fenced int64
	// SetAside are the runs whose logs are broken: this node neither continues nor ends them.
	SetAside []messages.RunID
}

// Stats returns the counters.
func (s *System) Stats() Stats {
	n := s.node.Counters()
	stats := Stats{
		Started: s.counts.started.Load(), Ended: s.counts.ended.Load(),
		RefusedEvents: s.counts.refused.Load(), LostFinishes: s.counts.lateFinishes.Load(),
		AbandonedTasks: n.AbandonedTasks, AbandonedActors: n.AbandonedActors,
		JournalRetries: s.counts.journalRetries.Load(), LateJournalAnswers: s.counts.lateAnswers.Load(), Fenced: s.counts.fenced.Load(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Active = len(s.live)
	for _, r := range s.live {
		if r.clock.waits.Load() {
			stats.Waiting++
		}
	}
	stats.SetAside = slices.Sorted(maps.Keys(s.broken))
	return stats
}
