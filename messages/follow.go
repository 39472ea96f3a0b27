package messages

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Filter selects events for a reader. The zero Filter selects everything. Left-out events still move the reader's
// cursor: a reader continues from the Seq of the last event that was offered to it.
type Filter struct {
	// MilestonesOnly leaves out every delta.
	MilestonesOnly bool `json:"milestones_only,omitempty"`
	// Kinds selects events of these kinds; empty selects all.
	Kinds []Kind `json:"kinds,omitempty"`
	// Streams selects texts and thoughts by name; empty selects all. Other kinds ignore it.
	Streams []string `json:"streams,omitempty"`
}

// Select returns what the filter leaves of the event, and whether that is anything. A terminal always passes. If a
// stream's deltas pass, so do its done event and every rewind. Of a merged event, the selected parts pass.
func (f Filter) Select(e Event) (Event, bool) {
	switch {
	case e.IsTerminal():
		return e, true
	case f.MilestonesOnly && e.IsDelta():
		return Event{}, false
	}
	if m, ok := e.Body.(Merged); ok {
		return f.parts(e, m)
	}
	return e, f.wants(e.Body)
}

func (f Filter) parts(e Event, m Merged) (Event, bool) {
	var left merger
	for _, p := range m.Parts {
		if f.wants(p) {
			left.add(p)
		}
	}
	if len(left.parts) == 0 {
		return Event{}, false
	}
	e.Body = left.body()
	return e.Unshared(), true
}

func (f Filter) wants(b Body) bool {
	row, kind := rowOf(b), b.Kind()
	switch {
	case row.stream != nil:
		name := row.stream(b)
		return f.wantsStream(kind, name) || row.closes != "" && !f.MilestonesOnly && f.wantsStream(row.closes, name)
	case row.takesBack && !f.MilestonesOnly && (f.wantsKind(KindTextDelta) || f.wantsKind(KindThoughtDelta)):
		return true
	}
	return f.wantsKind(kind)
}

func (f Filter) wantsKind(k Kind) bool { return len(f.Kinds) == 0 || slices.Contains(f.Kinds, k) }

func (f Filter) wantsStream(k Kind, stream string) bool {
	return f.wantsKind(k) && (len(f.Streams) == 0 || slices.Contains(f.Streams, stream))
}

// Follow says which of a run's events a reader wants. The zero Follow is all of them, one by one, from the first.
type Follow struct {
	// After is the number of the last event that the reader has.
	After uint64
	// Filter selects events. Left-out events still move the cursor.
	Filter Filter
	// Rate is the most deltas a second; 0 is as they come. Faster deltas are merged, and a milestone flushes them.
	Rate float64
	// Tree adds the events of the run's sub-runs: a child's events come after its child.started, and its child.ended
	// after its terminal.
	Tree bool
	// Cursors are those of a tree's sub-runs, and the run's own where a door has parsed it.
	Cursors Cursors
	// Snapshot, if set, gets the State at the beginning, and the events follow it. It replaces After, for a reader
	// that has no State at its cursor.
	Snapshot func(State)
}

// At is where a reader of the run begins.
func (f Follow) At(id RunID) Cursors {
	at := Cursors{id: {Seq: f.After}}
	for id, c := range f.Cursors {
		at[id] = Cursor{c.Seq, slices.Clone(c.read)}
	}
	return at
}

// Cursor is where a reader is in a run's log.
type Cursor struct {
	// Seq is the number of the last event that the reader has.
	Seq uint64
	// read is how far it has read what later events may repeat: deltas since the last milestone are merged with those
	// that follow them.
	read []place
}

// place is how far a text or thought was read or, with the empty name, the log.
type place struct {
	stream string
	index  uint64 // of the delta that comes next
	bytes  int    // of the text; of the log, the number of its last line
}

// CursorAt is where a reader is who has the State.
func CursorAt(s State) Cursor {
	c := Cursor{Seq: s.Seq}
	for _, t := range s.Streams {
		if !t.Closed && t.Len() > 0 {
			c.read = append(c.read, place{t.Name, t.Index, t.Len()})
		}
	}
	if s.Log.Next > 1 {
		c.read = append(c.read, place{bytes: int(s.Log.Next - 1)})
	}
	return c
}

// Take moves the cursor past the event, and returns what is new of it to a reader who has not read further: so one who
// appends texts holds them exactly. It reports whether anything is new. The texts of a delta that the reader has in part
// begin where those end, and its numbers stay: a Fold whose cursor is a number alone gets the texts whole, and knows them.
func (c *Cursor) Take(e Event) (Event, bool) {
	after := c.Seq
	if e.Seq <= after {
		return e, false
	}
	c.Seq = e.Seq
	if e.Body == nil {
		return e, true
	}
	if !e.IsDelta() {
		c.read = nil
		return e, true
	}
	if e.From > after && len(c.read) == 0 {
		c.note(e.Body)
		return e, true
	}
	left, cut := c.without(e.Body)
	if left == nil {
		return e, false
	}
	if cut {
		e.Body = left
		e = e.Unshared()
	}
	return e, true
}

// Part notes that the reader has the body, the beginning of the deltas that come next: a text in it may be cut
// anywhere. The cursor stays before the event.
func (c *Cursor) Part(body Body) {
	switch b := body.(type) {
	case TextDelta:
		*c.place(b.Stream) = place{b.Stream, b.Index, b.end()}
	case ThoughtDelta:
		c.Part(TextDelta(b))
	case Merged:
		for _, part := range b.Parts {
			c.Part(part)
		}
	default:
		c.note(body)
	}
}

// place returns how far the stream was read.
func (c *Cursor) place(stream string) *place {
	i := slices.IndexFunc(c.read, func(p place) bool { return p.stream == stream })
	if i < 0 {
		c.read = append(c.read, place{stream: stream})
		i = len(c.read) - 1
	}
	return &c.read[i]
}

// note moves the places past the body.
func (c *Cursor) note(body Body) {
	switch b := body.(type) {
	case TextDelta:
		at := c.place(b.Stream)
		at.index, at.bytes = max(at.index, b.Index+max(b.Count, 1)), max(at.bytes, b.end())
	case ThoughtDelta:
		c.note(TextDelta(b))
	case Log:
		if n := len(b.Lines); n > 0 {
			c.place("").bytes = int(b.Lines[n-1].Number)
		}
	case Merged:
		for _, part := range b.Parts {
			c.note(part)
		}
	}
}

// without returns the body without what was read of it, or nil, and whether anything was. It moves the places past it.
func (c *Cursor) without(body Body) (left Body, cut bool) {
	switch b := body.(type) {
	case TextDelta:
		at := *c.place(b.Stream)
		c.note(b)
		switch {
		case at.bytes <= b.Offset:
			return b, false
		case at.bytes >= b.end():
			return nil, true
		}
		index := max(at.index, b.Index) // a part may end before the delta that this one begins with
		b.Count = b.Index + max(b.Count, 1) - index
		had := max(at.bytes-b.begin(), 0)
		b.Index, b.Offset, b.Dropped, b.Text = index, at.bytes, max(b.begin()-at.bytes, 0), b.Text[had:]
		if b.Count == 1 {
			b.Count = 0
		}
		return b, true
	case ThoughtDelta:
		text, cut := c.without(TextDelta(b))
		if text == nil {
			return nil, cut
		}
		return ThoughtDelta(text.(TextDelta)), cut
	case Log:
		had := uint64(c.place("").bytes)
		c.note(b)
		i := slices.IndexFunc(b.Lines, func(l LogLine) bool { return l.Number > had })
		if i < 0 {
			return nil, true
		}
		return Log{Lines: b.Lines[i:]}, i > 0
	case Merged:
		return c.withoutParts(b)
	}
	return body, false
}

func (c *Cursor) withoutParts(b Merged) (left Body, cut bool) {
	var parts []Body
	for _, part := range b.Parts {
		one, less := c.without(part)
		if cut = cut || less; one != nil {
			parts = append(parts, one)
		}
	}
	switch len(parts) {
	case 0:
		return nil, true
	case 1:
		return parts[0], true
	}
	return Merged{Parts: parts}, cut
}

// Append appends the cursor as a text that needs no escapes in a URL: a number and, where that is not enough, how far
// each text was read.
func (c Cursor) Append(b []byte) []byte {
	b = strconv.AppendUint(b, c.Seq, 10)
	for _, p := range c.read {
		b = append(b, '~')
		if plainName(p.stream) {
			b = append(b, p.stream...)
		} else {
			b = base64.RawURLEncoding.AppendEncode(append(b, '.'), []byte(p.stream))
		}
		b = strconv.AppendUint(append(b, '~'), p.index, 10)
		b = strconv.AppendInt(append(b, '~'), int64(p.bytes), 10)
	}
	return b
}

func plainName(stream string) bool {
	return !strings.HasPrefix(stream, ".") && !strings.ContainsFunc(stream, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	})
}

func parseCursor(text string) (c Cursor, ok bool) {
	parts := strings.Split(text, "~")
	var err error
	if c.Seq, err = strconv.ParseUint(parts[0], 10, 63); err != nil || len(parts)%3 != 1 {
		return c, false
	}
	for p := range slices.Chunk(parts[1:], 3) {
		name := []byte(p[0])
		if coded, ok := strings.CutPrefix(p[0], "."); ok {
			if name, err = base64.RawURLEncoding.DecodeString(coded); err != nil {
				return c, false
			}
		}
		index, wrong := strconv.ParseUint(p[1], 10, 63)
		bytes, err := strconv.Atoi(p[2])
		if wrong != nil || err != nil || bytes < 0 {
			return c, false
		}
		c.read = append(c.read, place{string(name), index, bytes})
	}
	return c, true
}

// Cursors are where a reader is in a run and its sub-runs.
type Cursors map[RunID]Cursor

// Plain reports whether their text is a number.
func (c Cursors) Plain() bool {
	for _, one := range c {
		if len(one.read) > 0 {
			return false
		}
	}
	return len(c) == 1
}

// Take is [Cursor.Take] for the event's run.
func (c Cursors) Take(e Event) (Event, bool) {
	at := c[e.RunID]
	e, some := at.Take(e)
	c[e.RunID] = at
	return e, some
}

// ParseCursors reads what [Cursors.Append] wrote for the run, or a plain number; "" is the beginning. Errors:
// invalid_input.
func ParseCursors(run RunID, text string) (Cursors, error) {
	at := Cursors{run: {}}
	if text == "" {
		return at, nil
	}
	for i, one := range strings.Split(text, ",") {
		child, place, found := strings.Cut(one, ":")
		if !found {
			child, place = "", one
		}
		c, ok := parseCursor(place)
		if !ok || found == (i == 0) {
			return nil, InvalidInput("the cursor %.100q is not one that an event had; begin at 0", text)
		}
		id := run
		if found {
			id += RunID("." + child)
		}
		at[id] = c
	}
	return at, nil
}

// Append appends the cursors as one text: the run's, then those of sub-runs by what their ids add to the run's.
func (c Cursors) Append(b []byte, run RunID) []byte {
	b = c[run].Append(b)
	if len(c) == 1 {
		return b
	}
	prefix := string(run) + "."
	for _, id := range slices.Sorted(maps.Keys(c)) {
		if id != run {
			b = append(append(b, ','), strings.TrimPrefix(string(id), prefix)...)
			b = c[id].Append(append(b, ':'))
		}
	}
	return b
}

// Text is the cursors as [Cursors.Append] writes them.
func (c Cursors) Text(run RunID) string { return string(c.Append(nil, run)) }
