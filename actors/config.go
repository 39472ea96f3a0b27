package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"
)

// Config is what a System is made of. Its zero value is a node with a memory journal, the default limits, no named
// jobs, and no word to anybody.
type Config struct {
	// Log is told what operators want to know; nil is silent.
	Log *zap.Logger
	// Journal keeps the events; nil is a new memory journal.
	Journal Journal
	// Node names this node in run.started.
	Node string
	// Jobs are the jobs that a messages.Request may name.
	Jobs map[string]NewJob

	// WallClock is the longest a run may take: 30 min. Stall is the longest it may go without an event: 5 min.
	WallClock, Stall time.Duration
	// CancelSoft is how long cancelled work may take before its actors are stopped: 2 s. CancelHard is when what still
	// runs is abandoned: 5 s.
	CancelSoft, CancelHard time.Duration
	// Retention is how long the log of an ended run is kept: 24 h. RetentionBytes bounds all of them: 1 GiB.
	Retention      time.Duration
	RetentionBytes int64
	// Drain is how long Close waits for active runs: 30 s.
	Drain time.Duration
	// LogBytes is the most that one run's log may hold: 64 MiB.
	LogBytes int64
	// MaxRuns bounds the active runs of the node: 1,000; MaxRunsPerPrincipal those of one principal: 32. Runs without a
	// principal are bounded by MaxRuns alone.
	MaxRuns, MaxRunsPerPrincipal int
	// MaxReaders bounds the readers of one run: 1,000.
	MaxReaders int

	// JournalTimeout is how long a run goes on while the journal does not take its events: 30 s. Then the run ends, with
	// journal_unavailable.
	JournalTimeout time.Duration

	// ActorSystem is the embedder's own, for the System to run in; nil is one of the System's own.
	ActorSystem *actor.ActorSystem

	// Inject is for tests: it is called at the points where a fault may be injected, and may panic, end the goroutine, or
	// block.
	Inject func(Point)
}

func (c Config) withDefaults() Config {
	def(&c.Log, zap.NewNop())
	if c.Journal == nil {
		c.Journal = NewMemoryJournal()
	}
	def(&c.WallClock, 30*time.Minute)
	def(&c.Stall, 5*time.Minute)
	def(&c.CancelSoft, 2*time.Second)
	def(&c.CancelHard, 5*time.Second)
	def(&c.Retention, 24*time.Hour)
	def(&c.RetentionBytes, 1<<30)
	def(&c.Drain, 30*time.Second)
	def(&c.LogBytes, 64<<20)
	def(&c.JournalTimeout, 30*time.Second)
	def(&c.MaxRuns, 1000)
	def(&c.MaxRunsPerPrincipal, 32)
	def(&c.MaxReaders, 1000)
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
