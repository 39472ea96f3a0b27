package messages

import "unicode/utf8"

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

// weight returns how many bytes the texts of a delta take as JSON, with those of log lines if lines is set.
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
			b.Index, b.Offset, b.Dropped, b.Text = b.Index+1, one.End(), 0, b.Text[n:]
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
