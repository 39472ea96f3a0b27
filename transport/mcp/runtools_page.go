package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

const (
	// pageBytes is the maximum size of the events of a page, so that a model reads fewer than 1,500 tokens.
	// longPageBytes applies if the caller says how many events it wants.
	pageBytes     = 5500
	longPageBytes = 32 << 10
)

// page is a range of a run's events. An event that is too long for one page is split over several.
type page struct {
	RunID  messages.RunID    `json:"run_id"`
	Events []json.RawMessage `json:"events"`
	// Next is the cursor of the next page.
	Next   pageCursor      `json:"next"`
	Status messages.Status `json:"status"`
	// Done says that no more events follow.
	Done bool `json:"done"`

	// room is how many bytes of events still fit; most is the maximum number of events, 0 for no limit.
	room, most int
	// whole keeps events as they are. Otherwise the run's id is left out, and so are deltas, unless deltas is set.
	whole, deltas bool
	at            cursor.Cursor // the position up to which events were examined
}

// newPage returns an empty page after the cursor. Errors: invalid_input; reset if the run cannot have the event.
func newPage(state messages.State, after json.RawMessage) (page, error) {
	next, err := parsePageCursor(state.RunID, after)
	if err == nil {
		err = checkCursor(state, next.Seq)
	}
	cur, _ := parsePageCursor(state.RunID, after) // parsed again, because cursors must not share memory
	return page{RunID: state.RunID, Events: []json.RawMessage{}, Next: next, at: cur.Cursor, room: pageBytes}, err
}

// pageSchema is the JSON Schema of a page.
const pageSchema = `{"type":"object","required":["run_id","events","next","status","done"],"properties":{"run_id":{"type":"string"},` +
	`"events":{"type":"array","items":{"type":"object","required":["seq","ts","type"]}},` +
	`"next":{"anyOf":[{"type":"integer"},{"type":"string"}]},"status":{"type":"string"},"done":{"type":"boolean"}}}`

// checkCursor returns an error (reset) for a cursor that no reader of the run can have.
func checkCursor(state messages.State, after uint64) error {
	if last := state.Seq + messages.Reserve; after > last {
		return messages.Errorf(messages.CodeReset, "run %s has no event %d: its last is %d; begin again after 0",
			state.RunID, after, state.Seq)
	}
	return nil
}

// readPage fills the page with events after its cursor. If there are none yet, it waits for the first, at most for the
// duration wait.
func (s *Server) readPage(ctx context.Context, p *page, state messages.State, wait time.Duration) error {
	ended := state.Status.IsEnded()
	if ended || p.Next.Seq < state.Seq {
		if err := s.fill(ctx, p, state, state.Seq); err != nil {
			return err
		}
	}
	if !ended && len(p.Events) == 0 && wait > 0 {
		within, stop := context.WithTimeout(ctx, wait)
		defer stop()
		err := s.fill(within, p, state, 0)
		if err != nil && !(errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil) {
			return err
		}
		if state, err = s.Run(ctx, p.RunID); err != nil {
			return err
		}
	}
	p.Status, p.Done = statusOf(state), state.Status.IsEnded() && p.Next.Seq >= state.Seq
	return nil
}

// fill adds the events up to the number head. If head is 0, it adds what exists as soon as the page has an event. The
// State need not be the newest.
func (s *Server) fill(ctx context.Context, p *page, state messages.State, head uint64) error {
	for e, err := range s.runs.Events(ctx, p.RunID, p.Next.Seq) {
		if err == nil && e.Seq > state.Seq {
			state, err = s.runs.State(ctx, p.RunID)
		}
		if err != nil {
			return err
		}
		if more, err := p.add(e, state); err != nil || !more {
			return err
		}
		if head == 0 && len(p.Events) > 0 {
			head = state.Seq
		}
		if head > 0 && e.Seq >= head {
			return nil
		}
	}
	return nil
}

// add adds an event if it fits, and reports whether more may fit.
func (p *page) add(e messages.Event, state messages.State) (more bool, err error) {
	if e.IsDelta() && !p.deltas && !p.whole {
		p.Next.Cursor = cursor.Cursor{Seq: e.Seq}
		return true, nil
	}
	if event, some := p.at.Take(e); some {
		if whole, err := p.give(event, state); !whole || err != nil {
			return false, err
		}
	}
	p.Next.Take(e)
	p.Next.part = 0
	return len(p.Events) != p.most || p.most == 0, nil
}

// give adds the event, or a part of one that is too long for an empty page. If the reader has a text, the event that
// closes the text does not repeat it. whole is false if something remains for the next page.
func (p *page) give(e messages.Event, state messages.State) (whole bool, err error) {
	data, err := json.Marshal(e)
	if err != nil || p.whole {
		return p.put(data), err
	}
	var short pageEvent
	if err := json.Unmarshal(data, &short); err != nil {
		return false, err
	}
	text, stream := closed(e.Body)
	switch fits := len(short.Payload) <= p.room || len(p.Events) > 0; {
	case p.Next.all && slices.ContainsFunc(state.Streams, func(s messages.Stream) bool { return s.Name == stream && s.Index > 0 }):
		// the reader has had the text in deltas
		return p.textPart(short, text, len(text))
	case fits && p.Next.part == 0:
		return p.putShort(short)
	case e.IsDelta():
		return p.deltaPart(e, short)
	case text != "":
		return p.textPart(short, text, min(p.Next.part, len(text)))
	}
	return p.payloadPart(short)
}

// put adds the event if it fits or is the only one on the page.
func (p *page) put(data []byte) bool {
	if len(data) > p.room && len(p.Events) > 0 {
		return false
	}
	p.Events, p.room = append(p.Events, data), p.room-len(data)
	return true
}

// putShort adds the short form of an event.
func (p *page) putShort(e pageEvent) (bool, error) {
	text, err := Text(e)
	return err == nil && p.put([]byte(text)), err
}

// deltaPart adds as much of the delta's first text as fits.
func (p *page) deltaPart(e messages.Event, short pageEvent) (whole bool, err error) {
	body, cut := cutText(e.Body, p.room)
	if !cut {
		return p.putShort(short)
	}
	if short.Payload, err = json.Marshal(body); err != nil {
		return false, err
	}
	short.Type = messages.KindOf(body)
	if some, err := p.putShort(short); !some || err != nil {
		return false, err
	}
	p.Next.Part(body)
	return false, nil
}

// textPart adds as much of the text that the event closes as fits.
func (p *page) textPart(short pageEvent, text string, from int) (whole bool, err error) {
	var fields map[string]any
	if err := json.Unmarshal(short.Payload, &fields); err != nil {
		return false, err
	}
	to := from + messages.Fitting(text[from:], p.room)
	if fields["bytes"] = len(text); from < to {
		fields["text"], fields["offset"] = text[from:to], from
	} else {
		delete(fields, "text")
	}
	if short.Payload, err = json.Marshal(fields); err != nil {
		return false, err
	}
	return p.putPart(short, to, len(text))
}

// payloadPart adds as much of the payload, as JSON text, as fits.
func (p *page) payloadPart(short pageEvent) (whole bool, err error) {
	text := string(short.Payload)
	from := min(p.Next.part, len(text))
	to := from + messages.Fitting(text[from:], p.room)
	short.Payload, short.Part, short.Offset, short.Bytes = nil, text[from:to], from, len(text)
	return p.putPart(short, to, len(text))
}

// putPart adds a part of an event that ends at to, of total bytes.
func (p *page) putPart(short pageEvent, to, total int) (whole bool, err error) {
	some, err := p.putShort(short)
	if some {
		p.Next.part = to
	}
	return some && to == total, err
}

// cutText returns the body with its first text cut to about room bytes. cut is false if nothing was cut.
func cutText(body messages.Body, room int) (_ messages.Body, cut bool) {
	switch b := body.(type) {
	case messages.TextDelta:
		n := messages.Fitting(b.Text, room)
		cut = n < len(b.Text)
		b.Text = b.Text[:n]
		return b, cut
	case messages.ThoughtDelta:
		text, cut := cutText(messages.TextDelta(b), room)
		return messages.ThoughtDelta(text.(messages.TextDelta)), cut
	case messages.Merged:
		for i, part := range b.Parts {
			switch part.(type) {
			case messages.TextDelta, messages.ThoughtDelta:
				part, cut = cutText(part, room)
				return part, cut || i < len(b.Parts)-1
			}
		}
	}
	return body, false
}

// pageEvent is an event on a page.
type pageEvent struct {
	Seq     uint64          `json:"seq"`
	From    uint64          `json:"from,omitempty"`
	Time    json.RawMessage `json:"ts"`
	Type    messages.Kind   `json:"type"`
	Message string          `json:"message,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	// Part is a part of the payload as JSON text, beginning at Offset. Bytes is the length of the whole payload.
	Part   string `json:"payload_part,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
}

// closed returns the text that a body closes, and the name of its stream.
func closed(body messages.Body) (text, stream string) {
	switch b := body.(type) {
	case messages.TextDone:
		return b.Text, b.Stream
	case messages.ThoughtDone:
		return b.Text, b.Stream
	}
	return "", ""
}

// runListSchema is the JSON Schema of a list of runs.
const runListSchema = `{"type":"object","required":["runs"],"properties":{"runs":{"type":"array","items":{` +
	`"type":"object","required":["run_id","job","status","seq","queued_at","updated_at"]}}}}`

// listedRun is a run in a list, with the status of a [RunResult].
type listedRun struct {
	messages.Summary
	Status    messages.Status `json:"status"`
	Principal string          `json:"principal,omitempty"` // always the caller, so it is left empty
}

// runList lists the caller's runs. It cannot tell waiting runs apart without reading each, so it lists them as working.
func (s *Server) runList(ctx context.Context, a runArguments) (*Result, error) {
	q := messages.Query{Job: a.Job, Limit: cmp.Or(int(a.Limit), 20)}
	if t := s.jobs[a.Job]; t != nil {
		q.Job = t.Job
	}
	switch a.Status {
	case "":
	case working:
		q.Status = []messages.Status{messages.Pending, messages.Processing}
	default:
		q.Status = []messages.Status{a.Status}
	}
	list, err := s.Runs(ctx, q)
	if err != nil {
		return nil, err
	}
	runs := make([]listedRun, len(list))
	for i, run := range list {
		run.Labels = withoutCaller(run.Labels)
		runs[i] = listedRun{Summary: run, Status: statusOf(messages.State{Status: run.Status})}
	}
	return Structured(map[string]any{"runs": runs})
}

// pageCursor is a reader's position in a run, for tools that return pages. Its text is a number if that suffices.
// Otherwise it is a cursor, followed by "!" if all is set, and by "@" and part.
type pageCursor struct {
	cursor.Cursor
	// all says that the reader has every delta up to here, so that the event that closes a text need not repeat it.
	all bool
	// part is how many bytes of the next event's text or payload the reader has.
	part int
}

// parsePageCursor parses a cursor from a JSON number or string. Errors: invalid_input.
func parsePageCursor(run messages.RunID, raw json.RawMessage) (p pageCursor, err error) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // it is valid JSON
	}
	text, part, cut := strings.Cut(text, "@")
	if cut {
		if p.part, err = strconv.Atoi(part); err != nil || p.part < 0 {
			return p, messages.InvalidInput("the cursor %.100s is not from a page; begin at 0", raw)
		}
	}
	text, p.all = strings.CutSuffix(text, "!")
	cur, err := cursor.Parse(run, text)
	p.Cursor = cur[run]
	p.all = p.all || p.Seq == 0
	return p, err
}

// MarshalJSON writes a number if that suffices, else a string.
func (p pageCursor) MarshalJSON() ([]byte, error) {
	text := p.Append(nil)
	if p.all && p.Seq > 0 {
		text = append(text, '!')
	}
	if p.part > 0 {
		text = strconv.AppendInt(append(text, '@'), int64(p.part), 10)
	}
	if _, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return text, nil
	}
	return json.Marshal(string(text))
}
