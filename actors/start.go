package actors

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
)

// mostChildren bounds the live sub-runs of one tree.
const mostChildren = 1000

// Start starts a run of the job. When it returns, run.queued is in the journal. If ctx is done before that, nothing
// more is written; a start with the same key then finds the run, or starts it. An Attached run is cancelled when ctx
// is done. The run belongs to the trace of ctx, unless its labels name one. Errors: invalid_input, limit_exceeded,
// conflict, unavailable, and the errors of Config.Spend.
func (s *System) Start(ctx context.Context, job Job, o Options) (*Run, error) {
	o.Labels = traced(ctx, o.Labels)
	queued, err := s.queued(&job, o, false)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	id := messages.NewRunID()
	if o.Key != "" {
		id = s.runs.keyed(o.Principal, o.Key)
	}
	var r, replaced *activeRun
	var elsewhere []*activeRun
	var mine bool
	err = s.runs.withinQuota(ctx, o.Principal)
	if err == nil && o.Replaces != "" {
		if replaced, elsewhere, err = s.turns(ctx, o.Replaces); messages.CodeOf(err) == messages.CodeNotFound { // as if it were another's
			err = errNotWaiting(o.Replaces)
		}
	}
	if err == nil {
		r, mine, err = s.runs.admit(id, job, queued, o, replaced, elsewhere)
	}
	if err == nil && mine {
		if queued.After = r.after; r.after != "" { // the time of the event is another one
			queued.Place = placeOf(r.queued)
		}
		err = s.runs.open(r, queued)
	}
	if err == nil {
		err = s.runs.opened(ctx, r)
	}
	switch {
	case err == nil && mine:
		s.counts.started.Add(1)
	case ctx.Err() != nil:
		if o.Key == "" && mine {
			s.sendToRuns(&cancelFor{run: r, cancelRun: cancelRun{by: o.Principal, reason: "the caller left before the run was accepted"}})
		}
		return nil, err
	case o.Key != "": // the run may exist already, and then no limit matters
		if err = s.runs.sameRun(ctx, id, queued, err); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	if o.Replaces != "" {
		if err := s.takeBack(ctx, o.Replaces, id, o.Principal); err != nil {
			return nil, err
		}
	}
	if queued.Mode == messages.Attached {
		if err := s.Attach(ctx, id); err != nil {
			return nil, err
		}
	}
	return &Run{system: s, id: id}, nil
}

// traced adds the trace of ctx to the labels, unless they name one.
func traced(ctx context.Context, labels map[string]string) map[string]string {
	all := messages.TraceOf(ctx).Fields()
	if len(all) == 0 || labels[messages.TraceLabel] != "" {
		return labels
	}
	maps.Copy(all, labels)
	return all
}

// keyed returns the id of the run with the key. Only one log can have that id, so keys need no separate store.
func (a *activeRuns) keyed(principal, key string) messages.RunID {
	salt := a.journal.Salt()
	h := hmac.New(sha256.New, salt[:])
	h.Write([]byte(principal + "\x00" + key))
	id := new(big.Int).SetBytes(h.Sum(nil)[:16])
	return messages.RunID(fmt.Sprintf("r_%026s", id.Text(32)))
}

// Submit starts a run of a job in Config.Jobs, by its name and JSON input. The job's own limits hold where the
// request sets none.
func (s *System) Submit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	job, err := s.makeJob(q.Job, q.Input)
	if err != nil {
		return "", err
	}
	if id, steered, err := s.steer(ctx, q, job.Conversation); steered || err != nil {
		return id, err
	}
	run, err := s.Start(ctx, job, Options{Principal: q.Principal, Mode: q.Mode, Labels: q.Labels, Limits: q.Limits, Busy: q.Busy, Replaces: q.Replaces, Key: q.Key})
	if err != nil {
		return "", err
	}
	return run.ID(), nil
}

// Submit starts a sub-run of a job in Config.Jobs, by its name and JSON input. Errors: as for [TaskContext.Start].
func (t *TaskContext) Submit(ctx context.Context, q messages.Request) (*Run, error) {
	job, err := t.attempt.run.system.makeJob(q.Job, q.Input)
	if err != nil {
		return nil, err
	}
	return t.Start(ctx, job, Options{Labels: q.Labels, Limits: q.Limits, Key: q.Key})
}

// makeJob calls the job's factory, and turns its panic into an error.
func (s *System) makeJob(name string, input json.RawMessage) (job Job, err error) {
	d := s.definition(name)
	if d == nil {
		return job, messages.InvalidInput("there is no job %q", name)
	}
	err = s.guarded(func() (err error) { job, err = d.New(input); return err })
	d.describe(&job)
	job.limits = d.Limits
	return job, err
}

// definition returns the definition of the job with the name, or nil.
func (s *System) definition(name string) *Definition {
	return find(s.config.Jobs, name)
}

// find returns the definition with the name, first among the jobs and then among the jobs of their sub-runs, or nil.
func find(jobs []Definition, name string) *Definition {
	if i := slices.IndexFunc(jobs, func(d Definition) bool { return d.Name == name }); i >= 0 {
		return &jobs[i]
	}
	for i := range jobs {
		if d := find(jobs[i].SubJobs, name); d != nil {
			return d
		}
	}
	return nil
}

// describe gives the job what its definition says of recovery and of messages.
func (d *Definition) describe(job *Job) {
	job.Restart, job.NoRestart = job.Restart || d.Restart, job.NoRestart || d.NoRestart
	job.Version, job.Messages = cmp.Or(job.Version, d.Version), job.Messages || d.Messages
}

// knows reports whether the job could be made again after its node is lost. A replayed log needs none, nor does a
// System that knows no job: its runs never go on.
func (s *System) knows(name string) bool {
	return s.definition(name) != nil || s.config.Recorded != nil || len(s.config.Jobs) == 0
}

// Jobs describes the jobs that Submit can start, in the order of Config.Jobs.
func (s *System) Jobs() []messages.JobInfo {
	all := make([]messages.JobInfo, len(s.config.Jobs))
	for i, d := range s.config.Jobs {
		all[i] = messages.JobInfo{Name: d.Name, JobSpec: d.JobSpec}
	}
	return all
}

// checkJobs returns what is wrong with the definitions of a Config, or nil.
func checkJobs(jobs []Definition) error {
	seen := map[string]bool{}
	for _, d := range jobs {
		if d.Name == "" || d.New == nil || seen[d.Name] {
			return messages.InvalidInput("a job needs its own name and a function New: look at %q in Config.Jobs", d.Name)
		}
		if d.Wrong != nil {
			return messages.InvalidInput("the job %s of Config.Jobs cannot work: %v", d.Name, d.Wrong)
		}
		seen[d.Name] = true
	}
	return nil
}

// newRun makes a run with the limits of its first event, or else of the Config. It has not started.
func (a *activeRuns) newRun(id messages.RunID, job Job, queued messages.RunQueued, parent *activeRun) *activeRun {
	r := &activeRun{system: a.System, id: id, job: job, principal: queued.Principal, mode: queued.Mode, parent: parent,
		budgeted: queued.Limits.Budget != messages.Budget{}}
	wall := cmp.Or(time.Duration(max(queued.Limits.WallClockMS, 0))*time.Millisecond, a.config.WallClock)
	if most := time.Duration(queued.Limits.Budget.Time); most > 0 && queued.Limits.OnBudget != messages.BudgetAsk {
		wall = min(wall, most)
	}
	r.clock.deadline = time.Since(log.Origin) + wall
	r.clock.stall = cmp.Or(time.Duration(max(queued.Limits.StallMS, 0))*time.Millisecond, a.config.Stall)
	r.trace = messages.ReadTrace(func(name string) string { return queued.Labels[name] })
	if r.trace == (messages.Trace{}) && parent != nil {
		r.trace = parent.trace
	}
	r.trace = r.trace.Below(messages.SpanID(id, "run"))
	r.log = log.New(id, a.appender, cmp.Or(max(queued.Limits.Bytes, 0), a.config.LogBytes))
	return r
}

// withinQuota asks Config.Spend, and counts the principal's runs on all nodes. Simultaneous starts may exceed the
// limit together.
func (a *activeRuns) withinQuota(ctx context.Context, principal string) error {
	if a.config.Spend != nil {
		if _, err := a.config.Spend(ctx, principal, 0); err != nil {
			return err
		}
	}
	if a.appender.InPlace || principal == "" { // admit counts the runs of the only node
		return nil
	}
	most := a.config.MaxRunsPerPrincipal
	runs, err := a.journal.List(ctx, messages.Query{Principal: principal, Limit: most + 1,
		Status: []messages.Status{messages.Pending, messages.Processing}})
	if err != nil {
		return err
	}
	if len(runs) >= most {
		return errQuota(principal, len(runs))
	}
	return nil
}

func errQuota(principal string, active int) error {
	return messages.LimitExceeded("%s has %d active runs; wait for one to end", principal, active)
}

// admit adds a top-level run, within the limits. mine is false if another start with the same key is opening it.
func (a *activeRuns) admit(id messages.RunID, job Job, queued messages.RunQueued, o Options, replaced *activeRun, elsewhere []*activeRun) (r *activeRun, mine bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.live[id]; r != nil {
		return r, false, nil
	}
	full := messages.CauseLimitExceeded
	principal := queued.Principal
	if err := a.appender.Ready(); err != nil {
		return nil, false, err
	}
	working, before, err := a.turnOf(principal, job.Conversation)
	if replaced != nil && !replaced.counted && replaced.isTurn(principal, cmp.Or(job.Conversation, "\x00")) {
		before, err = replaced, nil
	}
	switch {
	case a.closed != nil:
		return nil, false, a.errClosed()
	case o.Replaces != "" && (replaced == nil || before != replaced):
		return nil, false, errNotWaiting(o.Replaces)
	case working != nil && o.Busy == messages.BusyReject:
		busy := messages.Errorf(messages.CodeConflict, "the conversation %s has a turn that works, %s; start again when it has ended", job.Conversation, working.id)
		busy.Retryable = true
		return nil, false, busy
	case err != nil:
		return nil, false, err
	case before != nil: // a run that waits is not active
	case a.topLevel >= a.config.MaxRuns:
		return nil, false, messages.Errorf(full, "the node has %d active runs; wait for one to end", a.topLevel)
	case principal != "" && a.perPrincipal[principal] >= a.config.MaxRunsPerPrincipal:
		return nil, false, errQuota(principal, a.perPrincipal[principal])
	}
	r = a.newRun(id, job, queued, nil)
	if r.queued = time.Now(); before != nil {
		r.after = before.id
		if o.Replaces != "" {
			r.queued = a.behind(before, elsewhere)
		} else if !r.queued.After(before.queued) { // the order of those that wait
			r.queued = before.queued.Add(placeGap)
		}
	}
	a.add(r)
	return r, true, nil
}

// open sends the run's first block: the beginning of the log, the key, and the work item.
func (a *activeRuns) open(r *activeRun, queued messages.RunQueued) error {
	r.log.OnTrouble(func(messages.Code) { // until the run's actor sets its own alarm
		switch {
		case r.launched():
		case r.log.Dropped() != nil:
			a.owner.release(r)
		case r.log.Durable() == 0: // if the block lands after all, the journal lends the run to some node
			r.log.Drop(messages.Errorf(messages.CodeUnavailable,
				"run %s was given up: the journal did not take its first event", r.id))
		}
	})
	var err error
	body := messages.Body(queued)
	if n := int64((messages.Event{Body: body}).Size()); n > r.log.MaxBytes {
		err = messages.LimitExceeded("the input takes %d bytes, and the run may hold %d; raise the limit", n, r.log.MaxBytes)
	} else {
		err = r.log.Record(time.Now().UTC(), body, r.job.Name+" queued")
	}
	if err != nil {
		a.forget(r)
	}
	return err
}

// opened waits until the first block is in the journal.
func (a *activeRuns) opened(ctx context.Context, r *activeRun) error {
	if r.log.Durable() > 0 {
		return nil
	}
	stored := make(chan error, 1)
	r.log.WhenDurable(1, func(err error) { stored <- err })
	select {
	case err := <-stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.stopped:
		return replied(stored, a.errClosed())
	}
}

// sameRun checks that the run with the key was started with the same job and input.
func (a *activeRuns) sameRun(ctx context.Context, id messages.RunID, queued messages.RunQueued, failed error) error {
	var first *messages.RunQueued
	if r := a.active(id); r != nil && failed == nil {
		first = r.log.State().Queued
	} else if page, err := a.journal.Read(ctx, id, 0); err != nil {
		if failed != nil && messages.CodeOf(err) == messages.CodeNotFound {
			err = failed
		}
		return err
	} else if q, ok := page.Events[0].Body.(messages.RunQueued); ok {
		first = &q
	}
	if first == nil || first.Job != queued.Job || !sameJSON(first.Input, queued.Input) {
		return messages.Errorf(messages.CodeConflict, "the key was used with other input, for run %s; use another key", id)
	}
	return nil
}

// sameJSON compares two JSON texts without white space.
func sameJSON(a, b []byte) bool { return bytes.Equal(compact(a), compact(b)) }

// openChild starts a sub-run that its parent's log names.
func (a *activeRuns) openChild(parent *activeRun, child *childRun) (*activeRun, error) {
	if parent.root().liveSubRuns.Load() >= mostChildren {
		return nil, messages.LimitExceeded("the run has %d sub-runs that have not ended; wait for one", mostChildren)
	}
	r := a.newRun(child.id, child.job, child.queued, parent)
	a.enlist(r)
	a.counts.started.Add(1)
	return r, a.open(r, child.queued)
}

// writeCanceled writes the whole log of a child that was named but never started.
func (a *activeRuns) writeCanceled(parent *activeRun, child *childRun) (*activeRun, error) {
	r := a.newRun(child.id, child.job, messages.RunQueued{Principal: parent.principal}, parent)
	queued := messages.RunQueued{Job: child.job.Name, Principal: parent.principal, Mode: messages.Detached, Parent: parent.id}
	a.enlist(r)
	var err error
	now := time.Now().UTC()
	r.log.With(now, func(l *log.Ledger) {
		err = errors.Join(l.Record(now, queued, child.job.Name+" queued"),
			l.Record(now, messages.RunCanceling{Reason: "its parent ended before it started"}, "canceling"),
			l.Record(now, messages.RunCanceled{By: messages.ByNode, Cause: messages.CauseCanceledByUser,
				Artifacts: []messages.Artifact{}}, "canceled"))
	})
	a.owner.release(r)
	return r, err
}

// Start starts a sub-run, and returns when the run's log names it. Its actor is below the run's actor. It is
// cancelled with the run, and the run ends after it. An attempt that starts a sub-run of the same name gets the same
// sub-run; the name is Options.Key or else the number of the sub-run in its task. Its job is in Config.Jobs or SubJobs
// there, so that it can go on after its node is lost; a System without Jobs takes any. Sub-runs count towards no
// principal's limit. A tree has at most 1,000 live sub-runs, and is at most Config.MaxDepth deep.
func (t *TaskContext) Start(ctx context.Context, job Job, o Options) (*Run, error) {
	a := t.attempt
	s := a.run.system
	o.Principal = a.run.principal
	queued, err := s.queued(&job, o, true)
	if err != nil {
		return nil, err
	}
	if !s.knows(job.Name) {
		return nil, messages.InvalidInput("the job %q of a sub-run is not in Config.Jobs, and could not go on after its node is lost: "+
			"add its Definition, or name it in SubJobs of the parent's", job.Name)
	}
	if queued.Parent = a.run.id; strings.Count(string(queued.Parent), ".") >= s.config.MaxDepth {
		return nil, messages.LimitExceeded("the run is %d sub-runs deep already, and no more are allowed: do the work in this one", s.config.MaxDepth)
	}
	name := o.Key
	if strings.HasPrefix(name, "#") {
		return nil, messages.InvalidInput("the key of a sub-run must not begin with #, as the names of those without a key do")
	}
	if name == "" {
		a.mu.Lock()
		a.children++
		name = "#" + strconv.Itoa(a.children)
		a.mu.Unlock()
	}
	reply := make(chan childStart, 1)
	child, err := request(ctx, t, &childWanted{a, name, job, queued, reply}, reply)
	if err = cmp.Or(err, child.err); err != nil {
		return nil, err
	}
	return &Run{system: s, id: child.id, live: child.run}, nil
}

// compact removes white space from JSON. What is not JSON stays as it is.
func compact(data json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, data) != nil {
		return data
	}
	return out.Bytes()
}
