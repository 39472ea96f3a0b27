package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// mark is what the nodes remember about a schedule.
type mark struct {
	// Last is the last time that was started or dropped, or when the schedule began. Run is the last run.
	Last   time.Time      `json:"last,omitzero"`
	Run    messages.RunID `json:"run,omitempty"`
	Paused bool           `json:"paused,omitempty"`
	// Waiting is the time after Last whose start waits: it was refused, or the run before goes on.
	Waiting time.Time `json:"waiting,omitzero"`
	// Dropped counts the times that started nothing. Note says what went wrong at the last time.
	Dropped int    `json:"dropped,omitempty"`
	Note    string `json:"note,omitempty"`
	// When is the description of the times to which Last belongs.
	When string `json:"when,omitempty"`
	// Was is the mark's text in the store. Load sets it.
	Was string `json:"-"`
}

// Marks holds the marks of schedules by name.
type Marks map[string]mark

// Config is what a clock needs from its node.
type Config struct {
	Schedules []Schedule // after [Schedule.Check]
	Submit    func(ctx context.Context, q messages.Request) (messages.RunID, error)
	State     func(ctx context.Context, id messages.RunID) (messages.State, error)
	// Load returns the marks that all nodes share, which may be none. Save stores those that differ from Was. It fails
	// with conflict if another node has changed one of these since Load.
	Load func(ctx context.Context) (Marks, error)
	Save func(ctx context.Context, m Marks) error
	Log  *zap.Logger
}

// Clock starts the jobs of schedules. It is safe for concurrent use.
type Clock struct{ Config }

const (
	// poll is how soon a start that must wait is tried again.
	poll = time.Second
	// longest bounds how long a clock sleeps, because somebody may set the system's clock, and how soon a refused start
	// is tried again. A mark that is further in the future was written by a wrong clock.
	longest = time.Minute
	// atOnce is the maximum number of concurrent starts.
	atOnce = 32
)

// errGoesOn means that a start waits in the queue.
var errGoesOn = errors.New("the run before goes on")

// plan is what a clock intends for a schedule.
type plan struct {
	next  time.Time // zero if the schedule has no more times
	due   time.Time // the time to start now, or zero
	again time.Time // when to try due again
	tries int       // refusals of due
	seen  time.Time // when it was last advanced, by the clock of the system
}

// advance makes the last time until now due. The marks count the ones before it. If somebody has put the clock back since,
// it plans anew.
func (p *plan) advance(s *Schedule, now time.Time) {
	switch now = now.Round(0); { // the monotonic clock knows of no change
	case now.Before(p.seen):
		if p.next = s.times.Next(now); p.due.After(now) {
			p.due = time.Time{}
		}
	case !p.next.IsZero() && !p.next.After(now):
		_, due := s.passed(p.next.Add(-1), now)
		*p = plan{next: s.times.Next(now), due: due}
	}
	p.seen = now
}

// settle notes how the try to start due has ended.
func (p *plan) settle(now time.Time, err error) {
	switch {
	case err == nil:
		*p = plan{next: p.next, seen: p.seen}
	case errors.Is(err, errGoesOn):
		p.again = now.Add(poll)
	default:
		p.again = now.Add(min(poll<<p.tries, longest))
		p.tries = min(p.tries+1, 6)
	}
}

// Run starts jobs until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	began := time.Now()
	marks, err := c.Load(ctx)
	for ; err != nil && ctx.Err() == nil; marks, err = c.Load(ctx) {
		c.Log.Warn("the schedules wait, because their marks cannot be read", zap.Error(err))
		supervision.Sleep(ctx, longest)
	}
	plans := c.begin(ctx, marks, began)
	for now := began; ctx.Err() == nil; now = time.Now() {
		c.pass(ctx, plans, now)
		supervision.Sleep(ctx, wait(plans, time.Now()))
	}
}

// begin plans from the marks on. A schedule without a mark gets one, so that later times are not lost in silence.
func (c *Clock) begin(ctx context.Context, marks Marks, now time.Time) []plan {
	plans, all, fresh := make([]plan, len(c.Schedules)), Marks{}, false
	maps.Copy(all, marks)
	for i := range plans {
		s := &c.Schedules[i]
		m := marks[s.Name]
		plans[i] = plan{next: s.times.Next(now), due: m.Waiting}
		if isAhead(m.Waiting) {
			plans[i].due = time.Time{}
		}
		if m.Last.IsZero() && m.Waiting.IsZero() {
			m.Last, m.When, fresh = now.UTC().Truncate(time.Second), s.when(), true
			all[s.Name] = m
		} else if s.Missed == once {
			if _, last := s.passed(m.Last, now); !last.IsZero() {
				plans[i].due = last
			}
		}
	}
	if fresh {
		if err := c.Save(ctx, all); err != nil && messages.CodeOf(err) != messages.CodeConflict { // another node was first
			c.Log.Warn("the marks of the schedules cannot be kept", zap.Error(err))
		}
	}
	return plans
}

// wait returns how long there is nothing to do.
func wait(plans []plan, now time.Time) time.Duration {
	d := longest
	for _, p := range plans {
		if !p.next.IsZero() {
			d = min(d, max(p.next.Sub(now), 0))
		}
		if !p.due.IsZero() {
			d = min(d, max(p.again.Sub(now), 0))
		}
	}
	return d
}

// pass starts what is due, and keeps all new marks at once. After a failure it starts the same again, because the key
// of a run finds it.
func (c *Clock) pass(ctx context.Context, plans []plan, now time.Time) {
	var due []int
	for i := range plans {
		p := &plans[i]
		p.advance(&c.Schedules[i], now)
		if !p.due.IsZero() && !p.again.After(now) {
			due = append(due, i)
		}
	}
	if len(due) == 0 {
		return
	}
	errs := make([]error, len(plans))
	marks, failed := c.Load(ctx)
	if failed == nil {
		failed = c.startAll(ctx, plans, due, marks, errs)
	}
	if failed != nil && ctx.Err() == nil {
		c.Log.Warn("the marks of the schedules cannot be read or kept", zap.Error(failed))
	}
	for _, i := range due {
		plans[i].settle(now, cmp.Or(failed, errs[i]))
	}
}

// startAll starts the schedules that are due, and keeps their marks. It gives each outcome to errs.
func (c *Clock) startAll(ctx context.Context, plans []plan, due []int, marks Marks, errs []error) error {
	after := make([]mark, len(plans))
	limit := make(chan struct{}, atOnce)
	var starting sync.WaitGroup
	for _, i := range due {
		limit <- struct{}{}
		starting.Go(func() {
			defer func() { <-limit }()
			s := &c.Schedules[i]
			after[i], errs[i] = c.start(ctx, s, c.mark(s, marks), plans[i].due.UTC())
		})
	}
	starting.Wait()
	changed, all := false, Marks{}
	maps.Copy(all, marks)
	for _, i := range due {
		if name := c.Schedules[i].Name; after[i] != marks[name] && (errs[i] == nil || ctx.Err() == nil) {
			changed, all[name] = true, after[i]
		}
	}
	if !changed {
		return ctx.Err()
	}
	return c.Save(context.WithoutCancel(ctx), all) // what has started is marked also when the clock stops
}

// start starts the run for the time t, and returns the schedule's new mark. Without an error the time is settled.
func (c *Clock) start(ctx context.Context, s *Schedule, m mark, t time.Time) (mark, error) {
	if m.Paused || !t.After(m.Last) || t.Before(m.Waiting) { // another node, or this node before, has handled this time
		return m, nil
	}
	before := m.Note
	m.Note = ""
	c.count(s, &m, t)
	active, err := c.active(ctx, m.Run)
	switch run := messages.RunID(""); {
	case active && s.Overlap == queue:
		err = errGoesOn
	case active:
		c.drop(s, &m, 1, t, errGoesOn.Error())
	case err == nil:
		if run, err = c.submit(ctx, s, "schedule "+s.Name+" "+t.Format(time.RFC3339)); err == nil {
			m.Run = run
		}
	}
	if m.When = s.when(); err == nil {
		m.Last, m.Waiting = t, time.Time{}
		return m, nil
	}
	m.Waiting, m.Note = t, fmt.Sprintf("%s waits: %v", t.Format(time.RFC3339), err)
	if m.Note != before && ctx.Err() == nil {
		c.Log.Warn("a start of a schedule waits", zap.String("schedule", s.Name), zap.Time("time", t), zap.Error(err))
	}
	return m, err
}

// mark returns the schedule's mark, without times that a wrong clock has written.
func (c *Clock) mark(s *Schedule, marks Marks) mark {
	m := marks[s.Name]
	for _, t := range []*time.Time{&m.Last, &m.Waiting} {
		if isAhead(*t) {
			c.Log.Warn("a schedule ignores its mark, which is in the future: was a clock wrong?", zap.String("schedule", s.Name), zap.Time("mark", *t))
			*t = time.Time{}
		}
	}
	return m
}

// isAhead reports whether a wrong clock has written the time of a mark.
func isAhead(t time.Time) bool { return t.After(time.Now().Add(longest)) }

// count drops the times between the mark and t, which nobody has started. It drops none if the times were others.
func (c *Clock) count(s *Schedule, m *mark, t time.Time) {
	n, from := 0, m.Last
	if !m.Waiting.IsZero() && m.Waiting.Before(t) {
		n, from = 1, m.Waiting
	}
	if m.Waiting.Equal(t) || from.IsZero() || m.When != "" && m.When != s.when() {
		return
	}
	passed, _ := s.passed(from, t.Add(-1))
	if n += passed; n > 0 {
		c.drop(s, m, n, t, "a later time came, and nothing had started")
	}
}

// drop counts times that started nothing.
func (c *Clock) drop(s *Schedule, m *mark, n int, t time.Time, why string) {
	m.Dropped += n
	m.Note = fmt.Sprintf("%s, %d dropped: %s", t.Format(time.RFC3339), n, why)
	c.Log.Warn("a schedule drops starts", zap.String("schedule", s.Name), zap.Int("starts", n), zap.Time("time", t), zap.String("why", why),
		zap.String("run", string(m.Run)))
}

func (c *Clock) submit(ctx context.Context, s *Schedule, key string) (messages.RunID, error) {
	return c.Submit(ctx, messages.Request{Job: s.Job, Input: s.Input, Principal: s.Principal, Mode: messages.Detached,
		Labels: map[string]string{"schedule": s.Name}, Key: key})
}

// active reports whether the run goes on. A run that is not found has ended.
func (c *Clock) active(ctx context.Context, id messages.RunID) (bool, error) {
	if id == "" {
		return false, nil
	}
	state, err := c.State(ctx, id)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return false, nil
	}
	return err == nil && !state.Status.IsEnded(), err
}

// find returns the principal's schedule with the name.
func (c *Clock) find(name, principal string) (*Schedule, error) {
	i := slices.IndexFunc(c.Schedules, func(s Schedule) bool { return s.Name == name && s.Principal == principal })
	if i < 0 {
		return nil, messages.InvalidInput("there is no schedule %q; lastword schedules ls lists them", name)
	}
	return &c.Schedules[i], nil
}
