package schedule

import (
	"context"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Name is the name of the job with which callers manage their schedules.
const Name = "schedules"

// Input is the job's input.
type Input struct {
	Action string `json:"action" form:"enum=ls|run|pause|resume" jsonschema:"what to do"`
	Name   string `json:"name,omitempty" jsonschema:"name of the schedule"`
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
}

// Define returns the definition of the job.
func (c *Clock) Define() actors.Definition {
	d := actors.Func(Name, func(ctx context.Context, t *actors.TaskContext, in Input) ([]Line, error) {
		if in.Action == "ls" {
			return c.list(ctx, t.Principal())
		}
		s, err := c.find(in.Name, t.Principal())
		if err != nil {
			return nil, err
		}
		if err := c.do(ctx, in.Action, s, string(t.RunID())); err != nil {
			return nil, err
		}
		line, err := c.line(ctx, s)
		return []Line{line}, err
	})
	d.Title, d.Description = "See to schedules", "Lists the caller's schedules, runs one now, pauses one, or lets it go on."
	return d
}

// do carries out an action for a person. It holds the lock, because Tick changes the same marks.
func (c *Clock) do(ctx context.Context, action string, s *Schedule, by string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	marks, err := c.Load(ctx)
	if err != nil {
		return err
	}
	m := marks[s.Name]
	switch action {
	case "run":
		if m.Run, err = c.submit(ctx, s, "schedule "+s.Name+" "+by); err != nil {
			return err
		}
	case "pause":
		m.Paused = true
	case "resume":
		m.Paused = false
	}
	return c.keep(ctx, marks, s.Name, m)
}

// list describes the principal's schedules, in the order of Clock.Schedules.
func (c *Clock) list(ctx context.Context, principal string) ([]Line, error) {
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
	l := Line{Name: s.Name, Job: s.Job, When: s.when(), Next: s.times.Next(time.Now()), Last: m.Last, Run: m.Run, Paused: m.Paused}
	if state, err := c.State(ctx, m.Run); m.Run != "" && err == nil {
		l.Status = state.Status
	}
	return l, err
}
