package schedule_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// Two nodes stop and start, starts are refused and runs go on over two changes of the clocks. Each time has one run, or
// is counted as dropped, and none is counted twice. Only if a run ends at the very time of the next start, one node may
// start it, and the other count it.
func TestSimLosesNoStart(t *testing.T) {
	seeds := uint64(10)
	if os.Getenv("LASTWORD_SIM") != "" {
		seeds = 500
	}
	const days = 220
	want := map[string]int{"berlin": days, "midnight": days, "hourly": days * 24, "every": days * 24 * 60 / 45}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			s, r := store{ended: map[messages.RunID]bool{}}, rand.New(rand.NewPCG(seed, 0))
			lines, err := simulate(t, &s, r, days).List(t.Context(), "")
			fatal.IfError(t, err)
			for _, l := range lines {
				starts := 0
				for _, key := range s.keys {
					if strings.HasPrefix(key, "schedule "+l.Name+" ") {
						starts++
					}
				}
				if all := starts + l.Dropped; starts == 0 || all < want[l.Name] || all > want[l.Name]+2 || !l.Waiting.IsZero() {
					t.Errorf("seed %d: %s has %d starts of %d: %+v", seed, l.Name, starts, want[l.Name], l)
				}
			}
		})
	}
}

func simulated() []schedule.Schedule {
	return []schedule.Schedule{
		{Name: "berlin", Job: "test", Cron: "30 2 * * *", Zone: "Europe/Berlin", Missed: "once"},
		{Name: "midnight", Job: "test", Cron: "@daily", Zone: "America/New_York", Overlap: "queue"},
		{Name: "hourly", Job: "test", Cron: "0 * * * *", Zone: "Europe/Berlin", Missed: "once"},
		{Name: "every", Job: "test", Every: schedule.Duration(45 * time.Minute)},
	}
}

// simulate runs the nodes for some days at each change of the clocks, and last for a day without faults.
func simulate(t *testing.T, s *store, r *rand.Rand, days int) *schedule.Clock {
	begin := time.Date(2000, 3, 25, 12, 0, 0, 0, time.UTC)
	end := begin.AddDate(0, 0, days)
	time.Sleep(time.Until(begin))
	nodes := make([]func(), 2)
	_, nodes[0] = s.node(t, simulated()...)
	for time.Now().Before(end.AddDate(0, 0, -1)) {
		time.Sleep(time.Duration(r.IntN(300)) * time.Minute)
		s.set(func() {
			for _, key := range s.keys {
				s.ended[messages.RunID(key)] = s.ended[messages.RunID(key)] || r.IntN(2) == 0
			}
			if s.fail = nil; r.IntN(3) == 0 {
				s.fail = errors.New("refused")
			}
		})
		if n := r.IntN(2); nodes[n] != nil {
			nodes[n]()
			nodes[n] = nil
		} else {
			_, nodes[n] = s.node(t, simulated()...)
		}
		if away := begin.AddDate(0, 0, 2); time.Now().After(away) && time.Now().Before(away.AddDate(0, 0, 1)) {
			stop(nodes)
			time.Sleep(time.Until(end.AddDate(0, 0, -4)))
		}
	}
	s.set(func() { s.fail, s.ended = nil, nil })
	c, last := s.node(t, simulated()...)
	time.Sleep(time.Until(end.Add(time.Minute)))
	stop(append(nodes, last))
	return c
}

func stop(nodes []func()) {
	for i, stop := range nodes {
		if stop != nil {
			stop()
		}
		nodes[i] = nil
	}
}
