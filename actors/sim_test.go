package actors_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/seed889630bf/lastword/internal/faultplan"
)

var seed = flag.Int64("seed", -1, "simulate this seed alone, two hundred times over")

// simRuns returns how many seeds TestSim plays: a million with LASTWORD_SIM=1, as many as LASTWORD_SIM_RUNS says, or
// 4,000.
func simRuns(t *testing.T) int {
	t.Helper()
	if os.Getenv("LASTWORD_SIM") != "" {
		return 1_000_000
	}
	wish := os.Getenv("LASTWORD_SIM_RUNS")
	if wish == "" {
		return 4_000
	}
	n, err := strconv.Atoi(wish)
	if err != nil || n < 1 {
		t.Fatalf("LASTWORD_SIM_RUNS is %q, not a number of runs", wish)
	}
	return n
}

// TestSim plays seeds from 0 and demands that every cell of the table has happened: "fetch, analyze and write killed by PID
// in each phase" is among them. The seeds of a stretch, which has each cell once, share a System. A seed that fails is named
// with what went wrong; -seed plays it again.
func TestSim(t *testing.T) {
	if *seed >= 0 {
		repeat(t, uint64(*seed))
		return
	}
	runs, begin := simRuns(t), time.Now()
	hits, stretch := map[cell]int{}, len(allCells())
	for first := 0; first < runs && !t.Failed(); first += stretch {
		onStage(t, func(st *stage) {
			st.hint = "go test ./actors -run TestSim$ -seed %d"
			st.play(seeds(first, min(first+stretch, runs))...)
			for one, n := range st.hits() {
				hits[one] += n
			}
			// Alone, a fault blocks one actor at most, and that one is abandoned, a while after its run has ended.
			time.Sleep(2 * stall)
			if _, ever := st.faults.Blocked(); first/stretch%2 == 0 && st.s.Stats().AbandonedActors != ever {
				t.Errorf("%d actors were abandoned, but %d were blocked", st.s.Stats().AbandonedActors, ever)
			}
		})
	}
	table(t, hits)
	if cells := allCells(); runs >= len(cells) {
		for _, one := range cells {
			if hits[one] == 0 {
				t.Errorf("%s has not happened in %d runs", one, runs)
			}
		}
	}
	took := time.Since(begin)
	fmt.Fprintf(t.Output(), "%d runs in %s, %.0f a second\n", runs, took.Round(time.Millisecond), float64(runs)/took.Seconds())
}

func seeds(from, to int) []faultplan.FaultPlan {
	var plans []faultplan.FaultPlan
	for s := from; s < to; s++ {
		plans = append(plans, newPlan(uint64(s)))
	}
	return plans
}

// repeat plays one seed many times, for the races in it.
func repeat(t *testing.T, seed uint64) {
	fmt.Fprintln(t.Output(), newPlan(seed))
	onStage(t, func(st *stage) {
		for range 200 {
			st.play(newPlan(seed))
		}
	})
}

// table prints how often each cell has happened: a line per fault, a column per cancel.
func table(t *testing.T, hits map[cell]int) {
	possible := map[cell]bool{}
	for _, one := range allCells() {
		possible[one] = true
	}
	w := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "failure\tactor\tphase")
	for _, cancel := range cancels() {
		fmt.Fprintf(w, "\t%s", cancel)
	}
	for _, f := range allFaults() {
		fmt.Fprintf(w, "\n%s\t%s\t%s", f.Failure, f.Actor, f.Phase)
		for _, cancel := range cancels() {
			one := cell{Fault: f, Cancel: cancel}
			if possible[one] {
				fmt.Fprintf(w, "\t%d", hits[one])
			} else {
				fmt.Fprint(w, "\t-")
			}
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}
