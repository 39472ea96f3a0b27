package actors

import (
	"cmp"
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
	"go.uber.org/zap"
)

// Journal keeps the events of runs. Packages transport/sqlite and transport/nats have durable ones, [journal.Memory] is
// the default.
type Journal = journal.Journal

// Config configures a System. The zero value is a node with a journal in memory, the default limits, no named jobs,
// and no logging.
type Config struct {
	// Log gets what operators need: one line for each failed run, and problems with the journal. nil logs nothing.
	Log *zap.Logger
	// Journal keeps the events; nil means a new journal in memory.
	Journal Journal
	// Node names this node in run.started.
	Node string
	// Jobs are the kinds of job that Submit can start. Each has its own name.
	Jobs []Definition

	// WallClock is the longest a run may take: 30 min. Stall is the longest it may go without an event: 5 min.
	WallClock, Stall time.Duration
	// Ceilings bound what Options.Limits and the timeout of a question may ask for; more is invalid_input. The limits
	// of a Definition may be higher.
	Ceilings Ceilings
	// CancelSoft is how long cancelled work may take to return before its actors are stopped: 2 s. CancelHard is how
	// long it may then take before it is abandoned: 5 s.
	CancelSoft, CancelHard time.Duration
	// Retention is how long the log of an ended run is kept: 24 h. RetentionBytes bounds the sum of those logs: 1
	// GiB.
	Retention      time.Duration
	RetentionBytes int64
	// Held is called again and again while the journal confirms that this node holds its runs. If it is not called for
	// 8 s, other nodes may take them 2 s later: what works for a run outside this process has to end. May be nil.
	Held func()
	// Drain is how long Close waits for active runs: 30 s.
	Drain time.Duration
	// HandOver says that the journal outlives this node. Then Close ends no run that may start again (see
	// [Job.Restart]): another node, or the next start of this one, continues it.
	HandOver bool
	// LogBytes is the most that the log of one run may hold: 64 MiB.
	LogBytes int64
	// MaxRuns bounds the node's active runs: 1,000. MaxRunsPerPrincipal bounds the active runs of one principal: 32; runs
	// without a principal count towards MaxRuns alone.
	MaxRuns, MaxRunsPerPrincipal int
	// Prices returns the price of a model, or false if it is not known. nil knows none. With it, the end of each call of a
	// model says what the call cost.
	Prices func(model string) (Price, bool)
	// Spend is asked before a principal starts a run, with 0 tokens, and before each call of a model, with an estimate. It
	// returns why the principal may not spend more now, or what to call when the call has ended. Spent is told the
	// tokens of each call, once. Neither is asked for runs that a key finds. They must be safe for concurrent use, and
	// Spent must not block. nil bounds nothing.
	Spend func(ctx context.Context, principal string, tokens int64) (ended func(), err error)
	Spent func(principal string, tokens int64)
	// MaxReaders bounds the readers of one run: 1,000.
	MaxReaders int
	// MaxDepth bounds how deep sub-runs may nest below a top-level run: 32.
	MaxDepth int

	// JournalTimeout is how long a run continues while the journal does not take its events: 30 s. Then the run ends
	// with journal_unavailable.
	JournalTimeout time.Duration

	// Observe is called with each milestone of this node's runs once it is in the journal: one call at a time, and in
	// the order of each run. While it blocks, up to 65,536 milestones wait; later ones are dropped. nil observes
	// nothing.
	Observe func(messages.Event)

	// ActorSystem is the embedder's actor system; nil means a new one.
	ActorSystem *actor.ActorSystem

	// Faults makes faults happen in this node's runs, by its rules; nil means none. A Board without rules costs
	// nothing. A rule may end runs and, with [fault.NodeKill], the process, so it is for tests and staging servers.
	Faults *fault.Board
	// Inject is for tests. It is called at every Point, and may panic, end the goroutine, or block.
	Inject func(Point)
	// Recorded is for tests: see [TaskContext.Recorded].
	Recorded func(ctx context.Context, t *TaskContext, request messages.Body) (recorded []messages.Body, err error)
}

// withDefaults returns the Config with defaults in place of zeros.
func (c Config) withDefaults() Config {
	if c.Journal == nil {
		c.Journal = journal.NewMemory()
	}
	c.Log = cmp.Or(c.Log, zap.NewNop())
	c.WallClock = cmp.Or(c.WallClock, 30*time.Minute)
	c.Stall = cmp.Or(c.Stall, 5*time.Minute)
	c.CancelSoft = cmp.Or(c.CancelSoft, 2*time.Second)
	c.CancelHard = cmp.Or(c.CancelHard, 5*time.Second)
	c.Retention = cmp.Or(c.Retention, 24*time.Hour)
	c.RetentionBytes = cmp.Or(c.RetentionBytes, 1<<30)
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	c.LogBytes = cmp.Or(c.LogBytes, 64<<20)
	c.JournalTimeout = cmp.Or(c.JournalTimeout, 30*time.Second)
	c.MaxRuns = cmp.Or(c.MaxRuns, 1000)
	c.MaxRunsPerPrincipal = cmp.Or(c.MaxRunsPerPrincipal, 32)
	c.MaxReaders = cmp.Or(c.MaxReaders, 1000)
	c.MaxDepth = cmp.Or(c.MaxDepth, 32)
	if c.Held == nil {
		c.Held = func() {}
	}
	c.Ceilings.WallClock = cmp.Or(c.Ceilings.WallClock, longest)
	c.Ceilings.Stall = cmp.Or(c.Ceilings.Stall, longest)
	c.Ceilings.Answer = cmp.Or(c.Ceilings.Answer, longest)
	c.Ceilings.Bytes = cmp.Or(c.Ceilings.Bytes, 1<<50)
	return c
}

// Ceilings bound what callers and tasks may ask for. A zero duration means ten years, and zero bytes means 1 PiB.
type Ceilings struct {
	WallClock, Stall time.Duration
	// Answer bounds the timeout of a question.
	Answer time.Duration
	Bytes  int64
	// Budget bounds what each run with its sub-runs may spend. A run that names no budget gets this one.
	Budget messages.Budget
}

// longest is the upper bound of every duration limit.
const longest = 10 * 365 * 24 * time.Hour

// allows returns an error if a limit is above its ceiling.
func (c Ceilings) allows(l messages.Limits) error {
	return cmp.Or(checkLimit("wall_clock_ms", l.WallClockMS, c.WallClock.Milliseconds()), checkLimit("stall_ms", l.StallMS, c.Stall.Milliseconds()),
		checkLimit("bytes", l.Bytes, c.Bytes), c.affords(l.Budget), checkOnBudget(l.OnBudget))
}

// checkLimit returns an error unless requested is between 0 and most.
func checkLimit(limit string, requested, most int64) error {
	if requested < 0 || requested > most {
		return messages.InvalidInput("%s of %d is not between 0, which is the default, and %d", limit, requested, most)
	}
	return nil
}

// Point is a place where a test may inject a fault: the beginning of an actor's turn, or a step of a task's work.
type Point struct {
	System *System
	Run    messages.RunID
	// Actor is the name of the task, or "run" for the run's actor.
	Actor string
	// Name is one of the constants below or, before a task emits an event, the event's kind.
	Name string
	// Attempt is the number of the task's attempt; 0 in an actor's turn.
	Attempt int
	// Message is what the actor is about to handle; nil in a task's work.
	Message any
	// Task and Context belong to the task's work; nil in an actor's turn.
	Task    *TaskContext
	Context context.Context

	record func(emission)
	err    *error
}

// Names of points: an actor's turn, by what it handles, and the steps of a task's work.
const (
	ActorStarted  = "actor started"
	ActorStopping = "actor stopping"
	ActorStopped  = "actor stopped"
	ActorTurn     = "actor turn"
	WorkBegins    = "work begins"
	WorkReturns   = "work returns"
)

// Fail makes the task's work, or its emit, fail with the error. In an actor's turn it panics.
func (p Point) Fail(err error) {
	if p.err == nil {
		panic(err)
	}
	*p.err = err
}

// Record writes fault.injected into the run's log. If the attempt, or the run's own actor, then fails, the cause is
// injected.
func (p Point) Record(fault string) {
	b := messages.FaultInjected{Fault: fault, Point: p.Name}
	if p.Actor != runName {
		b.Task = p.Actor
	}
	p.record(emission{body: b, message: "injected: " + fault})
}

// runName stands for the run's own actor in a [Point].
const runName = "run"

// turnName returns the point's name for a message that an actor is about to handle.
func turnName(message any) string {
	switch message.(type) {
	case *actor.Started:
		return ActorStarted
	case *actor.Stopping:
		return ActorStopping
	case *actor.Stopped:
		return ActorStopped
	}
	return ActorTurn
}

// inject calls Config.Inject in an actor's turn.
func (s *System) inject(r *activeRun, name string, message any, record func(emission)) {
	s.config.Inject(Point{System: s, Run: r.id, Actor: name, Name: turnName(message), Message: message, record: record})
}

// injectWork calls Config.Inject in a task's work.
func (s *System) injectWork(t *TaskContext, name string) (err error) {
	if s.config.Inject == nil {
		return nil
	}
	s.config.Inject(Point{System: s, Run: t.attempt.run.id, Actor: t.attempt.task.Name, Name: name,
		Attempt: t.attempt.number, Task: t, Context: t.work.Context(), err: &err,
		record: func(e emission) { _ = t.work.Conclude(&e) }})
	return err
}

// affords returns an error for amounts that no budget has, or that are above the ceiling.
func (c Ceilings) affords(b messages.Budget) error {
	most := c.Budget.Amounts()
	for unit, requested := range b.Amounts() {
		if most[unit] > 0 && requested > most[unit] {
			return messages.InvalidInput("the budget's %s=%s is above %s, which this server allows", messages.BudgetUnits[unit],
				messages.FormatAmount(unit, requested), messages.FormatAmount(unit, most[unit]))
		}
	}
	return b.Check()
}

func checkOnBudget(o messages.OnBudget) error {
	if o != "" && o != messages.BudgetEnd && o != messages.BudgetAsk {
		return messages.InvalidInput("on_budget is %s or %s, not %.32q", messages.BudgetEnd, messages.BudgetAsk, o)
	}
	return nil
}

// Price is what a model costs, in [messages.Currency] for a million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Cost returns what the call cost. Tokens that the server had read before, or has stored, have their own prices.
func (p Price) Cost(u messages.Usage) messages.Cost {
	in, out := u.Tokens()
	var read, write int64
	if u.CachedTokens != nil {
		read = min(*u.CachedTokens, in)
	}
	if u.CacheWriteTokens != nil {
		write = min(*u.CacheWriteTokens, in-read)
	}
	amount := float64(in-read-write)*p.Input + float64(read)*cmp.Or(p.CacheRead, p.Input) +
		float64(write)*cmp.Or(p.CacheWrite, p.Input) + float64(out)*p.Output
	return messages.Cost{Amount: amount / 1e6, Currency: messages.Currency}
}

// The units of a budget that this package handles one by one, as indexes of [messages.Amounts].
const (
	unitTokens = iota
	unitInput
	unitOutput
	unitModelCalls
	unitToolCalls
	unitCost
	unitTime
)

// priced returns an error if the budget limits the cost, and a model has no price.
func (s *System) priced(models []string, b messages.Budget) error {
	if b.Cost.Amount == 0 {
		return nil
	}
	for _, name := range models {
		if s.config.Prices == nil {
			return errUnpriced(name)
		}
		if _, known := s.config.Prices(name); !known {
			return errUnpriced(name)
		}
	}
	return nil
}

func errUnpriced(model string) error {
	if model == "" {
		return messages.InvalidInput("the budget limits the cost, and the model is not known before it is asked; name a model that has a price")
	}
	return messages.InvalidInput("the budget limits the cost, and there is no price for the model %.100q; name a file that has it with --prices", model)
}
