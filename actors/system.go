package actors

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
)

// System is one node: it accepts runs, supervises them, and lets readers follow them. Its methods are safe for
// concurrent use. Several Systems can share one process and one journal.
type System struct {
	archive  *journal.Archive
	relay    *relay
	config   Config
	log      *zap.Logger
	journal  Journal
	node     *supervision.Node
	writer   string // this node's unique name in the journal
	appender *log.Appender
	counts   counts
	jitter   func() float64
	buffers  sync.Pool       // of *stepBuffer
	ctx      context.Context // ends with the System
	end      context.CancelFunc
	top      *actor.PID
	runs     atomic.Pointer[actor.PID]
	subs     atomic.Pointer[actor.PID]
	loops    atomic.Pointer[actor.PID] // of the journalActor
	// recovered: the runs that the journal held at the start were handled, and the loops run.
	recovered atomic.Bool

	mu             sync.Mutex
	live           map[messages.RunID]*activeRun
	most           int // greatest number of active runs since live was last replaced
	topLevel       int // number of active runs that are not sub-runs
	perPrincipal   map[string]int
	broken         map[messages.RunID]error // runs that were set aside, and why
	closed         error                    // why no run is accepted any more
	idle           chan struct{}            // closed when the last run has ended, once closed is set
	idled          sync.Once
	started        chan struct{}   // one send for each static actor that has started
	stopped        chan struct{}   // closed when the top actor has ended
	endedClaims    []journal.Claim // reported to the journal at the next beat
	claimsToReturn []journal.Claim // of runs that were handed over; reported to the journal at the end
	appendTimer    *time.Timer     // inspects appends while runs are active
}

// New starts a node within ctx, and claims the runs that the journal lends. It ends the runs that another node has
// left; those that can be claimed at once have their terminal when New returns. A run with a broken log is set aside;
// see [Stats]. Errors: invalid_input for faulty definitions.
func New(ctx context.Context, config Config) (*System, error) {
	if err := checkJobs(config.Jobs); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	s := &System{config: config, log: config.Log, journal: config.Journal, jitter: mathrand.Float64,
		live: map[messages.RunID]*activeRun{}, perPrincipal: map[string]int{}, broken: map[messages.RunID]error{},
		idle: make(chan struct{}), started: make(chan struct{}, staticActors), stopped: make(chan struct{})}
	s.buffers.New = func() any { return &stepBuffer{} }
	s.ctx, s.end = context.WithCancel(context.Background())
	s.node = supervision.NewNode(slog.New(zapslog.NewHandler(config.Log.Core())), config.ActorSystem)
	s.writer = config.Node + "." + strings.ToLower(rand.Text()[:8])
	if config.Faults != nil {
		s.journal = newFaultyJournal(s)
	}
	s.appender = log.NewAppender(s.ctx, log.Config{Journal: s.journal, Node: s.node, Logger: s.log, Writer: s.writer,
		Timeout: config.JournalTimeout, Observe: config.Observe})
	s.archive, s.relay = journal.NewArchive(s.journal), &relay{wakers: map[messages.RunID][]log.Wake{}}
	s.spawnTree()
	s.recover(ctx)
	return s, nil
}

// Node returns the node's supervision, for the embedder's own actors and for tests.
func (s *System) Node() *supervision.Node { return s.node }

// PID returns the PID of an active run's actor or, with a task, of that task's actor.
func (s *System) PID(id messages.RunID, task string) *actor.PID {
	runs := s.runs.Load()
	pid := actor.NewPID(runs.Address, runs.Id+pathOf(id))
	if task != "" {
		pid.Id += "/" + task
	}
	return pid
}

// pathOf returns the path of a run's actor. A sub-run is below its parent, under the part that its id adds: whole ids
// would make paths that grow with the square of the depth.
func pathOf(id messages.RunID) string { return "/" + strings.ReplaceAll(string(id), ".", "/.") }

// actorOf returns the name of a sub-run's actor under its parent. No task has such a name.
func actorOf(id messages.RunID) string {
	return string(id[max(strings.LastIndexByte(string(id), '.'), 0):])
}

func (s *System) errClosed() error {
	return messages.Errorf(messages.CodeUnavailable, "the node takes no more runs: %v", cmp.Or(s.closed, errClosing))
}

// active returns the run if this node runs it, or nil.
func (s *System) active(id messages.RunID) *activeRun {
	return locked(&s.mu, func() *activeRun { return s.live[id] })
}

// release forgets an ended run once its terminal is in the journal. Later readers read the journal.
func (s *System) release(r *activeRun) {
	r.end(errEnding)
	r.log.WhenDurable(0, func(err error) {
		if err != nil && r.log.Dropped() == nil {
			s.afterPause(loopPause, func() { s.release(r) }) // the journal does not take it now
			return
		}
		s.released(r)
	})
}

// released forgets the run, logs a failure, and reports its claim as over.
func (s *System) released(r *activeRun) {
	if !s.forget(r) {
		return
	}
	r.detach()
	end := r.log.Final()
	if end == nil {
		s.handleLost(r)
		return
	}
	s.counts.ended.Add(1)
	if end.Status == messages.Failed {
		s.logFailure(r, end)
	}
	if r.parent != nil {
		s.sendToRuns(&forgetRun{about: r})
		r.parent.post(newChildOver(r.id, *end))
	}
	claim := r.lent() // a claim that comes later is lent again
	s.mu.Lock()
	defer s.mu.Unlock()
	if claim.Run != "" {
		s.endedClaims = append(s.endedClaims, claim)
	}
}

// logFailure logs the one line that an operator reads about a failed run.
func (s *System) logFailure(r *activeRun, state *messages.State) {
	end := state.End
	fields := []zap.Field{zap.String("run", string(r.id)), zap.String("job", r.job.Name), zap.String("task", end.Task),
		zap.String("cause", string(end.Cause)), zap.String("error", end.Error.Message)}
	if end.Error.Stack != "" {
		fields = append(fields, zap.String("stack", end.Error.Stack))
	}
	s.log.Warn("run failed", fields...)
}

// afterPause calls f after the pause, unless the System is closed by then.
func (s *System) afterPause(pause time.Duration, f func()) {
	time.AfterFunc(pause, func() {
		if s.ctx.Err() == nil {
			f()
		}
	})
}

// forget removes an active run, and reports whether it was active.
func (s *System) forget(r *activeRun) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[r.id] != r {
		return false
	}
	delete(s.live, r.id)
	if end := r.log.Final(); end != nil && end.End.Cause == messages.CauseShutdown {
		s.counts.shutdown.Add(1)
	}
	if r.parent != nil {
		r.root().liveSubRuns.Add(-1)
	} else {
		s.topLevel--
		if r.principal != "" {
			if s.perPrincipal[r.principal]--; s.perPrincipal[r.principal] == 0 {
				delete(s.perPrincipal, r.principal)
			}
		}
	}
	if len(s.live) == 0 && s.most > 8 { // a large map keeps its buckets
		s.live, s.most = map[messages.RunID]*activeRun{}, 0
	}
	if len(s.live) == 0 && s.closed != nil {
		s.setIdle()
	}
	return true
}

// armAppendTimer has appends inspected while runs are active. mu must be held.
func (s *System) armAppendTimer() {
	if s.appendTimer == nil && len(s.live) > 0 {
		s.appendTimer = time.AfterFunc(log.AppendTimeout, s.inspect)
	}
}

// inspect looks for appends without an answer.
func (s *System) inspect() {
	for _, r := range s.all() {
		r.log.Inspect()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appendTimer = nil
	s.armAppendTimer()
}

// all returns the active runs.
func (s *System) all() []*activeRun {
	return locked(&s.mu, func() []*activeRun { return slices.Collect(maps.Values(s.live)) })
}

// setIdle notes that no run is active any more. mu must be held.
func (s *System) setIdle() {
	s.idled.Do(func() { close(s.idle) })
}

// Ready returns nil, or why the node takes no runs now: unavailable while it closes, journal_unavailable while the
// journal takes no events.
func (s *System) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return s.errClosed()
	}
	return s.appender.Ready()
}

// refuse makes the System accept no more runs.
func (s *System) refuse(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return
	}
	s.closed = why
	if len(s.live) == 0 {
		s.setIdle()
	}
}

// closedBy reports whether the System accepts no more runs for that reason. nil asks whether it accepts runs.
func (s *System) closedBy(why error) bool {
	return locked(&s.mu, func() bool { return s.closed == why })
}

var (
	errClosing  = errors.New("it is shutting down")
	errShutdown = messages.Errorf(messages.CauseShutdown, "the node shut down before the run was done")
)

// Close accepts no more runs, and waits for the active ones until ctx is done or Config.Drain has passed. It ends the
// rest as failed by shutdown, and stops every actor. It ends a run that waits for people at once, since nobody may
// ever answer. With Config.HandOver it leaves runs that may start again to another node, and those that wait for
// people at once.
//
// Pass a fresh context: the one that ended the program is done, and with it Close waits for nothing. Close returns
// nil if it had to end no run, and an error that says so if the journal did not take a terminal.
func (s *System) Close(ctx context.Context) error {
	s.refuse(errClosing)
	err := s.drain(ctx)
	s.node.Root().Send(s.top, &stopTree{})
	<-s.stopped
	s.awaitIdle(grace) // runs whose actors were stopped with the tree are being settled
	s.returnClaims()
	switch unended, unwritten := s.abandonLive(); {
	case unended > 0:
		err = messages.Errorf(messages.CauseShutdown, "%d runs did not end in time", unended)
	case unwritten > 0:
		err = messages.Errorf(messages.CauseJournalUnavailable,
			"the journal did not take the terminals of %d runs; the next node that opens it will end them", unwritten)
	}
	s.appender.Drain(s.config.CancelSoft)
	s.end()
	s.relay.notify("") // nobody else wakes the readers any more
	s.node.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.appendTimer != nil {
		s.appendTimer.Stop()
	}
	return err
}

// abandonLive drops the runs that are still active when every actor has ended. It returns how many have no terminal,
// and how many have one that the journal has not taken.
func (s *System) abandonLive() (unended, unwritten int) {
	for _, r := range s.all() {
		if r.log.HasTerminal() || r.log.Durable() == 0 || r.log.Trouble() != nil {
			unwritten++
		} else {
			unended++
		}
		r.end(errShutdown)
		r.log.Close()
		r.detach()
		s.forget(r)
	}
	return unended, unwritten
}

// awaitIdle waits until no run is active. It gives up when no run has ended for the given time.
func (s *System) awaitIdle(patience time.Duration) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for before := len(s.all()); ; {
		select {
		case <-s.idle:
			return
		case <-late.C:
		}
		left := len(s.all())
		if left >= before {
			return
		}
		before = left
		late.Reset(patience)
	}
}

// drain waits for the active runs, and then ends the rest.
func (s *System) drain(ctx context.Context) error {
	s.sendToRuns(&drainRuns{about: true})
	patience := time.NewTimer(s.config.Drain)
	defer patience.Stop()
	select {
	case <-s.idle:
		return s.shutdownError()
	case <-ctx.Done():
	case <-patience.C:
	}
	s.sendToRuns(&drainRuns{})
	s.awaitIdle(2*s.config.CancelHard + 4*grace)
	return s.shutdownError()
}

// shutdownError returns an error if Close had to end runs.
func (s *System) shutdownError() error {
	if s.counts.shutdown.Load() == 0 {
		return nil
	}
	return messages.Errorf(messages.CauseShutdown, "runs were still active and were ended")
}

// waitingChanged handles the begin and the end of a run's wait for people. A node that shuts down does not wait for
// people.
func (s *System) waitingChanged(r *activeRun, waits bool) {
	if waits && !s.closedBy(nil) {
		s.sendToRuns(&drainRuns{about: true})
	}
	if !waits {
		s.sendToRuns(&watchRun{about: r}) // its clocks run again
	}
}

// counts holds a System's counters.
type counts struct {
	started, ended, refused, shutdown, subscriptions atomic.Int64
}

// Stats are a System's counters since its start.
type Stats struct {
	// Active counts the runs and sub-runs that have not ended. Waiting counts those of them that wait for people.
	Active, Waiting int
	Started, Ended  int64
	// RefusedEvents counts events that were not legal. LostFinishes counts terminals that came after the run's
	// terminal.
	RefusedEvents, LostFinishes int64
	// AbandonedTasks and AbandonedActors count what did not end in time. Each may hold a goroutine for good.
	AbandonedTasks, AbandonedActors int64
	// JournalRetries counts appends that failed or went unanswered, and were tried again. LateJournalAnswers counts
	// answers that came too late or twice. Retries of tasks are in the runs' logs.
	JournalRetries, LateJournalAnswers int64
	// Fenced counts the runs that another node took over.
	Fenced int64
	// SetAside lists the runs with broken logs: this node neither continues nor ends them.
	SetAside []messages.RunID
}

// Stats returns the counters.
func (s *System) Stats() Stats {
	n := s.node.Counters()
	stats := Stats{
		Started: s.counts.started.Load(), Ended: s.counts.ended.Load(),
		RefusedEvents: s.counts.refused.Load(), LostFinishes: s.appender.LateFinishes.Load(),
		AbandonedTasks: n.AbandonedTasks, AbandonedActors: n.AbandonedActors,
		JournalRetries: s.appender.Retries.Load(), LateJournalAnswers: s.appender.LateAnswers.Load(), Fenced: s.appender.Fenced.Load(),
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
