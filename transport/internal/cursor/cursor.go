package cursor

import (
	"encoding/base64"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Cursor is a reader's position in the log of one run. The zero Cursor is at the beginning. It is not safe for
// concurrent use.
type Cursor struct {
	// Seq is the number of the last event that the reader has.
	Seq uint64
	// read holds how far the reader has read what later events may repeat: deltas since the last milestone may be
	// merged with those that follow. A milestone empties it, but for open texts that were read whole.
	read []place
	// digest says that the reader asks for digests, so that it matters whether a text was read whole.
	digest bool
}

// place is how far a text or thought was read. The place with the empty name is for log lines.
type place struct {
	stream string
	index  uint64    // the index of the next delta
	bytes  int       // the length that was read; for log lines, the number of the last line
	whole  bool      // every byte of it was read
	sum    hash.Hash // of those bytes; nil if some were read on another connection
	done   string    // of a long text that is closed, its digest, or "." if that came on another connection
}

// At returns the position of a reader that has read the State.
func At(s messages.State) Cursor {
	c := Cursor{Seq: s.Seq}
	for _, t := range s.Streams {
		if !t.Closed && t.Len() > 0 {
			c.read = append(c.read, place{stream: t.Name, index: t.Index, bytes: t.Len()})
		}
	}
	if s.Log.Next > 1 {
		c.read = append(c.read, place{bytes: int(s.Log.Next - 1)})
	}
	return c
}

// Take moves the cursor past the event, and returns the part of the event that is new to the reader. It reports whether
// anything is new. If the reader has part of a delta, the returned text begins after that part. The event's numbers
// stay as they are.
func (c *Cursor) Take(e messages.Event) (messages.Event, bool) {
	after := c.Seq
	if e.Seq <= after {
		return e, false
	}
	c.Seq = e.Seq
	if e.Body == nil {
		return e, true
	}
	if !e.IsDelta() {
		c.read = c.open(e.Body)
		return e, true
	}
	if e.From > after && len(c.read) == 0 {
		c.note(e.Body)
		return e, true
	}
	rest, cut := c.without(e.Body)
	if rest == nil {
		return e, false
	}
	if cut {
		e.Body = rest
		e = e.Unshared()
	}
	return e, true
}

// Part records that the reader has the body, which is the beginning of the deltas that come next. A text in it may be
// cut anywhere. Seq does not change, since the event is not complete.
func (c *Cursor) Part(body messages.Body) {
	switch b := body.(type) {
	case messages.TextDelta:
		*c.place(b.Stream) = place{stream: b.Stream, index: b.Index, bytes: b.End()}
	case messages.ThoughtDelta:
		c.Part(messages.TextDelta(b))
	case messages.Merged:
		for _, part := range b.Parts {
			c.Part(part)
		}
	default:
		c.note(body)
	}
}

// place returns the place of a stream, and creates it if necessary.
func (c *Cursor) place(stream string) *place {
	i := slices.IndexFunc(c.read, func(p place) bool { return p.stream == stream })
	if i < 0 {
		c.read = append(c.read, place{stream: stream})
		i = len(c.read) - 1
	}
	return &c.read[i]
}

// note moves the places past the body.
func (c *Cursor) note(body messages.Body) {
	switch b := body.(type) {
	case messages.TextDelta:
		at := c.place(b.Stream)
		if c.digest {
			at.hear(b)
		}
		at.index, at.bytes = max(at.index, b.Index+max(b.Count, 1)), max(at.bytes, b.End())
	case messages.ThoughtDelta:
		c.note(messages.TextDelta(b))
	case messages.Log:
		if n := len(b.Lines); n > 0 {
			c.place("").bytes = int(b.Lines[n-1].Number)
		}
	case messages.Merged:
		for _, part := range b.Parts {
			c.note(part)
		}
	}
}

// without returns what remains of the body without the part that was read, or nil. cut reports whether something was
// removed. It moves the places past the body.
func (c *Cursor) without(body messages.Body) (left messages.Body, cut bool) {
	switch b := body.(type) {
	case messages.TextDelta:
		at := *c.place(b.Stream)
		c.note(b)
		switch {
		case at.bytes <= b.Offset:
			return b, false
		case at.bytes >= b.End():
			return nil, true
		}
		index := max(at.index, b.Index) // a part may end before the delta that this one begins with
		b.Count = b.Index + max(b.Count, 1) - index
		had := max(at.bytes-b.Begin(), 0)
		b.Index, b.Offset, b.Dropped, b.Text = index, at.bytes, max(b.Begin()-at.bytes, 0), b.Text[had:]
		if b.Count == 1 {
			b.Count = 0
		}
		return b, true
	case messages.ThoughtDelta:
		text, cut := c.without(messages.TextDelta(b))
		if text == nil {
			return nil, cut
		}
		return messages.ThoughtDelta(text.(messages.TextDelta)), cut
	case messages.Log:
		had := uint64(c.place("").bytes)
		c.note(b)
		i := slices.IndexFunc(b.Lines, func(l messages.LogLine) bool { return l.Number > had })
		if i < 0 {
			return nil, true
		}
		return messages.Log{Lines: b.Lines[i:]}, i > 0
	case messages.Merged:
		return c.withoutParts(b)
	}
	return body, false
}

// withoutParts is without for each part of a merged event.
func (c *Cursor) withoutParts(b messages.Merged) (left messages.Body, cut bool) {
	var parts []messages.Body
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
	return messages.Merged{Parts: parts}, cut
}

// Append appends the cursor as text that needs no escaping in a URL: the number, and if necessary how far each text was
// read, as "~stream~index~bytes". "!" follows if it was read from its beginning, and "." if
// it is closed, for readers that ask for digests.
func (c Cursor) Append(b []byte) []byte {
	b = strconv.AppendUint(b, c.Seq, 10)
	for i, p := range c.read {
		if p.done != "" && slices.ContainsFunc(c.read[i+1:], func(p place) bool { return p.done != "" }) {
			continue // the last closed text is enough
		}
		b = append(b, '~')
		if plainName(p.stream) {
			b = append(b, p.stream...)
		} else {
			b = base64.RawURLEncoding.AppendEncode(append(b, '.'), []byte(p.stream))
		}
		b = strconv.AppendUint(append(b, '~'), p.index, 10)
		if b = strconv.AppendInt(append(b, '~'), int64(p.bytes), 10); p.whole {
			b = append(b, '!')
		}
		if p.done != "" {
			b = append(b, '.')
		}
	}
	return b
}

// plainName reports whether the stream's name needs no encoding in a cursor.
func plainName(stream string) bool {
	return !strings.HasPrefix(stream, ".") && !strings.ContainsFunc(stream, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	})
}

// parseCursor reads what [Cursor.Append] wrote.
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
		number, closed := strings.CutSuffix(p[2], ".")
		number, whole := strings.CutSuffix(number, "!")
		bytes, err := strconv.Atoi(number)
		if wrong != nil || err != nil || bytes < 0 {
			return c, false
		}
		at := place{stream: string(name), index: index, bytes: bytes, whole: whole}
		if closed {
			at.done = "."
		}
		c.read = append(c.read, at)
	}
	return c, true
}

// Cursors are a reader's positions in a run and its sub-runs.
type Cursors map[messages.RunID]Cursor

// Plain reports whether the encoded cursors are a plain number.
func (c Cursors) Plain() bool {
	for _, one := range c {
		if len(one.read) > 0 {
			return false
		}
	}
	return len(c) == 1
}

// Take is [Cursor.Take] for the event's run. It updates the map.
func (c Cursors) Take(e messages.Event) (messages.Event, bool) {
	cur := c[e.RunID]
	e, some := cur.Take(e)
	c[e.RunID] = cur
	return e, some
}

// Resume sets the options of a Follow such that it continues from the cursors.
func (c Cursors) Resume(f *messages.FollowOptions, run messages.RunID) {
	if f.After = c[run].Seq; len(c) > 1 { // an idle reader of one run needs no map
		f.Children = make(map[messages.RunID]uint64, len(c))
		for id, cur := range c {
			f.Children[id] = cur.Seq
		}
	}
}

// Parse decodes what [Cursors.Append] wrote for the run, or a plain number. "" is the beginning. Errors: invalid_input.
func Parse(run messages.RunID, text string) (Cursors, error) {
	cur := Cursors{run: {}}
	if text == "" {
		return cur, nil
	}
	for i, one := range strings.Split(text, ",") {
		child, place, found := strings.Cut(one, ":")
		if !found {
			child, place = "", one
		}
		c, ok := parseCursor(place)
		if !ok || found == (i == 0) {
			return nil, messages.InvalidInput("the cursor %.100q is not from an event; begin at 0", text)
		}
		id := run
		if found {
			id += messages.RunID("." + child)
		}
		cur[id] = c
	}
	return cur, nil
}

// Append appends all cursors as one text: first the run's, then the sub-runs', each under the suffix of its id.
func (c Cursors) Append(b []byte, run messages.RunID) []byte {
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

// Text returns the encoded cursors, see [Cursors.Append].
func (c Cursors) Text(run messages.RunID) string { return string(c.Append(nil, run)) }
