package actors

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
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
	runs    activeRuns // accepts runs
	owner   owner      // claims and settles them
	readers readers    // reads their logs

	config   Config
	log      *zap.Logger
	journal  Journal
	node     *supervision.Node
	writer   string // this node's unique name in the journal
	appender *log.Appender
	counts   counts
	jitter   func() float64
	buffers  sync.Pool       // of *stepBuffer
	refills  sync.Map        // the IDs of refills that parents elsewhere have not answered
	ctx      context.Context // ends with the System
	end      context.CancelFunc
	top      *actor.PID
	runsPID  atomic.Pointer[actor.PID]
	subs     atomic.Pointer[actor.PID]
	loops    atomic.Pointer[actor.PID] // of the journalActor
	started  chan struct{}             // one send for each static actor that has started
	stopped  chan struct{}             // closed when the top actor has ended
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
		started: make(chan struct{}, staticActors), stopped: make(chan struct{})}
	s.runs = activeRuns{System: s, live: map[messages.RunID]*activeRun{}, untold: map[messages.RunID]time.Time{}, perPrincipal: map[string]int{},
		broken: map[messages.RunID]error{}, idle: make(chan struct{})}
	s.owner.System = s
	s.buffers.New = func() any { return &stepBuffer{} }
	s.ctx, s.end = context.WithCancel(context.Background())
	s.node = supervision.NewNode(slog.New(zapslog.NewHandler(config.Log.Core())), config.ActorSystem)
	s.writer = config.Node + "." + strings.ToLower(rand.Text()[:8])
	if config.Faults != nil {
		s.journal = newFaultyJournal(s)
	}
	s.appender = log.NewAppender(s.ctx, log.Config{Journal: s.journal, Node: s.node, Logger: s.log, Writer: s.writer,
		Timeout: config.JournalTimeout, Observe: config.Observe})
	s.readers = readers{System: s, archive: journal.NewArchive(s.journal), wakers: map[messages.RunID][]log.Wake{}}
	s.spawnTree()
	s.owner.recover(ctx)
	return s, nil
}

// Node returns the node's supervision, for the embedder's own actors and for tests.
func (s *System) Node() *supervision.Node { return s.node }

// PID returns the PID of an active run's actor or, with a task, of that task's actor.
func (s *System) PID(id messages.RunID, task string) *actor.PID {
	runs := s.runsPID.Load()
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

// afterPause calls f after the pause, unless the System is closed by then.
func (s *System) afterPause(pause time.Duration, f func()) {
	time.AfterFunc(pause, func() {
		if s.ctx.Err() == nil {
			f()
		}
	})
}

// Ready returns nil, or why the node takes no runs now: unavailable while it closes, journal_unavailable while the
// journal takes no events.
func (s *System) Ready() error {
	if !s.runs.closedBy(nil) {
		return s.runs.errClosed()
	}
	return s.appender.Ready()
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
	s.runs.refuse(errClosing)
	err := s.drain(ctx)
	s.node.Root().Send(s.top, &stopTree{})
	<-s.stopped
	s.runs.awaitIdle(grace) // runs whose actors were stopped with the tree are being settled
	s.owner.returnClaims()
	switch unended, unwritten := s.runs.abandon(); {
	case unended > 0:
		err = messages.Errorf(messages.CauseShutdown, "%d runs did not end in time", unended)
	case unwritten > 0:
		err = messages.Errorf(messages.CauseJournalUnavailable,
			"the journal did not take the terminals of %d runs; the next node that opens it will end them", unwritten)
	}
	s.appender.Drain(s.config.CancelSoft)
	s.end()
	s.readers.notify("") // nobody else wakes the readers any more
	s.node.Close()
	return err
}

// drain waits for the active runs, and then ends the rest.
func (s *System) drain(ctx context.Context) error {
	s.sendToRuns(&drainRuns{about: true})
	patience := time.NewTimer(s.config.Drain)
	defer patience.Stop()
	select {
	case <-s.runs.idle:
		return s.shutdownError()
	case <-ctx.Done():
	case <-patience.C:
	}
	s.sendToRuns(&drainRuns{})
	s.runs.awaitIdle(2*s.config.CancelHard + 4*grace)
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
	if waits && !s.runs.closedBy(nil) {
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
	// Active counts the runs and sub-runs that have not ended. Waiting counts the runs among them that wait for people.
	Active, Waiting int
	Started, Ended  int64
	// RefusedEvents counts events that were not legal. LostFinishes counts terminals that came after the run's
	// terminal.
	RefusedEvents, LostFinishes int64
	// AbandonedTasks and AbandonedActors count what did not end in time. Each may hold a goroutine permanently.
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
	stats.Active, stats.Waiting, stats.SetAside = s.runs.count()
	return stats
}
