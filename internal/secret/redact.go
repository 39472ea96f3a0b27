package secret

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/internal/stable"
)

const redacted = "[redacted]"

// window is how much of an assigned value is examined to classify it. The whole value is redacted.
const window = 512

// A Finder finds secrets. Each rule begins with a rare word. One pass over the text searches the first three bytes of
// all words at once, and a rule's expression is only tried where its word occurs. It is for one goroutine at a time.
type Finder struct {
	rules  [256][]*rule   // by first byte
	begins [1 << 13]uint8 // bits for the marks of the first three bytes of words
	// endless: the current text contains no further end of a rule. The end is searched once, not again from each
	// beginning.
	endless bool
	// Context ends Redact early, with the beginning of the text. nil never does.
	Context context.Context
}

// heeded is after how many possible beginnings of secrets the context is looked at.
const heeded = 1000

// mark hashes three bytes, the last of them in the lowest bits. Different bytes rarely have the same mark.
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

// Redact replaces each secret in the text by "[redacted]".
func Redact(text string) string { return string(NewFinder().Redact([]byte(text), nil)) }

// Redact replaces each secret in the text by "[redacted]". Without secrets it returns the same slice. found, unless
// nil, is called with each secret's rule and its position in the text.
func (f *Finder) Redact(text []byte, found func(rule string, pos int)) []byte {
	f.endless = false
	var b []byte
	done := 0
	three, tried := uint32(0), 0
	for i, c := range text {
		three = three<<8&0xffffff | uint32(c)
		if !isMarked(&f.begins, mark(three)) || i < done+2 {
			continue
		}
		if tried++; tried%heeded == 0 && f.Context != nil && f.Context.Err() != nil {
			return append(b, text[done:i-2]...)
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

// match returns the rule that finds a secret at start, and where the secret itself begins and ends; nil if none does.
func (f *Finder) match(text []byte, start int) (by *rule, keep, end int) {
	for _, r := range f.rules[text[start]] {
		if string(text[start:min(start+len(r.word), len(text))]) == r.word {
			if keep, end = r.match(text, start); end > 0 && r.end {
				end = f.endOfOpenSecret(r, text, end)
			}
			if end > 0 {
				return r, keep, end
			}
		}
	}
	return nil, 0, 0
}

// endOfOpenSecret returns the end of the secret that begins before from, or 0.
func (f *Finder) endOfOpenSecret(r *rule, text []byte, from int) int {
	if !f.endless {
		if m := r.endRe.FindIndex(text[from:]); m != nil {
			return from + m[1]
		}
		f.endless = true
	}
	if m := r.restRe.FindIndex(text[from:]); m != nil {
		return from + m[1]
	}
	return 0
}

// match returns the beginning and the end of the secret at start; the end is 0 if there is none.
func (r *rule) match(text []byte, start int) (keep, end int) {
	if !r.inside && inWord(text, start) {
		return 0, 0
	}
	after, until := start+len(r.word), len(text)
	if r.fits != nil {
		until = min(until, after+window)
	}
	m := r.re.FindSubmatchIndex(text[after:until])
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

// inWord reports whether a word continues at i. The letter of an escape sequence, such as \n, is not part of a word.
func inWord(text []byte, i int) bool {
	return i > 0 && isWordByte(text[i-1]) && (i < 2 || text[i-2] != '\\')
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// Finding is a secret that was found, without the secret itself.
type Finding struct {
	Rule string `json:"rule" jsonschema:"the kind of the secret, such as github-token"`
	Path string `json:"path"`
	Line int    `json:"line"`
}

// RedactFile redacts a file's text, and returns what it found.
func (f *Finder) RedactFile(path string, text []byte) (shown []byte, found []Finding) {
	line, counted := 1, 0
	shown = f.Redact(text, func(rule string, pos int) {
		line += bytes.Count(text[counted:pos], []byte("\n"))
		counted = pos
		found = append(found, Finding{rule, path, line})
	})
	return shown, found
}

// Report collects findings. The zero value is empty. It is safe for concurrent use.
type Report struct {
	mu  sync.Mutex
	all map[Finding]struct{}
}

// Add adds findings, each once.
func (r *Report) Add(found []Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		if r.all == nil {
			r.all = map[Finding]struct{}{}
		}
		r.all[f] = struct{}{}
	}
}

// Findings returns the findings, sorted by path and line.
func (r *Report) Findings() []Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	return stable.Sorted(maps.Keys(r.all), func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
}
