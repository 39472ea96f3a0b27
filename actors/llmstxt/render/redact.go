package render

import "strings"

const redacted = "[redacted]"

// window is how far an assigned value is looked at to tell what it is; all of it is redacted.
const window = 512

// redactor replaces what has the shape of a secret. Each shape begins with a rare word; one pass over the text looks
// for the first three bytes of all words at once, and a shape's expression is tried where its word is met alone.
type redactor struct {
	shapes [256][]*shape  // by their first byte
	begins [1 << 13]uint8 // a bit for the mark of each three bytes that a word begins with
	// endless: the text at hand has no end for a shape any more. It is looked for once, not from each beginning on.
	endless bool
}

// mark is the same for the same three bytes, the last of them in the lowest bits, and rarely for others.
func mark(three uint32) uint16 { return uint16(three ^ three>>11) }

func isMarked(bits *[1 << 13]uint8, m uint16) bool { return bits[m>>3]&(1<<(m&7)) != 0 }

func newRedactor() *redactor {
	r := &redactor{shapes: shapes()}
	for _, list := range r.shapes {
		for _, s := range list {
			m := mark(uint32(s.word[0])<<16 | uint32(s.word[1])<<8 | uint32(s.word[2]))
			r.begins[m>>3] |= 1 << (m & 7)
		}
	}
	return r
}

// Redact returns the text without what has the shape of a secret.
func Redact(text string) string { return newRedactor().line(text) }

func (r *redactor) line(s string) string { return string(r.redact([]byte(s))) }

// redact returns the text as it is where there is no secret.
func (r *redactor) redact(text []byte) []byte {
	r.endless = false
	var b []byte
	done := 0
	three := uint32(0)
	for i, c := range text {
		three = three<<8&0xffffff | uint32(c)
		if !isMarked(&r.begins, mark(three)) || i < done+2 {
			continue
		}
		if keep, end := r.match(text, i-2); end > 0 {
			b = append(append(b, text[done:keep]...), redacted...)
			done = end
		}
	}
	if done == 0 {
		return text
	}
	return append(b, text[done:]...)
}

func (r *redactor) match(text []byte, start int) (keep, end int) {
	for _, s := range r.shapes[text[start]] {
		if string(text[start:min(start+len(s.word), len(text))]) == s.word {
			if keep, end = s.match(text, start); end > 0 && s.end != "" {
				end = r.through(s, text, end)
			}
			if end > 0 {
				return keep, end
			}
		}
	}
	return 0, 0
}

// through gives where the shape ends that begins before from, or 0.
func (r *redactor) through(s *shape, text []byte, from int) int {
	if !r.endless {
		if m := s.endRe().FindIndex(text[from:]); m != nil {
			return from + m[1]
		}
		r.endless = true
	}
	if m := s.restRe().FindIndex(text[from:]); m != nil {
		return from + m[1]
	}
	return 0
}

// match gives where the secret at start begins and ends; the end is 0 when there is none.
func (s *shape) match(text []byte, start int) (keep, end int) {
	if !s.inside && inWord(text, start) {
		return 0, 0
	}
	after, until := start+len(s.word), len(text)
	if s.fits != nil {
		until = min(until, after+window)
	}
	m := s.re().FindSubmatchIndex(text[after:until])
	switch {
	case m == nil:
		return 0, 0
	case s.fits != nil && !s.fits(text, after+m[3], after+m[1]):
		return 0, 0
	case s.fits != nil:
		end = after + m[1]
		for end == until && end < len(text) && text[end] > ' ' && strings.IndexByte("\"'`", text[end]) < 0 {
			end, until = end+1, end+1
		}
		return after + m[3], end
	case len(m) > 4:
		if isPlaceholder(string(text[after+m[3] : after+m[4]])) {
			return 0, 0
		}
		return after + m[3], after + m[4]
	case len(m) > 2:
		return after + m[3], after + m[1]
	}
	return start, after + m[1]
}

// inWord says that a word goes on at i. The letter of an escape, as that of a line end, is none of it.
func inWord(text []byte, i int) bool {
	return i > 0 && isWordByte(text[i-1]) && (i < 2 || text[i-2] != '\\')
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
