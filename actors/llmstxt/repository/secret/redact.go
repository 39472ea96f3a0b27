package secret

import "strings"

const redacted = "[redacted]"

// window is how far an assigned value is looked at to tell what it is; all of it is redacted.
const window = 512

// A Finder finds secrets. Each rule begins with a rare word; one pass over the text looks for the first three bytes of
// all words at once, and a rule's expression is tried where its word is met alone. It is for one goroutine at a time.
type Finder struct {
	rules  [256][]*rule   // by their first byte
	begins [1 << 13]uint8 // a bit for the mark of each three bytes that a word begins with
	// endless: the text at hand has no end for a rule any more. It is looked for once, not from each beginning on.
	endless bool
}

// mark is the same for the same three bytes, the last of them in the lowest bits, and rarely for others.
func mark(three uint32) uint16 { return uint16(three ^ three>>11) }

func isMarked(bits *[1 << 13]uint8, m uint16) bool { return bits[m>>3]&(1<<(m&7)) != 0 }

// NewFinder returns a Finder.
func NewFinder() *Finder {
	f := &Finder{rules: rules()}
	for _, list := range f.rules {
		for _, r := range list {
			m := mark(uint32(r.word[0])<<16 | uint32(r.word[1])<<8 | uint32(r.word[2]))
			f.begins[m>>3] |= 1 << (m & 7)
		}
	}
	return f
}

// Redact returns the text with "[redacted]" for each secret.
func Redact(text string) string { return string(NewFinder().Redact([]byte(text), nil)) }

// Redact returns the text with "[redacted]" for each secret: the same slice if there is none. Unless found is nil, it
// is called with each secret's rule, and where in the text the secret begins.
func (f *Finder) Redact(text []byte, found func(rule string, at int)) []byte {
	f.endless = false
	var b []byte
	done := 0
	three := uint32(0)
	for i, c := range text {
		three = three<<8&0xffffff | uint32(c)
		if !isMarked(&f.begins, mark(three)) || i < done+2 {
			continue
		}
		if r, keep, end := f.match(text, i-2); r != nil {
			if found != nil {
				found(r.name, keep)
			}
			b = append(append(b, text[done:keep]...), redacted...)
			done = end
		}
	}
	if done == 0 {
		return text
	}
	return append(b, text[done:]...)
}

func (f *Finder) match(text []byte, start int) (by *rule, keep, end int) {
	for _, r := range f.rules[text[start]] {
		if string(text[start:min(start+len(r.word), len(text))]) == r.word {
			if keep, end = r.match(text, start); end > 0 && r.end {
				end = f.through(r, text, end)
			}
			if end > 0 {
				return r, keep, end
			}
		}
	}
	return nil, 0, 0
}

// through gives where the secret ends that begins before from, or 0.
func (f *Finder) through(r *rule, text []byte, from int) int {
	if !f.endless {
		if m := r.endRe().FindIndex(text[from:]); m != nil {
			return from + m[1]
		}
		f.endless = true
	}
	if m := r.restRe().FindIndex(text[from:]); m != nil {
		return from + m[1]
	}
	return 0
}

// match gives where the secret at start begins and ends; the end is 0 when there is none.
func (r *rule) match(text []byte, start int) (keep, end int) {
	if !r.inside && inWord(text, start) {
		return 0, 0
	}
	after, until := start+len(r.word), len(text)
	if r.fits != nil {
		until = min(until, after+window)
	}
	m := r.re().FindSubmatchIndex(text[after:until])
	switch {
	case m == nil:
		return 0, 0
	case r.fits != nil && !r.fits(text, after+m[3], after+m[1]):
		return 0, 0
	case r.fits != nil:
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
