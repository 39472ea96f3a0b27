package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Marks says, for each target by name, from when on runs are searched.
type Marks map[string]time.Time

// Config is what hooks need from their node.
type Config struct {
	Targets []Target
	// Callback makes the target for a URL that a caller has given; nil allows no callbacks.
	Callback func(url string) (Target, error)
	// Added returns the URLs that callers have added to a run, by their ids; "" says that one was removed. The id of the
	// one that the run was started with is 1. AddedForm is the form of those callbacks.
	Added     func(ctx context.Context, run messages.RunID) (map[string]string, error)
	AddedForm string
	// Forms make the body of a callback, for each protocol that [messages.CallbackFormLabel] names.
	Forms  map[string]func(*messages.RunQueued, messages.Event) json.RawMessage
	System func() *actors.System
	// Send sends a body once. If another attempt may help, its error is retryable; pause is how long to wait before.
	Send func(ctx context.Context, to *Target, id string, body []byte) (pause time.Duration, err error)
	// Load returns the marks that all nodes share, which may be none. Save stores them.
	Load func(ctx context.Context) (Marks, error)
	Save func(ctx context.Context, m Marks) error
	// Redact returns the text without the process's secrets.
	Redact func([]byte) []byte
	Log    *zap.Logger
}

// callback is the name of the target from a run's [messages.CallbackLabel]. The name of an added target also has its id.
const callback = "callback"

// webhookOf returns the name that operators know the target by.
func webhookOf(target string) string {
	name, _, _ := strings.Cut(target, " ")
	return name
}

// Hooks starts deliveries. mu guards pending and resting; since and last belong to the goroutine of Run.
type Hooks struct {
	Config
	wake chan struct{}

	mu      sync.Mutex
	pending map[messages.RunID]bool
	// waitingToRetry holds the deliveries of this node that will try again later.
	waitingToRetry map[messages.RunID]bool
	// since holds the marks as Run found them. last holds the end of the last delivery of each pair.
	since Marks
	last  map[pair]link
}

// link is the end of the last delivery of a pair.
type link struct {
	cursor   uint64
	delivery messages.RunID // the run of that delivery, or ""
}

// pair is a run together with a target.
type pair struct {
	target string
	run    messages.RunID
}

// New returns Hooks. Put their job and their Observe into the System's configuration.
func New(c Config) *Hooks {
	return &Hooks{Config: c, wake: make(chan struct{}, 1), pending: map[messages.RunID]bool{},
		waitingToRetry: map[messages.RunID]bool{}, last: map[pair]link{}}
}

const (
	// sweepEvery is how often the journal is searched.
	sweepEvery = 30 * time.Second
	// slack is the assumed difference between the clocks of nodes.
	slack = time.Minute
)

// Observe gets the milestones of the node's runs.
func (h *Hooks) Observe(e messages.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch b := e.Body.(type) {
	case messages.TaskFailed:
		if b.Task == Name && b.WillRetry {
			h.waitingToRetry[e.RunID] = true
		}
	case messages.TaskRestarted:
		delete(h.waitingToRetry, e.RunID)
	}
	accepts := func(t Target) bool { return slices.Contains(t.kinds(), e.Kind()) }
	if e.IsTerminal() { // the end of a delivery allows the next one
		delete(h.waitingToRetry, e.RunID)
	} else if !slices.ContainsFunc(h.Targets, accepts) && (h.Callback == nil || !accepts(Target{})) {
		return
	}
	h.pending[e.RunID] = true
	select {
	case h.wake <- struct{}{}:
	default: // Run is awake already
	}
}

// Run starts deliveries until ctx ends.
func (h *Hooks) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var marks Marks
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			var err error
			if marks, err = h.sweep(ctx); err != nil {
				h.Log.Warn("the journal cannot be looked through for webhooks", zap.Error(err))
			}
			timer.Reset(sweepEvery)
		case <-h.wake:
		}
		if h.work(ctx) && marks != nil {
			if err := h.Save(ctx, marks); err != nil {
				h.Log.Warn("the marks of the webhooks cannot be kept", zap.Error(err))
			}
			marks = nil
		}
	}
}

// Resting returns the number of deliveries of this node that wait for another attempt.
func (h *Hooks) Resting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.waitingToRetry)
}

// names returns the names of the targets.
func (h *Hooks) names() (all []string) {
	for _, t := range h.Targets {
		all = append(all, t.Name)
	}
	if h.Callback != nil {
		all = append(all, callback)
	}
	return all
}

// sweep finds the runs that have ended or asked since the marks. It returns the marks to store once these runs are
// handled, or nil if nothing has changed.
func (h *Hooks) sweep(ctx context.Context) (next Marks, err error) {
	since, err := h.Load(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	oldest, fresh := now, false
	if h.since, next = (Marks{}), maps.Clone(since); next == nil {
		next = Marks{}
	}
	for _, name := range h.names() {
		if h.since[name] = since[name]; since[name].IsZero() {
			h.since[name], fresh = now, true
		}
		if h.since[name].Before(oldest) {
			oldest = h.since[name]
		}
		next[name] = now
	}
	found, err := h.runsSince(ctx, oldest.Add(-slack))
	if err != nil || len(found) == 0 && !fresh {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(h.pending, found)
	maps.DeleteFunc(h.last, func(p pair, _ link) bool { return !h.pending[p.run] })
	return next, nil
}

// runsSince returns the runs that were updated since the time.
func (h *Hooks) runsSince(ctx context.Context, oldest time.Time) (map[messages.RunID]bool, error) {
	found, q := map[messages.RunID]bool{}, messages.Query{Everyone: true, Limit: 100}
	for {
		list, err := h.System().List(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range list {
			s := &list[i]
			if s.UpdatedAt.Before(oldest) {
				return found, nil
			}
			if s.Job != Name && (s.Status.IsEnded() || len(s.OpenRequests) > 0) {
				found[s.RunID] = true
			}
		}
		if len(list) < q.Most() {
			return found, nil
		}
		q.After = &list[len(list)-1]
	}
}

// work starts the deliveries of the pending runs, and reports whether none is left.
func (h *Hooks) work(ctx context.Context) (all bool) {
	h.mu.Lock()
	runs := slices.Sorted(maps.Keys(h.pending))
	clear(h.pending)
	h.mu.Unlock()
	full := map[string]bool{} // targets that accept no more deliveries now
	for _, run := range runs {
		if !h.settle(ctx, run, full) {
			h.mu.Lock()
			h.pending[run] = true
			h.mu.Unlock()
		}
	}
	return len(full) == 0
}

// settle starts the deliveries of the run, and reports whether it is done.
func (h *Hooks) settle(ctx context.Context, run messages.RunID, full map[string]bool) (done bool) {
	state, err := h.System().State(ctx, run)
	if of := runOf(state); of != "" {
		state, err = h.System().State(ctx, of)
	}
	if messages.CodeOf(err) == messages.CodeNotFound || err == nil && state.Queued == nil {
		return true
	}
	if err != nil {
		h.Log.Warn("a run cannot be read for webhooks", zap.String("run", string(run)), zap.Error(err))
		full[""] = true
		return false
	}
	targets, err := h.targetsOf(ctx, state)
	if err != nil {
		h.Log.Warn("the callbacks of a run cannot be read", zap.String("run", string(run)), zap.Error(err))
		full[""] = true
		return false
	}
	done = true
	for _, to := range targets {
		if state.UpdatedAt.Before(h.since[webhookOf(to.Name)].Add(-slack)) {
			continue
		}
		if full[to.Name] {
			done = false
			continue
		}
		if err := h.start(ctx, to, state); err != nil {
			h.Log.Debug("a delivery has to wait", zap.String("webhook", to.Name), zap.String("run", string(run)), zap.Error(err))
			full[to.Name], done = true, false
		}
	}
	return done
}

// runOf returns the run that a delivery is about, or "" for any other run.
func runOf(state messages.State) messages.RunID {
	var in deliveryInput
	if state.Queued == nil || state.Queued.Job != Name || json.Unmarshal(state.Queued.Input, &in) != nil {
		return ""
	}
	return in.Run
}

// targetsOf returns the targets that accept events of the run.
func (h *Hooks) targetsOf(ctx context.Context, run messages.State) (all []*Target, err error) {
	for i := range h.Targets {
		if h.Targets[i].acceptsRun(run.Queued) {
			all = append(all, &h.Targets[i])
		}
	}
	named, err := h.callbacks(ctx, run)
	return append(all, named...), err
}

// callbacks returns the targets that callers have named for the run.
func (h *Hooks) callbacks(ctx context.Context, run messages.State) (all []*Target, err error) {
	if h.Callback == nil {
		return nil, nil
	}
	urls := map[string]string{"1": run.Queued.Labels[messages.CallbackLabel]}
	if h.Added != nil {
		var added map[string]string
		added, err = h.Added(ctx, run.RunID)
		maps.Copy(urls, added)
	}
	for _, id := range slices.Sorted(maps.Keys(urls)) {
		to, refused := h.Callback(urls[id])
		if refused != nil { // such as no URL
			continue
		}
		if to.Name, to.form = callback, run.Queued.Labels[messages.CallbackFormLabel]; id != "1" {
			to.Name, to.form = callback+" "+id, h.AddedForm
		}
		all = append(all, &to)
	}
	return all, err
}

// start follows the chain of the run's deliveries, and starts the next one if the log has more events for the target.
func (h *Hooks) start(ctx context.Context, to *Target, state messages.State) error {
	key := pair{to.Name, state.RunID}
	for h.last[key].cursor < state.Seq {
		last := h.last[key]
		found, err := h.readEvents(ctx, to, state.RunID, last.cursor)
		if err != nil {
			return err
		}
		if len(found.Messages) == 0 {
			h.last[key] = link{max(found.Cursor, state.Seq), last.delivery}
			return nil
		}
		delivery, err := h.submit(ctx, deliveryInput{Target: to.Name, Run: state.RunID, After: last.cursor},
			fmt.Sprintf("%s %d %s%s", state.RunID, last.cursor, last.delivery, strings.TrimPrefix(to.Name, webhookOf(to.Name))))
		if err != nil || !delivery.Status.IsEnded() {
			return err
		}
		end, lost := endOf(delivery, last.cursor)
		if end <= last.cursor && !lost { // otherwise the next delivery would end for the same reason
			end = found.Cursor
		}
		h.last[key] = link{end, delivery.RunID}
	}
	return nil
}

// submit starts the delivery with the key, or finds it.
func (h *Hooks) submit(ctx context.Context, in deliveryInput, key string) (state messages.State, err error) {
	input, err := json.Marshal(in)
	if err != nil {
		return state, err
	}
	id, err := h.System().Submit(ctx, messages.Request{Job: Name, Input: input, Principal: principal(in.Target), Key: key,
		Mode: messages.Detached, Labels: map[string]string{"run": string(in.Run)}})
	if err != nil {
		return state, err
	}
	return h.System().State(ctx, id)
}

// endOf returns the cursor where the next delivery begins. lost: the delivery could not continue because no node had
// its target, and has not sent everything.
func endOf(delivery messages.State, cursor uint64) (end uint64, lost bool) {
	sent := map[string]bool{}
	for _, step := range delivery.Kept {
		sent[step.Step] = true
	}
	e := delivery.End
	lost = e.Cause == messages.CauseNodeLost || e.Cause == messages.CauseShutdown || e.Error != nil && e.Error.Code == messages.CodeNotFound
	unsent := uint64(math.MaxUint64)
	for _, step := range delivery.Kept {
		var one taken
		if !strings.HasPrefix(step.Step, takeStep) || json.Unmarshal(step.Result, &one) != nil {
			continue
		}
		cursor = max(cursor, one.Cursor)
		for _, m := range one.Messages {
			if lost && !sent[fmt.Sprint(sendStep, m.Seq)] {
				unsent = min(unsent, m.Seq-1)
			}
		}
	}
	return min(cursor, unsent), lost
}

// find returns the target with the name.
func (h *Hooks) find(name string) (*Target, error) {
	i := slices.IndexFunc(h.Targets, func(t Target) bool { return t.Name == name })
	if i < 0 {
		return nil, messages.Errorf(messages.CodeNotFound, "the server has no webhook %q", name)
	}
	return &h.Targets[i], nil
}
