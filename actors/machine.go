package actors

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// machine is a run as a state machine: step takes a message, records events in the ledger, and returns effects.
//
// It has no clock, no randomness and no actors, and never waits: time and jitter are inputs. The run's actor drives
// it, and so does the simulation. It has no lock, since only its driver may touch it.
type machine struct {
	job  *Job
	node string
	// epoch is the epoch of the ownership that run.started begins.
	epoch uint64
	// soft is how long cancelled work may take before its actors are stopped; hard is how long it may then take
	// before it is abandoned.
	soft, hard time.Duration
	jitter     func() float64
	ledger     *log.Ledger

	phase any // what the run is doing: one of queuing to done below
	next  int // index of the task after the current one
	// current is the attempt that may emit events: it has begun, and what follows it is not decided yet.
	current *attempt
	// working is the attempt whose work runs. It may outlive its actor, and may no longer be current.
	working  *attempt
	liveTask string // the task whose actor is alive and takes the next attempt
	actors   int    // number of live task actors
	result   json.RawMessage
	partial  bool // the result is degraded

	questions map[string]*openQuestion     // the open ones, by name
	children  map[messages.RunID]*childRun // the children that have not ended
	childIDs  map[string]messages.RunID    // all children, by the task and the task's name for them
	unborn    map[messages.RunID]bool      // children that the log of a restarted run names, but that have no log
	clocks    clockState

	budgeted bool                       // the run has a budget
	prices   func(string) (Price, bool) // nil knows none
	counts   func(tokens int64)         // counts them for the principal; may be nil
	short    []any                      // what waits for the parent's reply, in order

	now     time.Time
	effects []effect
}

// What a run is doing.
type (
	// queuing: the run waits for the end of the run before it in its conversation.
	queuing struct{}
	// opening: the event that takes ownership is not durable yet.
	opening struct{}
	// attempting: the current attempt runs, or is about to run.
	attempting struct{}
	// backingOff: an attempt has failed. The next one waits for its delay, and for the failed attempt's work to end.
	backingOff struct{ next *attempt }
	// settling: the attempt has returned, but children that this attempt did not ask for are alive.
	settling struct{ done *attempt }
	// finishing: all tasks are done, but not all children.
	finishing struct{}
	// ending: the terminal is known or the run is handed over. Whatever is still alive is being ended.
	ending struct {
		terminal messages.Body // nil for a run that is handed over to another node
		message  string
		stopped  bool // the task actors were asked to stop
		limited  bool // the hard limit is running
		gaveUp   bool // the hard limit has passed: what still runs is abandoned
	}
	// done: the terminal is in the ledger.
	done struct{}
)

// Messages from the run's actor to its machine, besides the events of tasks. Reply channels have room for the reply.
type (
	runActorStarted struct{} // the run's actor has started
	opened          signal   // the event that takes ownership is durable
	// called: what a delayed attempt waited for is durable: its start, or the steps that it kept.
	called   notice[*attempt]
	returned struct {
		supervision.NoDeadLetterLog
		attempt *attempt
		err     error
	}
	// taskActorEnded: a task's actor has ended. running says that its work goes on, and that lateWorkEnded will
	// follow.
	taskActorEnded struct {
		task    string
		err     error
		running bool
	}
	lateWorkEnded notice[*attempt]
	attemptDue    notice[*attempt]
	retryDue      notice[*attempt]
	softLimit     signal
	hardLimit     signal
	cancelRun     struct {
		supervision.NoDeadLetterLog
		id, by, reason string
		waiting        bool // only if it waits for its turn
		reply          chan<- error
	}
	expireRun notice[messages.Code]
	// leaveRun: the node shuts down, and another node may continue the run.
	leaveRun  signal
	overLimit struct{ bytes int64 }
)

// effectKind is what the run's actor must do.
type effectKind uint8

const (
	doCall          effectKind = iota // start the attempt in its task's actor
	doCancel                          // cancel the run's work, with err as the cause
	doCancelIt                        // cancel the attempt, with err as the cause
	doStop                            // stop the tasks' actors
	doAbandon                         // abandon work and actors
	doAfter                           // send the message to the run after the delay
	doWhenKept                        // send the message to the run once everything recorded is durable
	doTell                            // call tell, which sends a reply on a channel
	doKept                            // reply once everything recorded is durable
	doFollowTurn                      // tell the run when the run before it in its conversation has ended
	doBegun                           // the run no longer waits for its turn
	doStartChild                      // start the child
	doWriteCanceled                   // write the whole log of a child that was never started
	doCancelChild                     // cancel the child
	doFollowChild                     // report the end of a child that has no parent on this node
	doHandOverChild                   // ask the child to let another node continue it
	doInterrupt                       // end what the attempt has made interruptible
	doAskParent                       // ask the parent for more of the budget's unit
	doClocks                          // pause or resume the run's clocks
	doRefused                         // log that an event was refused
	doLeave                           // the terminal is recorded: stop
	doHandOver                        // nothing is alive: let another node continue the run
)

// effect is one thing that the run's actor must do after a step. Which fields are set depends on do.
type effect struct {
	do      effectKind
	attempt *attempt
	message any
	after   time.Duration
	seq     uint64
	err     error
	reply   chan<- error
	tell    func()
	child   *childRun
	clocks  clockState
	kind    messages.Kind
	spawn   bool // the attempt needs a new actor
}

// Causes for cancelling a run's work.
var (
	errCanceled = messages.Errorf(messages.CauseCanceledByUser, "the run was cancelled")
	errEnding   = messages.Errorf(messages.CauseError, "the run is ending")
)

// step handles one message. The effects are valid until the next step.
func (m *machine) step(now time.Time, message any) []effect {
	m.now, m.effects = now, m.effects[:0]
	switch msg := message.(type) {
	case *emission:
		m.emitted(msg)
	case *returned:
		m.workEnded(msg.attempt)
		m.attemptOver(msg.attempt, msg.err)
	case *taskActorEnded:
		m.taskActorEnded(msg)
	case *lateWorkEnded:
		m.lateWorkEnded(msg.about)
	case *runActorStarted:
		m.begin()
	case *opened:
		m.opened()
	case *called:
		if _, ok := m.phase.(attempting); ok && msg.about == m.current {
			m.work(m.current)
		}
	case *attemptDue:
		m.attemptDue(msg.about)
	case *retryDue:
		m.retry(msg.about)
	case *softLimit:
		if w, ok := m.phase.(*ending); ok {
			m.stop(w)
		}
	case *hardLimit:
		m.abandon()
	case *cancelRun:
		m.cancel(msg)
	case *expireRun:
		m.expire(msg.about)
	case *leaveRun:
		m.handOver()
	case *overLimit:
		m.fail(messages.LimitExceeded("the run's events take more than %d bytes; raise the limit or say less", msg.bytes))
	default:
		m.questionOrChild(message)
	}
	m.updateClocks()
	return m.effects
}

// do adds an effect.
func (m *machine) do(e effect) { m.effects = append(m.effects, e) }

// seq returns the number of the newest event.
func (m *machine) seq() uint64 { return m.ledger.Fold.Peek().Seq }

// after has the message sent to the run after the delay.
func (m *machine) after(d time.Duration, message any) {
	m.do(effect{do: doAfter, after: d, message: message})
}

// whenKept has the message sent to the run once everything recorded is durable.
func (m *machine) whenKept(message any) {
	m.do(effect{do: doWhenKept, seq: m.seq(), message: message})
}

// record adds an event. A refusal is returned, and logged for the operator.
func (m *machine) record(body messages.Body, message string) error {
	return m.refused(body, m.ledger.Record(m.now, body, message))
}

func (m *machine) refused(body messages.Body, err error) error {
	if err != nil {
		m.do(effect{do: doRefused, kind: messages.KindOf(body), err: err})
	}
	return err
}

// nextAttempt records the start of an attempt and makes it the current one.
func (m *machine) nextAttempt(a *attempt) {
	m.current = a
	if a.number == 1 {
		_ = m.record(messages.TaskStarted{Task: a.task.Name, Attempt: 1}, taskMessage(a.task.Name, "started", ""))
	} else {
		_ = m.record(messages.TaskRestarted{Task: a.task.Name, Attempt: a.number}, taskMessage(a.task.Name, "restarted", ""))
	}
}

// call starts the current attempt. A task that must not run twice waits until its start is durable; one with kept
// steps waits until the steps are durable.
func (m *machine) call(a *attempt) {
	if a.task.Deadline > 0 {
		m.after(a.task.Deadline, &attemptDue{about: a})
	}
	m.findKept(a)
	if a.task.Once || len(a.steps) > 0 {
		m.whenKept(&called{about: a})
		return
	}
	m.work(a)
}

// work has the attempt's work started, in the task's actor or in a new one.
func (m *machine) work(a *attempt) {
	m.working = a
	spawn := m.liveTask != a.task.Name
	if spawn {
		m.liveTask = a.task.Name
		m.actors++
	}
	m.do(effect{do: doCall, attempt: a, spawn: spawn})
}

// nextTask begins the next task, or ends the run once its children have ended.
func (m *machine) nextTask() {
	if m.next == len(m.job.Tasks) {
		m.phase = finishing{}
		m.finish()
		return
	}
	m.phase = attempting{}
	m.nextAttempt(m.attemptAt(&m.job.Tasks[m.next]))
	m.next++
	m.call(m.current)
}

// finish completes the run, unless children are alive.
func (m *machine) finish() {
	if m.ledger.Fold.OpenChildren() == 0 {
		m.end(messages.RunCompleted{By: messages.ByRun, Result: m.result, Degraded: m.partial}, m.job.Name+" completed", errEnding)
	}
}

// emitted records a task's event, and replies to the task.
func (m *machine) emitted(e *emission) {
	if e.attempt == nil { // an injected fault, perhaps of work that outlives its attempt
		_ = m.record(e.body, e.message)
		return
	}
	if e.attempt != m.current {
		tell[error](m, e.verdict, errSilenced)
		return
	}
	if !m.afford(e) {
		return
	}
	piece, rest := messages.Pieces(e.body)
	err := m.said(e, piece)
	for i := 0; i < len(rest) && err == nil; i++ {
		err = m.said(e, rest[i])
	}
	if err == nil {
		m.spent(e.body)
	}
	if err == nil && e.durable {
		m.kept(e.verdict)
		return
	}
	tell(m, e.verdict, err)
}

// said records what an attempt says.
func (m *machine) said(e *emission, body messages.Body) error {
	return m.refused(body, m.ledger.Record(m.now, m.ledger.Stamp(body, e.attempt.task.Name), e.message))
}

// errSilenced refuses what an attempt says after its end was decided.
var errSilenced = messages.Errorf(messages.CauseError, "the attempt has ended: it can emit nothing more")

// attemptOver decides what follows an attempt that has returned, or whose actor has ended.
func (m *machine) attemptOver(a *attempt, err error) {
	if w, ok := m.phase.(*ending); ok {
		m.settle(w)
		return
	}
	if a != m.current {
		m.resume()
		return
	}
	if a.overdue != nil {
		err = a.overdue
	}
	if err == nil {
		err = m.unasked(a)
	}
	if err == nil {
		m.phase = settling{a}
		m.cancelUnclaimed(a)
		m.completed(a)
		return
	}
	m.current = nil
	a.outcome() // nobody takes its outcome
	d := a.task.Policy.Decide(supervision.Failure{Attempt: a.number, Err: err}, m.jitter())
	d.Cause = m.ledger.Cause(a.task.Name, d.Cause)
	_ = m.record(messages.TaskFailed{Task: a.task.Name, Attempt: a.number, Cause: d.Cause, Error: d.Error,
		WillRetry: d.Retry, DelayMS: d.Delay.Milliseconds()}, taskMessage(a.task.Name, "failed", d.Error.Message))
	if !d.Retry {
		m.end(messages.RunFailed{By: author(err), Cause: d.Cause, Task: a.task.Name, Error: d.Error}, d.Error.Message, d.Error)
		return
	}
	next := &attempt{task: a.task, number: a.number + 1, lost: a.lost}
	m.phase = backingOff{next}
	m.after(d.Delay, &retryDue{about: next})
}

// completed ends an attempt that returned without an error, once the children that it did not ask for have ended.
func (m *machine) completed(a *attempt) {
	if m.hasUnclaimed(a) {
		return
	}
	summary, result, degraded := a.outcome()
	if result != nil {
		m.result, m.partial = result, degraded
	}
	m.current = nil
	_ = m.record(messages.TaskCompleted{Task: a.task.Name, Attempt: a.number}, taskMessage(a.task.Name, "completed", summary))
	m.nextTask()
}

// taskActorEnded handles the end of a task's actor. It comes after everything that the task emitted.
func (m *machine) taskActorEnded(g *taskActorEnded) {
	m.actors--
	if m.liveTask == g.task {
		m.liveTask = ""
	}
	if m.working != nil && m.working.task.Name == g.task && !g.running {
		m.working = nil
	}
	if w, ok := m.phase.(*ending); ok {
		m.settle(w)
		return
	}
	a := m.current
	if _, ok := m.phase.(attempting); !ok || a == nil || a.task.Name != g.task {
		m.ledger.ForgetFaults(g.task)
		m.resume() // the task is done, or its next attempt gets a new actor
		return
	}
	err := cmp.Or(g.err, supervision.ErrKilled)
	m.attemptOver(a, err)
}

// lateWorkEnded handles the end of work that has outlived its actor.
func (m *machine) lateWorkEnded(a *attempt) {
	m.workEnded(a)
	if w, ok := m.phase.(*ending); ok {
		m.settle(w)
		return
	}
	m.resume()
}

func (m *machine) workEnded(a *attempt) {
	if m.working == a {
		m.working = nil
	}
}

// resume retries an attempt that waited for the earlier attempt's work to end.
func (m *machine) resume() {
	if p, ok := m.phase.(backingOff); ok && p.next.due {
		m.retry(p.next)
	}
}

// retry begins the next attempt once the earlier attempt's work has ended, which may outlive its actor.
func (m *machine) retry(next *attempt) {
	p, ok := m.phase.(backingOff)
	if !ok || p.next != next {
		return
	}
	next.due = true
	if m.working != nil {
		return // lateWorkEnded follows
	}
	m.phase = attempting{}
	m.nextAttempt(next)
	m.call(next)
}
