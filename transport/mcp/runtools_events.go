package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// pageBytes is the most that the events of one answer take. They are in it twice: as structured content, and as text.
const pageBytes = 32 << 10

// page is a stretch of a run's events.
type page struct {
	RunID  messages.RunID    `json:"run_id"`
	Events []json.RawMessage `json:"events"`
	// Next is the cursor: the number of the last event, or what was asked for where there is none.
	Next   uint64    `json:"next"`
	Status RunStatus `json:"status"`
	// Done says that there will be no more events.
	Done bool `json:"done"`

	// room is how many bytes of events there may be; most is how many events, any number if 0.
	room, most int
}

// pageSchema lets an event without its payload say omitted_bytes: how much that has, which is too big to be here.
const pageSchema = `{"type":"object","required":["run_id","events","next","status","done"],"properties":{` +
	`"run_id":{"type":"string"},` +
	`"events":{"type":"array","items":{"type":"object","required":["run_id","seq","ts","type"]}},` +
	`"next":{"type":"integer"},` +
	`"status":{"type":"string"},"done":{"type":"boolean"}}}`

// turn fills the page with the run's events past its cursor. Where there are none yet it waits for the first, unless
// wait is 0.
func (s *Server) turn(ctx context.Context, p *page, state messages.State, wait time.Duration) error {
	waits := !state.Status.IsEnded() && p.Next >= state.Seq
	if !waits || wait > 0 || p.Next > state.Seq+messages.Reserve {
		within, stop := ctx, func() {}
		if waits {
			within, stop = context.WithTimeout(ctx, wait)
		}
		defer stop()
		err := s.fill(within, p, state.Seq)
		if err != nil && !(errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil) {
			return err
		}
	}
	if waits && len(p.Events) > 0 {
		var err error
		if state, err = s.Run(ctx, p.RunID); err != nil {
			return err
		}
	}
	p.Status, p.Done = statusOf(state), state.Status.IsEnded() && p.Next >= state.Seq
	return nil
}

// fill reads up to the event with the number head; where that is behind the cursor, up to what is there once one came.
func (s *Server) fill(ctx context.Context, p *page, head uint64) error {
	late := p.Next >= head
	for e, err := range s.runs.Events(ctx, p.RunID, p.Next) {
		if err != nil {
			return err
		}
		if more, err := p.add(e); err != nil || !more {
			return err
		}
		if late {
			late = false
			now, err := s.runs.State(ctx, p.RunID)
			if err != nil {
				return err
			}
			head = now.Seq
		}
		if e.Seq >= head {
			return nil
		}
	}
	return nil
}

// add takes the event into the page where it has room, and reports whether there is room for more.
func (p *page) add(e messages.Event) (more bool, err error) {
	data, err := json.Marshal(e)
	if err != nil {
		return false, err
	}
	if len(data) > p.room && len(p.Events) == 0 {
		data, err = stub(data)
	}
	if err != nil || len(data) > p.room && len(p.Events) > 0 {
		return false, err
	}
	p.Events = append(p.Events, data)
	p.Next = e.Seq
	p.room -= len(data)
	return len(p.Events) != p.most, nil
}

// stub is the event without its payload, which is too big.
func stub(event []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(event, &fields); err != nil {
		return nil, err
	}
	size, err := json.Marshal(len(fields["payload"]))
	if err != nil {
		return nil, err
	}
	delete(fields, "payload")
	fields["omitted_bytes"] = size
	return json.Marshal(fields)
}
