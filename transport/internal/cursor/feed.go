package cursor

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Feed turns the events of a log into those that one reader of the wire gets after its cursors. It is not safe for
// concurrent use.
type Feed struct {
	At Cursors
	// Digest says that the reader asks for digests: no long text comes a second time.
	Digest bool
	// Said returns what the log's deltas say of a stream before the event of that number.
	Said func(run messages.RunID, stream string, before uint64) (string, error)
}

// Begin moves the reader to the State.
func (f *Feed) Begin(s messages.State) {
	cur := At(s)
	for i, p := range cur.read {
		t, _ := s.Stream(p.stream)
		cur.read[i].whole = f.Digest && p.stream != "" && t.Dropped == 0
	}
	f.At[s.RunID] = cur
}

// Events yields what the reader gets of the event, and moves the cursors before each. Deltas come in pieces that fit,
// and a done event without a text that the reader has. An event without a body only moves the cursors.
func (f *Feed) Events(e messages.Event) iter.Seq[messages.Event] {
	return func(yield func(messages.Event) bool) {
		cur := f.At[e.RunID]
		cur.digest = f.Digest
		if f.Digest && e.Seq > cur.Seq {
			var parts []messages.Event
			parts, e = f.thin(e, &cur)
			for _, part := range parts {
				if !yield(part) {
					return
				}
			}
		}
		for _, piece := range cur.pieces(e) {
			piece, some := cur.Take(piece)
			if f.At[e.RunID] = cur; !some {
				piece.Body = nil
			}
			if !yield(piece) {
				return
			}
		}
	}
}

// pieces cuts a delta that is too long, and gives each piece as few of its numbers as it may stand for: so whoever goes
// on from a number has at least what the log says up to there. A delta of too few numbers stays whole, and one that
// overlaps a plain number too.
func (c *Cursor) pieces(e messages.Event) []messages.Event {
	whole := []messages.Event{e}
	if e.Body == nil || !e.IsDelta() || e.From <= c.Seq && len(c.read) == 0 {
		return whole
	}
	if _, rest := messages.Pieces(e.Body); rest == nil {
		return whole
	}
	fresh := e
	if e.From <= c.Seq {
		reader := Cursor{Seq: c.Seq, read: slices.Clone(c.read)}
		fresh, _ = reader.Take(e)
	}
	first, rest := messages.Pieces(fresh.Body)
	var out []messages.Event
	next := max(e.From, c.Seq+1)
	for _, body := range append([]messages.Body{first}, rest...) {
		one := fresh.Unshared()
		one.Body, one.From, one.Seq = body, next, next+numbers(body)-1
		next = one.Seq + 1
		out = append(out, one)
	}
	if next > e.Seq+1 {
		return whole
	}
	out[0].From, out[len(out)-1].Seq = e.From, e.Seq
	return out
}

// numbers returns how many numbers a piece stands for at least.
func numbers(b messages.Body) uint64 {
	switch b := b.(type) {
	case messages.TextDelta:
		return max(b.Count, 1)
	case messages.ThoughtDelta:
		return max(b.Count, 1)
	}
	return 1
}

// thin returns the event without a text that the reader has, and before it what puts the reader's text right.
func (f *Feed) thin(e messages.Event, cur *Cursor) (parts []messages.Event, _ messages.Event) {
	has := false
	d, _ := messages.DoneOf(e.Body)
	switch b := e.Body.(type) {
	case messages.TextDone, messages.ThoughtDone:
		if parts, has = f.has(e, cur, d); has {
			e.Body = messages.Omit(b)
		}
	case messages.RunCompleted:
		if len(b.Result) <= messages.WireBytes {
			break
		}
		text := b.Text()
		i := slices.IndexFunc(cur.read, func(p place) bool { return p.done != "" && p.bytes == len(text) })
		if has = i >= 0 && f.holds(e, cur.read[i], text); has {
			e.Body = b.Omit(cur.read[i].stream)
		}
	}
	if has {
		e = e.Unshared()
	}
	return parts, e
}

// has reports whether the reader has the long text of a done event, if it takes the parts.
func (f *Feed) has(e messages.Event, cur *Cursor, d messages.TextDone) (parts []messages.Event, has bool) {
	if len(d.Text) <= messages.WireBytes {
		return nil, false
	}
	i := slices.IndexFunc(cur.read, func(p place) bool { return p.stream == d.Stream })
	if i < 0 || !cur.read[i].whole {
		return nil, false
	}
	p := cur.read[i]
	if p.sum != nil && hex.EncodeToString(p.sum.Sum(nil)) == d.SHA256 {
		return nil, true
	}
	text, err := f.Said(e.RunID, d.Stream, e.Seq)
	if err != nil || len(text) != p.bytes {
		return nil, false
	}
	if text == d.Text {
		return nil, true
	}
	same := words.Common(text, d.Text)
	first, rest := messages.Pieces(messages.TextDelta{Stream: d.Stream, Task: d.Task, Index: p.index, Offset: same, Text: d.Text[same:], Part: true})
	for _, body := range append([]messages.Body{first}, rest...) {
		if e.Kind() == messages.KindThoughtDone {
			body = messages.ThoughtDelta(body.(messages.TextDelta))
		}
		parts = append(parts, messages.Event{RunID: e.RunID, From: e.Seq, Seq: e.Seq, Time: e.Time, Body: body})
	}
	return parts, true
}

// holds reports whether the closed text that the reader has is this one.
func (f *Feed) holds(e messages.Event, p place, text string) bool {
	if p.done != "." {
		return p.done == messages.Digest(text)
	}
	words, err := f.Said(e.RunID, p.stream, e.Seq)
	return err == nil && words == text
}

// hear follows a delta before the place moves past it.
func (p *place) hear(b messages.TextDelta) {
	if p.bytes == 0 && p.index == 0 {
		p.whole, p.sum = true, sha256.New()
	}
	if p.whole = p.whole && b.Begin() <= p.bytes; p.whole && p.sum != nil {
		_, _ = p.sum.Write([]byte(b.Text[min(p.bytes-b.Begin(), len(b.Text)):]))
	}
}

// open returns the places that are worth keeping past a milestone: for a reader who asks for digests, those of open
// texts that it has read whole, and of closed long texts, one of which the result may repeat. Another attempt and a
// recovery take texts back.
func (c *Cursor) open(b messages.Body) []place {
	d, _ := messages.DoneOf(b)
	bytes := max(d.Bytes, len(d.Text))
	long := bytes > messages.WireBytes && messages.KindOf(b) == messages.KindTextDone
	switch b := b.(type) {
	case messages.TextClosed:
		d.Stream = b.Stream
	case messages.TaskRestarted, messages.RunRecovered:
		return nil
	}
	if !c.digest || messages.KindOf(b).IsTerminal() {
		return nil
	}
	c.read = stable.DeleteFunc(c.read, func(p place) bool { return !p.whole || p.stream == d.Stream })
	if long {
		c.read = append(c.read, place{stream: d.Stream, bytes: bytes, whole: true, done: d.SHA256})
	}
	return c.read
}

// Appended returns the text after the deltas of the stream in the body. ok is false if bytes before them are missing.
func Appended(text []byte, stream string, b messages.Body) (_ []byte, ok bool) {
	for d := range messages.Texts(b) {
		switch {
		case d.Stream != stream:
		case d.Begin() > len(text):
			return nil, false
		default:
			text = append(text[:d.Begin()], d.Text...)
		}
	}
	return text, true
}
