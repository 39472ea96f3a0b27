package redact

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

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

// Add adds secrets, which "[kind]" replaces from now on. Values that are no secrets are ignored: short ones, paths, numbers
// and plain URLs.
func (s *Secrets) Add(kind string, values ...string) {
	if s == nil || len(s.known.Load().fresh(values)) == 0 {
		return
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	now := s.known.Load()
	s.known.Store(now.with("["+kind+"]", now.fresh(values)))
}

// AddShape adds every text that has the prefix and, after it, that many characters of base64.
func (s *Secrets) AddShape(kind, prefix string, more int) {
	s.adding.Lock()
	defer s.adding.Unlock()
	s.known.Store(s.known.Load().with("", nil, shape{prefix, "[" + kind + "]", more}))
}

// fresh returns the values that are secrets and not known yet.
func (k *known) fresh(values []string) (fresh []string) {
	for _, value := range values {
		value = strings.TrimSpace(value)
		if isSecret(value) && k.isFresh(value) && !slices.Contains(fresh, value) {
			fresh = append(fresh, value)
		}
	}
	return fresh
}

// noKeys are the keys that documentation of model servers suggests where no key is needed.
var noKeys = []string{"lm-studio", "not-needed", "no-key-required", "sk-no-key-required"}

// isSecret reports whether a value is long enough to be a secret, and none of noKeys, no path, number or plain URL.
func isSecret(value string) bool {
	if slices.Contains(noKeys, value) || isPlain(value) {
		return false
	}
	return len(value) >= least || len(value) >= leastMixed && isMixed(value)
}

// Text returns the text with its secrets replaced.
func (s *Secrets) Text(text string) string {
	clean, _ := s.clean(text, 0, "", true)
	return clean
}

// Bytes returns the text with its secrets replaced: the same slice if there are none.
func (s *Secrets) Bytes(text []byte) []byte {
	if s == nil || s.known.Load() == nil {
		return text
	}
	whole := unsafe.String(unsafe.SliceData(text), len(text)) // Text keeps no string
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
		e.Retryable, e.Provider = known.Retryable, known.Provider
	}
	return e
}

// clean replaces the secrets of the text after its first from bytes, which have been passed on. Unless ends is set, rest is
// the end of the text that may begin a secret. mark replaces every secret; "" means each secret's own mark.
func (s *Secrets) clean(text string, from int, mark string, ends bool) (clean, rest string) {
	if s == nil || s.known.Load() == nil {
		return text[from:], ""
	}
	k := s.known.Load()
	var b strings.Builder
	done := from
	for i := from; i < len(text); {
		if !k.mayBegin(text[i:]) {
			i++
			continue
		}
		f := k.longest(text, i, ends)
		for f.end > 0 && i+f.end < len(text) && !utf8.RuneStart(text[i+f.end]) {
			f.end--
		}
		switch {
		case f.open && !ends:
			return b.String() + text[done:i], text[i:]
		case f.end == 0:
			i++
		default:
			b.WriteString(text[done:i])
			b.WriteString(cmp.Or(mark, f.mark))
			i += f.end
			done = i
		}
	}
	if done == from {
		return text[from:], ""
	}
	return b.String() + text[done:], ""
}

// Stream removes secrets from a text that arrives in pieces. It holds back the end of a piece only while that may
// begin a secret. The result does not depend on the pieces, but for a token that is known by its shape alone: within a
// word, a piece that ends inside the prefix of the shape is passed on, so that the rest of the token is, too. It is not
// safe for concurrent use.
type Stream struct {
	secrets *Secrets
	mark    string
	passed  string // the end of what was passed on, before the secrets were replaced
	held    string
}

// Stream returns a Stream for a new text.
func (s *Secrets) Stream() *Stream { return &Stream{secrets: s} }

// Push adds a piece, and returns what can be passed on.
func (s *Stream) Push(text string) (clean string) {
	text = s.passed + s.held + text
	clean, s.held = s.secrets.clean(text, len(s.passed), s.mark, false)
	text = text[:len(text)-len(s.held)]
	s.passed = text[max(0, len(text)-behind):]
	return clean
}

// Close ends the text, and returns its rest.
func (s *Stream) Close() (clean string) {
	clean, _ = s.secrets.clean(s.held, 0, s.mark, true)
	s.held, s.passed = "", ""
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
