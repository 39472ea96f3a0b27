package schedule

import (
	"context"
	"crypto/rand"
	"maps"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Order is what a caller wants of his schedules: "ls", or "run", "pause" or "resume" with the name of one.
type Order struct {
	Action string `json:"action"`
	Name   string `json:"name,omitempty"`
}

// Line describes a schedule in a list.
type Line struct {
	Name   string          `json:"name"`
	Job    string          `json:"job"`
	When   string          `json:"when"`
	Next   time.Time       `json:"next"`
	Last   time.Time       `json:"last,omitzero"`
	Run    messages.RunID  `json:"run,omitempty"`
	Status messages.Status `json:"status,omitempty"` // of Run
	Paused bool            `json:"paused,omitempty"`
	// Waiting is the time whose start waits. Dropped counts the times that started nothing, and Note says why.
	Waiting time.Time `json:"waiting,omitzero"`
	Dropped int       `json:"dropped,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// Operate carries out an order of the principal, and describes the schedules that it is about.
func (c *Clock) Operate(ctx context.Context, principal string, order Order) ([]Line, error) {
	switch order.Action {
	case "ls":
		return c.List(ctx, principal)
	case "run", "pause", "resume":
	default:
		return nil, messages.InvalidInput("the action %q is unknown; use ls, run, pause or resume", order.Action)
	}
	s, err := c.find(order.Name, principal)
	if err == nil {
		err = c.do(ctx, order.Action, s, rand.Text())
	}
	if err != nil {
		return nil, err
	}
	line, err := c.line(ctx, s)
	return []Line{line}, err
}

// do carries out an action for a person. It tries again if another node changes the mark meanwhile.
func (c *Clock) do(ctx context.Context, action string, s *Schedule, by string) error {
	for {
		marks, err := c.Load(ctx)
		if err != nil {
			return err
		}
		m := marks[s.Name]
		if err = c.change(ctx, action, s, &m, by); err != nil {
			return err
		}
		all := Marks{}
		maps.Copy(all, marks)
		all[s.Name] = m
		if err = c.Save(ctx, all); messages.CodeOf(err) != messages.CodeConflict {
			return err
		}
	}
}

// change carries out an action on a mark.
func (c *Clock) change(ctx context.Context, action string, s *Schedule, m *mark, by string) (err error) {
	switch action {
	case "run":
		m.Run, err = c.submit(ctx, s, "schedule "+s.Name+" "+by)
	case "pause":
		if m.Paused = true; !m.Waiting.IsZero() {
			c.drop(s, m, 1, m.Waiting, "the schedule was paused")
			m.Waiting = time.Time{}
		}
	case "resume":
		if m.Paused { // nobody has missed the times since the pause
			m.Paused, m.Last, m.When = false, time.Now().UTC(), s.when()
		}
	}
	return err
}

// List describes the principal's schedules, in the order of Clock.Schedules.
func (c *Clock) List(ctx context.Context, principal string) ([]Line, error) {
	lines := []Line{} // never null
	for i := range c.Schedules {
		if c.Schedules[i].Principal == principal {
			line, err := c.line(ctx, &c.Schedules[i])
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// line describes a schedule. Status stays empty if the last run is no longer known.
func (c *Clock) line(ctx context.Context, s *Schedule) (Line, error) {
	marks, err := c.Load(ctx)
	m := marks[s.Name]
	next := s.times.Next(time.Now())
	l := Line{Name: s.Name, Job: s.Job, When: s.when(), Next: next, Last: m.Last.In(next.Location()), Run: m.Run, Paused: m.Paused,
		Waiting: m.Waiting, Dropped: m.Dropped, Note: m.Note}
	if isAhead(m.Last) || isAhead(m.Waiting) {
		l.Note = "the mark is in the future, and will be ignored: was a clock wrong?"
	}
	if state, err := c.State(ctx, m.Run); m.Run != "" && err == nil {
		l.Status = state.Status
	}
	return l, err
}
