package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

const (
	// pageBytes is the most that the events of a page take, so that a model reads under 1,500 tokens; longPageBytes
	// where the caller says how many events it wants.
	pageBytes     = 5500
	longPageBytes = 32 << 10
)

// page is a stretch of a run's events.
type page struct {
	RunID  messages.RunID    `json:"run_id"`
	Events []json.RawMessage `json:"events"`
	// Next is the cursor: the number of the last event that was read, or what was asked for where there is none.
	Next   uint64    `json:"next"`
	Status RunStatus `json:"status"`
	// Done says that there will be no more events.
	Done bool `json:"done"`

	// room is how many bytes of events there may be; most is how many events, any number if 0.
	room, most int
	// whole has every event as it is; otherwise they come without the run's id, and deltas only if they are wanted.
	whole, deltas bool
	// have is how much the reader has of each open text.
	have texts
}

// pageSchema lets an event without its payload say omitted_bytes: how much that has, which is too big to be here.
const pageSchema = `{"type":"object","required":["run_id","events","next","status","done"],"properties":{` +
	`"run_id":{"type":"string"},` +
	`"events":{"type":"array","items":{"type":"object","required":["seq","ts","type"]}},` +
	`"next":{"type":"integer"},` +
	`"status":{"type":"string"},"done":{"type":"boolean"}}}`

// checkCursor refuses a cursor that no reader of the run can have.
func checkCursor(state messages.State, after uint64) error {
	if last := state.Seq + messages.Reserve; after > last {
		return messages.Errorf(messages.CodeReset, "run %s has no event %d: its last is %d; begin again after 0",
			state.RunID, after, state.Seq)
	}
	return nil
}

// turn fills the page with the run's events past its cursor. Where there are none yet it waits for the first, as long
// as wait.
func (s *Server) turn(ctx context.Context, p *page, state messages.State, wait time.Duration) error {
	if err := checkCursor(state, p.Next); err != nil {
		return err
	}
	ended := state.Status.IsEnded()
	if ended || p.Next < state.Seq {
		if err := s.fill(ctx, p, state.Seq); err != nil {
			return err
		}
	}
	if !ended && len(p.Events) == 0 && wait > 0 {
		within, stop := context.WithTimeout(ctx, wait)
		defer stop()
		err := s.fill(within, p, 0)
		if err != nil && !(errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil) {
			return err
		}
		if state, err = s.Run(ctx, p.RunID); err != nil {
			return err
		}
	}
	p.Status, p.Done = statusOf(state), state.Status.IsEnded() && p.Next >= state.Seq
	return nil
}

// fill reads up to the event with the number head; without one, up to what is there once the page has an event.
func (s *Server) fill(ctx context.Context, p *page, head uint64) error {
	for e, err := range s.runs.Events(ctx, p.RunID, p.Next) {
		if err != nil {
			return err
		}
		if more, err := p.add(e); err != nil || !more {
			return err
		}
		if head == 0 && len(p.Events) > 0 {
			now, err := s.runs.State(ctx, p.RunID)
			if err != nil {
				return err
			}
			head = now.Seq
		}
		if head > 0 && e.Seq >= head {
			return nil
		}
	}
	return nil
}

// add takes the event into the page where it has room, and reports whether there is room for more.
func (p *page) add(e messages.Event) (more bool, err error) {
	if e.IsDelta() && !p.deltas && !p.whole {
		p.Next = e.Seq
		return true, nil
	}
	have := p.have.clone()
	given, some := e, true
	if !p.whole {
		given, some = have.without(e)
	}
	if some {
		data, err := p.text(given, have.has(e.Body))
		if err != nil || len(data) > p.room && len(p.Events) > 0 {
			return false, err
		}
		p.Events = append(p.Events, data)
		p.room -= len(data)
	}
	p.Next, p.have = e.Seq, have
	p.have.close(e.Body)
	return len(p.Events) != p.most || p.most == 0, nil
}

// pageEvent is an event as a page has it.
type pageEvent struct {
	Seq     uint64          `json:"seq"`
	From    uint64          `json:"from,omitempty"`
	Time    json.RawMessage `json:"ts"`
	Type    messages.Kind   `json:"type"`
	Message string          `json:"message,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Omitted int             `json:"omitted_bytes,omitempty"`
}

// text is the event as JSON. The payload is left out where it is too big to be the page's only event, and the text of
// one that closes a text which the reader has.
func (p *page) text(e messages.Event, had bool) (json.RawMessage, error) {
	data, err := json.Marshal(e)
	if err != nil || p.whole && len(data) <= p.room {
		return data, err
	}
	var short pageEvent
	if err := json.Unmarshal(data, &short); err != nil {
		return nil, err
	}
	if had {
		if short.Payload, err = withoutText(short.Payload); err != nil {
			return nil, err
		}
	}
	if len(short.Payload) > p.room && len(p.Events) == 0 {
		short.Omitted, short.Payload = len(short.Payload), nil
	}
	text, err := Text(short)
	return json.RawMessage(text), err
}

// withoutText is the payload of an event that closes a text with the text's length in its place.
func withoutText(payload json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(fields["text"], &text); err != nil {
		return nil, err
	}
	delete(fields, "text")
	fields["bytes"], _ = json.Marshal(len(text))
	return json.Marshal(fields)
}

// lines is the events as JSON lines.
func (p *page) lines() string {
	var b bytes.Buffer
	for _, e := range p.Events {
		b.Write(append(e, '\n'))
	}
	return b.String()
}
