package actors

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// System is one node: it accepts runs, supervises them, and lets them be read. Several Systems can live in one process.
type System struct {
	config  Config
	log     *zap.Logger
	journal Journal
	node    *supervision.Node
	counts  counts
	top     *actor.PID
	runs    *actor.PID
	subs    *actor.PID

	mu      sync.Mutex
	live    map[messages.RunID]*activeRun
	owners  map[string]int
	closed  error         // why no run is accepted any more
	idle    chan struct{} // closed when the last run has ended after closed was set
	up      chan struct{} // runs and subscribers say here that they have started
	gone    chan struct{} // closed when the top actor has ended
	sweeper *time.Timer
}

// New starts a node. Runs that the journal holds without a terminal get one before New returns.
func New(ctx context.Context, config Config) (*System, error) {
	config = config.withDefaults()
	s := &System{config: config, log: config.Log, journal: config.Journal,
		live: map[messages.RunID]*activeRun{}, owners: map[string]int{}, idle: make(chan struct{}),
		up: make(chan struct{}, 2), gone: make(chan struct{})}
	if err := s.recover(ctx); err != nil {
		return nil, err
	}
	s.node = supervision.NewNode(slog.New(zapslog.NewHandler(config.Log.Core())), nil)
	s.spawnTree()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armSweep() // the journal may hold ended runs from before
	return s, nil
}

// Node returns the node's supervision, for embedders' own actors and for tests.
func (s *System) Node() *supervision.Node { return s.node }

// PID returns the PID of an active run's actor, or of one of its tasks' where task is not "".
func (s *System) PID(id messages.RunID, task string) *actor.PID {
	pid := actor.NewPID(s.runs.Address, s.runs.Id+"/"+string(id))
	if task != "" {
		pid.Id += "/" + task
	}
	return pid
}

// inject lets a test fail a turn.
func (s *System) inject(r *activeRun, name string, c actor.Context) {
	if s.config.Inject != nil {
		s.config.Inject(Point{Run: r.id, Actor: name, Message: c.Message()})
	}
}

// Start accepts a run of the job. When it returns, run.queued is in the journal. ctx bounds an Attached run: the run is
// cancelled when ctx is done. Errors: invalid_input, limit_exceeded, conflict, unavailable.
func (s *System) Start(ctx context.Context, job Job, o Options) (*Run, error) {
	queued, err := job.queued(o)
	if err != nil {
		return nil, err
	}
	r := s.newRun(job, queued, o)
	if err := s.admit(r, o.Principal); err != nil {
		return nil, err
	}
	if err := s.open(ctx, r, queued); err != nil {
		s.release(r)
		return s.sameRun(err, r)
	}
	s.node.Root().Send(s.runs, &startRun{r})
	if queued.Mode == messages.Attached {
		r.attach(context.AfterFunc(ctx, func() { s.tellCancel(r.id, o.Principal, context.Cause(ctx).Error()) }))
	}
	s.counts.started.Add(1)
	select {
	case <-s.gone: // nobody is left to run it
		s.finishLost(errShutdown)
		return nil, messages.Errorf(messages.CodeUnavailable, "the node takes no more runs: %v", errClosed)
	default:
		return &Run{system: s, id: r.id}, nil
	}
}

// Submit is Start for a request by name and JSON, as surfaces make it.
func (s *System) Submit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	newJob := s.config.Jobs[q.Job]
	if newJob == nil {
		return "", invalid("there is no job %q", q.Job)
	}
	job, err := newJob(q.Input)
	if err != nil {
		return "", err
	}
	run, err := s.Start(ctx, job, Options{Principal: q.Principal, Mode: q.Mode, Labels: q.Labels, Limits: q.Limits, Key: q.Key})
	if err != nil {
		return "", err
	}
	return run.ID(), nil
}

func (s *System) newRun(job Job, queued messages.RunQueued, o Options) *activeRun {
	id := messages.NewRunID()
	ctx, end := context.WithCancelCause(context.Background())
	r := &activeRun{id: id, job: job, ctx: ctx, end: end}
	wall := positive(time.Duration(queued.Limits.WallClockMS)*time.Millisecond, s.config.WallClock)
	r.deadline = time.Now().Add(wall)
	r.stall = positive(time.Duration(queued.Limits.StallMS)*time.Millisecond, s.config.Stall)
	key := Key{}
	if o.Key != "" {
		key = Key{Principal: o.Principal, Key: o.Key, Input: messages.Digest(job.Name + "\x00" + string(queued.Input))}
	}
	r.log = newLog(id, s.journal, positive(queued.Limits.Bytes, s.config.LogBytes), key, &s.counts)
	return r
}

func positive[T int64 | time.Duration](wish, fallback T) T {
	if wish > 0 {
		return wish
	}
	return fallback
}

// admit makes the run an active one, within the bounds.
func (s *System) admit(r *activeRun, principal string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := messages.Code(messages.CauseLimitExceeded)
	switch {
	case s.closed != nil:
		return messages.Errorf(messages.CodeUnavailable, "the node takes no more runs: %v", s.closed)
	case len(s.live) >= s.config.MaxRuns:
		return messages.Errorf(full, "the node has %d active runs; wait for one to end", len(s.live))
	case principal != "" && s.owners[principal] >= s.config.MaxRunsPerPrincipal:
		return messages.Errorf(full, "%s has %d active runs; wait for one to end", principal, s.owners[principal])
	}
	s.live[r.id] = r
	if principal != "" {
		s.owners[principal]++
	}
	return nil
}

// open writes run.queued and waits until it is visible.
func (s *System) open(ctx context.Context, r *activeRun, queued messages.RunQueued) error {
	if err := r.log.record(queued, r.job.Name+" queued"); err != nil {
		return err
	}
	if r.log.shows() { // the journal was as quick as that
		return nil
	}
	bell := r.log.listen()
	defer r.log.unlisten(bell)
	for {
		if why := r.log.why(); why != nil || r.log.shows() {
			return why
		}
		select {
		case <-bell:
		case <-ctx.Done():
			r.log.finish(failure(messages.ByNode, "", context.Cause(ctx)), "the caller left before the run was accepted")
			return context.Cause(ctx)
		}
	}
}

// sameRun turns a key that is taken into the run that has it, when it was used for the same.
func (s *System) sameRun(err error, r *activeRun) (*Run, error) {
	used, ok := errors.AsType[*KeyUsedError](err)
	switch {
	case !ok:
		return nil, err
	case used.Input != r.log.key.Input:
		return nil, messages.Errorf(messages.CodeConflict,
			"the key %q was used with other input, for run %s; use another key", r.log.key.Key, used.Run)
	}
	return &Run{system: s, id: used.Run}, nil
}

// release forgets an ended run: readers that come later are served by the journal.
func (s *System) release(r *activeRun) {
	r.cancel(errEnding)
	if !r.log.whenDurable(func() { s.release(r) }) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[r.id] != r {
		return
	}
	delete(s.live, r.id)
	r.detach()
	if q := r.log.current().Queued; q != nil && q.Principal != "" {
		if s.owners[q.Principal]--; s.owners[q.Principal] == 0 {
			delete(s.owners, q.Principal)
		}
	}
	if len(s.live) == 0 {
		s.live = map[messages.RunID]*activeRun{}
		if s.closed != nil {
			close(s.idle)
		}
	}
	s.counts.ended.Add(1)
	s.armSweep()
}

func (s *System) active(id messages.RunID) *activeRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// State returns what the run's log adds up to now. Errors: not_found.
func (s *System) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	if r := s.active(id); r != nil && !r.log.dropped() {
		return r.log.snapshot(), nil
	}
	var state messages.State
	for after := uint64(0); !state.Status.IsEnded(); after = state.Seq {
		events, err := s.journal.Read(ctx, id, after)
		if err != nil || len(events) == 0 {
			return state, err
		}
		for _, e := range events {
			if state, err = state.Apply(e); err != nil {
				return state, err
			}
		}
	}
	return state, nil
}

// Cancel asks the run to end and returns once the cancel is accepted, or the run has ended. Asking again is fine.
func (s *System) Cancel(ctx context.Context, id messages.RunID, by, reason string) error {
	r := s.active(id)
	if r == nil {
		return s.canceled(ctx, id)
	}
	s.tellCancel(id, by, reason)
	bell := r.log.listen()
	defer r.log.unlisten(bell)
	for {
		if r.log.dropped() {
			return s.canceled(ctx, id)
		}
		if state := r.log.snapshot(); state.Canceling || state.Status.IsEnded() {
			return nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// canceled answers a cancel of a run that is not active here: it has ended, or nobody here can take the cancel.
func (s *System) canceled(ctx context.Context, id messages.RunID) error {
	state, err := s.State(ctx, id)
	if err == nil && !state.Canceling && !state.Status.IsEnded() {
		return errElsewhere(id)
	}
	return err
}

func errElsewhere(id messages.RunID) error {
	return messages.Errorf(messages.CodeUnavailable, "run %s is not active on this node; ask again later", id)
}

func (s *System) tellCancel(id messages.RunID, by, reason string) {
	s.node.Root().Send(s.runs, &cancelFor{id, cancelRun{by, reason}})
}

// Answer gives a run the answer that it waits for. Errors: not_found when it does not wait for this request.
func (s *System) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage, principal string) error {
	r := s.active(id)
	if r == nil {
		return messages.Errorf(messages.CodeNotFound, "run %s is not active", id)
	}
	reply := make(chan error, 1)
	s.node.Root().Send(s.PID(id, ""), &answerInput{request: request, value: value, principal: principal, reply: reply})
	select {
	case err := <-reply:
		return err
	case <-r.ctx.Done():
		return replied(reply, messages.Errorf(messages.CodeNotFound, "run %s is ending", id))
	case <-ctx.Done():
		return replied(reply, context.Cause(ctx))
	}
}

// replied returns the reply where there is one: what ended the waiting may be what the reply set off.
func replied(reply <-chan error, otherwise error) error {
	select {
	case err := <-reply:
		return err
	default:
		return otherwise
	}
}

// Stats are a System's counters since it began. Of the Active runs those Waiting wait for an answer.
type Stats struct {
	Active, Waiting                          int
	Started, Ended                           int64
	RefusedEvents, LostFinishes              int64
	AbandonedTasks, AbandonedActors, Retries int64
}

// Stats returns the counters.
func (s *System) Stats() Stats {
	active, waiting := s.standing()
	n := s.node.Counters()
	return Stats{
		Active: active, Waiting: waiting, Started: s.counts.started.Load(), Ended: s.counts.ended.Load(),
		RefusedEvents: s.counts.refused.Load(), LostFinishes: s.counts.losers.Load(), Retries: s.counts.retries.Load(),
		AbandonedTasks: n.AbandonedTasks, AbandonedActors: n.AbandonedActors,
	}
}

func (s *System) standing() (active, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.live {
		if waitsForPeople(r) {
			waiting++
		}
	}
	return len(s.live), waiting
}

// finishRun writes the terminal that the run's supervisor owes it.
func (s *System) finishRun(r *activeRun, why error) {
	if why == nil || errors.Is(why, supervision.ErrKilled) {
		why = messages.Errorf(messages.Code(messages.CauseError), "the run's actor was stopped from outside")
	}
	word := failure(messages.BySupervisor, "", why)
	if errors.Is(why, supervision.ErrAbandoned) {
		word.Cause = messages.CauseStalled
		word.Error = messages.Errorf(messages.Code(messages.CauseStalled), "the run's actor did not answer and was abandoned")
	}
	r.log.finish(word, word.Error.Message)
}

// finishLost ends the runs of a runs' supervisor that is gone.
func (s *System) finishLost(why error) {
	s.mu.Lock()
	lost := make([]*activeRun, 0, len(s.live))
	for _, r := range s.live {
		if r.log.current().Seq > 0 { // one that is not yet queued will be sent to the next supervisor
			lost = append(lost, r)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(lost, func(a, b *activeRun) int { return a.deadline.Compare(b.deadline) })
	for _, r := range lost {
		r.cancel(errEnding)
		s.finishRun(r, why)
		s.release(r)
	}
}

// armSweep has ended logs forgotten when their time has come. Under mu.
func (s *System) armSweep() {
	if s.sweeper == nil && s.closed == nil {
		s.sweeper = time.AfterFunc(min(s.config.Retention, time.Minute)+time.Millisecond, s.sweep)
	}
}

func (s *System) sweep() {
	left, err := s.journal.Expire(context.Background(), time.Now().Add(-s.config.Retention), s.config.RetentionBytes)
	if err != nil {
		s.log.Warn("retention", zap.Error(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweeper = nil
	if left > 0 || err != nil {
		s.armSweep()
	}
}
