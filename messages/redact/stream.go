package redact

import (
	"io"
	"sync"
)

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
