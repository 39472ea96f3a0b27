package messages

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// CanMerge reports whether b may be merged into a: both are deltas of one run, and b follows a without a gap.
func CanMerge(a, b Event) bool {
	return a.IsDelta() && b.IsDelta() && a.RunID == b.RunID && b.From == a.Seq+1
}

// Merge returns one event for the whole stretch: a delta if all belong to one stream, and otherwise a [Merged] with a
// part per stream, in order of first appearance. [CanMerge] must hold between neighbours. Merging is associative, and
// its cost is linear in the bytes.
func Merge(stretch []Event) Event {
	if len(stretch) == 1 {
		return stretch[0]
	}
	first, last := stretch[0], stretch[len(stretch)-1]
	var m merger
	for _, e := range stretch {
		m.add(e.Body)
	}
	return Event{RunID: first.RunID, From: first.From, Seq: last.Seq, Time: last.Time, Message: last.Message, Body: m.body()}
}

// MergeDeltas merges every [Stretch] of deltas into one event.
func MergeDeltas(events []Event) []Event {
	if !slices.ContainsFunc(events, Event.IsDelta) {
		return events
	}
	var out []Event
	for len(events) > 0 {
		n := Stretch(events)
		out = append(out, Merge(events[:n]))
		events = events[n:]
	}
	return out
}

// Stretch returns how many events from the first on can be merged into one that fits; at least 1. See [Fitted].
func Stretch(events []Event) int { return fitted(events, CanMerge) }

// Fitted returns for how many of the deltas the texts fit into one event on the wire; at least 1.
func Fitted(deltas []Event) int { return fitted(deltas, func(Event, Event) bool { return true }) }

func fitted(events []Event, follows func(a, b Event) bool) int {
	n, room := 1, pieceBytes-weight(events[0].Body, false)
	for n < len(events) && follows(events[n-1], events[n]) {
		if room -= weight(events[n].Body, false); room < 0 {
			break
		}
		n++
	}
	return n
}

// part collects the deltas of one stream.
type part struct {
	key    partKey
	newest Body
	texts  []string // pieces of a text or thought; newest is then the first delta
	count  uint64
	end    int // where the dropped bytes end, or 0
	lines  []LogLine
}

// merger collects the parts of a merged event.
type merger struct {
	parts []*part
	byKey map[partKey]*part // nil while there are few parts
}

// add adds a delta to the part of its stream.
func (m *merger) add(b Body) {
	if merged, ok := b.(Merged); ok {
		for _, p := range merged.Parts {
			m.add(p)
		}
		return
	}
	key, _ := keyOf(b)
	p := m.part(key)
	switch d := b.(type) {
	case TextDelta:
		p.append(b, d)
	case ThoughtDelta:
		p.append(b, TextDelta(d))
	case Log:
		p.lines = newest(p.lines, d.Lines)
	default:
		p.newest = b
	}
}

// part returns the part with the key, and makes it if needed. Few parts are searched in order; many have an index.
func (m *merger) part(key partKey) *part {
	if p := m.byKey[key]; p != nil {
		return p
	}
	for _, p := range m.parts[:min(len(m.parts), short)] {
		if p.key == key {
			return p
		}
	}
	p := &part{key: key}
	if m.parts = append(m.parts, p); len(m.parts) > short {
		if m.byKey == nil {
			m.byKey = map[partKey]*part{}
		}
		m.byKey[key] = p
	}
	return p
}

// append adds a delta of a text or thought. The first one stays in newest, because it has the offset.
func (p *part) append(b Body, d TextDelta) {
	if p.newest == nil {
		p.newest = b
	}
	if d.Dropped > 0 { // everything before is dropped too
		p.texts, p.end = nil, d.Begin()
	}
	p.texts = append(p.texts, d.Text)
	p.count += max(d.Count, 1)
}

// body returns the merged delta.
func (p *part) body() Body {
	switch first := p.newest.(type) {
	case nil:
		return Log{Lines: p.lines}
	case TextDelta:
		first.Text, first.Count = strings.Join(p.texts, ""), counted(p.count)
		first.Dropped = max(p.end-first.Offset, 0)
		return first
	case ThoughtDelta:
		first.Text, first.Count = strings.Join(p.texts, ""), counted(p.count)
		return first
	default:
		return first
	}
}

// counted returns n, or 0 for the default count of one.
func counted(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	return n
}

// body returns the body of the merged event. A single part needs no Merged.
func (m *merger) body() Body {
	if len(m.parts) == 1 {
		return m.parts[0].body()
	}
	merged := Merged{Parts: make([]Body, len(m.parts))}
	for i, p := range m.parts {
		merged.Parts[i] = p.body()
	}
	return merged
}

// partKey identifies the stream that a delta is merged into: a text or thought by name, progress by task, tool
// progress by call, or the one log.
type partKey struct {
	group byte
	name  string
}

func keyOf(b Body) (partKey, bool) {
	if key := rowOf(b).key; key != nil {
		return key(b), true
	}
	return partKey{}, false
}

// newest returns the last LogTail lines of a followed by b, in new memory.
func newest(a, b []LogLine) []LogLine {
	a = a[max(0, min(len(a), len(a)+len(b)-LogTail)):]
	return slices.Concat(a, b)
}

// WireBytes is the most that an event has on the wire, as JSON, unless it has a value that cannot be cut.
const WireBytes = 32 << 10

// pieceBytes is how much of it a text takes at most. The rest is for names and numbers.
const pieceBytes = WireBytes - 2<<10

// Fitting returns how many bytes of the text take at most room bytes as JSON. It counts whole characters, at least one.
func Fitting(text string, room int) int {
	for i, r := range text {
		if room -= written(r); room < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}

// written returns how many bytes the character takes in a string of JSON, at most.
func written(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError:
		return 6
	}
	return utf8.RuneLen(r)
}

// weight returns how many bytes the texts of a delta take as JSON, log lines too if lines is set.
func weight(b Body, lines bool) (n int) {
	switch b := b.(type) {
	case TextDelta:
		for _, r := range b.Text {
			n += written(r)
		}
	case ThoughtDelta:
		return weight(TextDelta(b), lines)
	case Merged:
		for _, part := range b.Parts {
			n += weight(part, lines)
		}
	case Log:
		for i := 0; lines && i < len(b.Lines); i++ {
			n += itemOverhead + weight(TextDelta{Text: b.Lines[i].Text}, lines)
		}
	}
	return n
}

// Pieces cuts a delta into bodies that each fit into an event on the wire. One that stands for several deltas is cut
// into as many at most; the pieces of one that stands for itself must be numbered anew. Most bodies have no rest.
func Pieces(b Body) (first Body, rest []Body) {
	if weight(b, true) <= pieceBytes {
		return b, nil
	}
	pieces := pieces(b)
	return pieces[0], pieces[1:]
}

// pieces is Pieces for a body that is too long, or for a part of one.
func pieces(b Body) (out []Body) {
	switch b := b.(type) {
	case TextDelta:
		for left := b.Count; left != 1; left-- {
			n := Fitting(b.Text, pieceBytes)
			if n == len(b.Text) {
				break
			}
			one := b
			one.Count, one.Text = 0, b.Text[:n]
			out = append(out, one)
			b.Index, b.Offset, b.Dropped, b.MediaType, b.Text = b.Index+1, one.End(), 0, "", b.Text[n:]
			if b.Count > 0 {
				b.Count = counted(left - 1)
			}
		}
		return append(out, b)
	case ThoughtDelta:
		for _, piece := range pieces(TextDelta(b)) {
			out = append(out, ThoughtDelta(piece.(TextDelta)))
		}
		return out
	case Log:
		n := len(b.Lines)
		for n > 1 && weight(Log{b.Lines[:n]}, true) > pieceBytes {
			n--
		}
		if n < len(b.Lines) {
			return append([]Body{Log{b.Lines[:n]}}, pieces(Log{b.Lines[n:]})...)
		}
	case Merged:
		for _, part := range b.Parts {
			out = append(out, pieces(part)...)
		}
		return out
	}
	return []Body{b}
}
