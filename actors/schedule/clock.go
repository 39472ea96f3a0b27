package schedule

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// mark is what the nodes remember about a schedule.
type mark struct {
	// Last is the last time that was started or skipped. Run is the last run.
	Last   time.Time      `json:"last,omitzero"`
	Run    messages.RunID `json:"run,omitempty"`
	Paused bool           `json:"paused,omitempty"`
}

// Marks holds the marks of schedules by name.
type Marks map[string]mark

// Config is what a clock needs from its node.
type Config struct {
	Schedules []Schedule // after [Schedule.Check]
	Submit    func(ctx context.Context, q messages.Request) (messages.RunID, error)
	State     func(ctx context.Context, id messages.RunID) (messages.State, error)
	// Load returns the marks that all nodes share, which may be none. Save stores them.
	Load func(ctx context.Context) (Marks, error)
	Save func(ctx context.Context, m Marks) error
	Log  *zap.Logger
}

// Clock starts the jobs of schedules. It is safe for concurrent use.
type Clock struct {
	Config
	mu sync.Mutex // held while the marks are changed
}

const (
	// poll is how often a start that must wait is tried again.
	poll = time.Second
	// longest bounds how long a clock sleeps, because somebody may set the system's clock.
	longest = time.Minute
)

// Run starts jobs until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	due, next := map[string]time.Time{}, map[string]time.Time{}
	marks, err := c.Load(ctx)
	if err != nil {
		c.Log.Warn("the marks of the schedules cannot be read: no missed time is started", zap.Error(err))
	}
	now := time.Now()
	for _, s := range c.Schedules {
		next[s.Name] = s.times.Next(now)
		if last := marks[s.Name].Last; s.Missed == once && !last.IsZero() {
			if t := s.missed(last, now); !t.IsZero() {
				due[s.Name] = t
			}
		}
	}
	for ctx.Err() == nil {
		for i := range c.Schedules {
			s := &c.Schedules[i]
			if !next[s.Name].IsZero() && !next[s.Name].After(now) {
				due[s.Name], next[s.Name] = next[s.Name], s.times.Next(now)
			}
			if t, ok := due[s.Name]; ok && c.start(ctx, s, t) {
				delete(due, s.Name)
			}
		}
		supervision.Sleep(ctx, wait(next, len(due) > 0, time.Now()))
		now = time.Now()
	}
}

// wait returns how long there is nothing to do.
func wait(next map[string]time.Time, waiting bool, now time.Time) time.Duration {
	d := longest
	if waiting {
		d = poll
	}
	for _, t := range next {
		if !t.IsZero() {
			d = min(d, max(t.Sub(now), 0))
		}
	}
	return d
}

// start starts the run for the time t. It reports whether that time is settled.
func (c *Clock) start(ctx context.Context, s *Schedule, t time.Time) (settled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	marks, err := c.Load(ctx)
	if err != nil {
		c.Log.Warn("the marks of the schedules cannot be read", zap.Error(err))
		return false
	}
	m := marks[s.Name]
	if !t.After(m.Last) || m.Paused { // another node, or this node before, has handled this time
		return true
	}
	if c.active(ctx, m.Run) {
		if s.Overlap == queue {
			return false
		}
		c.Log.Info("a schedule skips a time, because its run goes on", zap.String("schedule", s.Name), zap.Time("time", t), zap.String("run", string(m.Run)))
	} else if m.Run, err = c.submit(ctx, s, "schedule "+s.Name+" "+t.UTC().Format(time.RFC3339)); err != nil {
		c.Log.Warn("a schedule starts nothing", zap.String("schedule", s.Name), zap.Time("time", t), zap.Error(err))
		if again := messages.CodeOf(err); again == messages.CodeUnavailable || again == messages.CauseLimitExceeded {
			return false
		}
	}
	m.Last = t
	if err := c.keep(ctx, marks, s.Name, m); err != nil {
		c.Log.Warn("the marks of the schedules cannot be kept", zap.Error(err))
	}
	return true
}

func (c *Clock) keep(ctx context.Context, marks Marks, name string, m mark) error {
	if marks == nil {
		marks = Marks{}
	}
	marks[name] = m
	return c.Save(ctx, marks)
}

func (c *Clock) submit(ctx context.Context, s *Schedule, key string) (messages.RunID, error) {
	return c.Submit(ctx, messages.Request{Job: s.Job, Input: s.Input, Principal: s.Principal, Mode: messages.Detached,
		Labels: map[string]string{"schedule": s.Name}, Key: key})
}

// active reports whether the run goes on. A run that is not found has ended.
func (c *Clock) active(ctx context.Context, id messages.RunID) bool {
	if id == "" {
		return false
	}
	state, err := c.State(ctx, id)
	return err == nil && !state.Status.IsEnded()
}

// find returns the principal's schedule with the name.
func (c *Clock) find(name, principal string) (*Schedule, error) {
	i := slices.IndexFunc(c.Schedules, func(s Schedule) bool { return s.Name == name && s.Principal == principal })
	if i < 0 {
		return nil, messages.InvalidInput("there is no schedule %q", cmp.Or(name, "without a name"))
	}
	return &c.Schedules[i], nil
}
