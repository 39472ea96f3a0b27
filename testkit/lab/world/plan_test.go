package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// fault is something that goes wrong in a world.
type fault struct {
	kind string
	at   time.Duration // since the world began
	node int           // 0 or 1
	run  int           // of a model's fault, and of a cancel
	n    int           // of the journal's faults: each n-th append
}

// kinds are what may go wrong. A world has one node at least that neither dies nor sleeps.
var kinds = []string{nodeDies, nodeSleeps, journalRefuses, journalSlow, journalUnsure, journalLoses, modelStalls, modelCut, modelFails,
	modelForgets, canceled, hungUp, drained}

const (
	nodeDies       = "node dies"
	nodeSleeps     = "node sleeps"      // a minute long it reaches no journal
	journalRefuses = "journal refuses"  // and takes the block when it comes again
	journalSlow    = "journal is slow"  // a second for a block
	journalUnsure  = "journal unsure"   // the block landed, and the node does not know
	journalLoses   = "journal loses"    // the block did not land, and the node does not know
	modelStalls    = "model stalls"     // after some words, for ever
	modelCut       = "model is cut"     // after some words
	modelFails     = "model fails"      // with an error in its stream
	modelForgets   = "model forgets"    // to end its stream
	canceled       = "cancel"           // by its user
	hungUp         = "connections lost" // the node's connections
	drained        = "node is closed"   // and hands its runs over
)

// plan is what happens in one world, besides what its seed decides.
type plan struct {
	seed   uint64
	faults []fault
}

func (p plan) String() string {
	said := make([]string, len(p.faults))
	for i, f := range p.faults {
		said[i] = fmt.Sprintf("%s (at %s, node %d, run %d, n %d)", f.kind, f.at, f.node, f.run, f.n)
	}
	return fmt.Sprintf("seed %d: %s", p.seed, strings.Join(said, ", "))
}

// without is the plan with one fault less.
func (p plan) without(i int) plan {
	return plan{p.seed, slices.Delete(slices.Clone(p.faults), i, i+1)}
}

// runs is how many a world has.
const runs = 10

// newPlan returns the plan of the seed: up to four faults.
func newPlan(seed uint64) plan {
	dice := rand.New(rand.NewPCG(seed, 1))
	p := plan{seed: seed}
	for range dice.IntN(5) {
		p.faults = append(p.faults, fault{kind: kinds[dice.IntN(len(kinds))], at: time.Duration(dice.IntN(4000)) * time.Millisecond,
			node: 1, run: dice.IntN(runs), n: 2 + dice.IntN(5)})
	}
	return p
}

// has reports whether the plan has a fault of one of the kinds.
func (p plan) has(kinds ...string) bool {
	return slices.ContainsFunc(p.faults, func(f fault) bool { return slices.Contains(kinds, f.kind) })
}
