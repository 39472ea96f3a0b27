package redact

import (
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

const (
	// least is the length of the shortest secret. Servers that need no key get keys like "x" or "none", and other
	// texts must keep those words.
	least = 8
	// leastMixed is the length of the shortest secret with letters and digits.
	leastMixed = 6
)

// Secrets are values that must not be repeated. The zero value and nil hold none. It is safe for concurrent use: a
// new known replaces the old one at each Add.
type Secrets struct {
	adding sync.Mutex
	known  atomic.Pointer[known]
}

// known is the content of a Secrets at one time. It never changes.
type known struct {
	marks    map[string]string // by value
	starting [256][]pattern    // by first byte
	begins   [256]bool         // first bytes of secrets and of escapes
}

// pattern is one form of a secret.
type pattern struct {
	text   string
	mark   string
	base64 bool // standard or URL alphabet
}

// Add adds secrets, which "[kind]" replaces from now on. Values that are too short are ignored.
func (s *Secrets) Add(kind string, values ...string) {
	if s == nil || len(s.known.Load().fresh(values)) == 0 {
		return
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	now, next := s.known.Load(), &known{marks: map[string]string{}}
	if now != nil {
		maps.Copy(next.marks, now.marks)
	}
	for _, value := range now.fresh(values) {
		next.marks[value] = "[" + kind + "]"
	}
	for _, value := range slices.Sorted(maps.Keys(next.marks)) {
		next.add(value, next.marks[value])
	}
	for _, c := range []byte(`\%&`) {
		next.begins[c] = true
	}
	s.known.Store(next)
}

// fresh returns the values that are secrets and not known yet.
func (k *known) fresh(values []string) (fresh []string) {
	for _, value := range values {
		value = strings.TrimSpace(value)
		if isSecret(value) && (k == nil || k.marks[value] == "") {
			fresh = append(fresh, value)
		}
	}
	return fresh
}

// noKeys are the keys that documentation of model servers suggests where no key is needed.
var noKeys = []string{"lm-studio", "not-needed", "no-key-required", "sk-no-key-required"}

// isSecret reports whether a value is long enough to be a secret, and is none of noKeys.
func isSecret(value string) bool {
	if slices.Contains(noKeys, value) {
		return false
	}
	digits := strings.ContainsAny(value, "0123456789")
	letters := strings.ContainsFunc(value, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
	return len(value) >= least || len(value) >= leastMixed && digits && letters
}

// add adds the patterns of a secret: plain and, unless it is short, in base64.
func (k *known) add(value, mark string) {
	k.put(pattern{text: value, mark: mark})
	if len(value) < least {
		return
	}
	// base64 has three forms of a value, by its position in a group of three bytes; each pattern has only the
	// characters that the value alone determines
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
		first, last := (shift*8+5)/6, (shift+len(value))*8/6
		k.put(pattern{text: text[first:last], mark: mark, base64: true})
	}
}

func (k *known) put(p pattern) {
	for c := range 256 {
		if p.is(0, byte(c)) {
			k.starting[c], k.begins[c] = append(k.starting[c], p), true
		}
	}
}

// is reports whether the byte matches the pattern's byte at i. In a query, + stands for a space.
func (p *pattern) is(i int, c byte) bool {
	want := p.text[i]
	return c == want || want == ' ' && c == '+' || p.base64 && (c == '-' && want == '+' || c == '_' && want == '/')
}

// Text returns the text with its secrets replaced.
func (s *Secrets) Text(text string) string {
	clean, _ := s.clean(text, "", true)
	return clean
}

// Bytes returns the text with its secrets replaced: the same slice if there are none.
func (s *Secrets) Bytes(text []byte) []byte {
	if s == nil || s.known.Load() == nil {
		return text
	}
	whole := string(text)
	if quiet := s.Text(whole); quiet != whole {
		return []byte(quiet)
	}
	return text
}

// Error returns the error with its secrets replaced: the same error if there are none, and otherwise a
// [messages.Error] with the same code.
func (s *Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	quiet := s.Text(text)
	if quiet == text {
		return err
	}
	e := messages.Errorf(messages.CodeOf(err), "%s", quiet)
	if known, ok := errors.AsType[*messages.Error](err); ok {
		e.Retryable = known.Retryable
	}
	return e
}

// clean replaces the secrets. Unless ends is set, rest is the end of the text that may begin a secret. mark replaces
// every secret; "" means each secret's own mark.
func (s *Secrets) clean(text, mark string, ends bool) (clean, rest string) {
	if s == nil || s.known.Load() == nil {
		return text, ""
	}
	k := s.known.Load()
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if !k.begins[text[i]] {
			i++
			continue
		}
		end, own, open := k.longest(text[i:], ends)
		switch {
		case open:
			return b.String() + text[done:i], text[i:]
		case end == 0:
			i++
		default:
			b.WriteString(text[done:i])
			b.WriteString(cmp.Or(mark, own))
			i += end
			done = i
		}
	}
	if done == 0 {
		return text, ""
	}
	return b.String() + text[done:], ""
}

// longest returns the end of the longest secret at the start of the text, or 0. open: more text may make it longer.
func (k *known) longest(text string, ends bool) (end int, mark string, open bool) {
	plain, _, cut := decode(text)
	if cut && !ends {
		return 0, "", true
	}
	for _, c := range [...]byte{text[0], plain} {
		for i := range k.starting[c] {
			p := &k.starting[c][i]
			e, more := p.match(text, ends)
			if more && !ends {
				return 0, "", true
			}
			if e > end {
				end, mark = e, p.mark
			}
		}
		if plain == text[0] {
			break
		}
	}
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return end, mark, false
}

// match returns how much of the text the secret takes, or 0 if that is too little. more: the text ends before the
// secret does.
func (p *pattern) match(text string, ends bool) (end int, more bool) {
	if strings.HasPrefix(text, p.text) {
		return len(p.text), false
	}
	seen, at := 0, 0
	for seen < len(p.text) {
		if at == len(text) {
			more = true
			break
		}
		c, n, cut := decode(text[at:])
		if cut && !ends {
			more = true
			break
		}
		if !p.is(seen, c) {
			if c, n = text[at], 1; !p.is(seen, c) {
				break
			}
		}
		seen++
		at += n
	}
	if seen < max(least, (len(p.text)+1)/2) && seen < len(p.text) {
		return 0, more
	}
	return at, more
}

// Stream removes secrets from a text that arrives in pieces. It holds back the end of a piece only while that may
// begin a secret. The result does not depend on the pieces. It is not safe for concurrent use.
type Stream struct {
	secrets *Secrets
	mark    string
	held    string
}

// Stream returns a Stream for a new text.
func (s *Secrets) Stream() *Stream { return &Stream{secrets: s} }

// Push adds a piece, and returns what can be passed on.
func (s *Stream) Push(text string) (clean string) {
	clean, s.held = s.secrets.clean(s.held+text, s.mark, false)
	return clean
}

// Close ends the text, and returns its rest.
func (s *Stream) Close() (clean string) {
	clean, _ = s.secrets.clean(s.held, s.mark, true)
	s.held = ""
	return clean
}

// Writer writes a text with its secrets removed. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	stream *Stream
	out    io.Writer
}

// Writer returns a Writer for a new text that goes to out.
func (s *Secrets) Writer(out io.Writer) *Writer { return &Writer{stream: s.Stream(), out: out} }

// Document returns a Writer whose mark is a plain word, for texts in which brackets have a meaning.
func (s *Secrets) Document(out io.Writer) *Writer {
	return &Writer{stream: &Stream{secrets: s, mark: "redacted"}, out: out}
}

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Write writes what can be passed on, and holds back the rest.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.say(w.stream.Push(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close writes what was held back. It does not close out.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.say(w.stream.Close())
}

func (w *Writer) say(clean string) error {
	if clean == "" {
		return nil
	}
	_, err := io.WriteString(w.out, clean)
	return err
}
