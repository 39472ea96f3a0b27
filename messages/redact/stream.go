package redact

import (
	"io"
	"sync"
)

// Stream removes the secrets from a text that comes in pieces. It holds back the end of a piece while that may begin
// a secret, and nothing else. The result does not depend on the pieces.
type Stream struct {
	secrets *Secrets
	mark    string
	held    string
}

// Stream begins a text.
func (s *Secrets) Stream() *Stream { return &Stream{secrets: s} }

// Push adds a piece and returns what can be passed on.
func (s *Stream) Push(text string) (clean string) {
	clean, s.held = s.secrets.clean(s.held+text, s.mark, false)
	return clean
}

// Close ends the text and returns its rest.
func (s *Stream) Close() (clean string) {
	clean, _ = s.secrets.clean(s.held, s.mark, true)
	s.held = ""
	return clean
}

// Writer writes a text without the secrets. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	stream *Stream
	out    io.Writer
}

// Writer begins a text that goes to out.
func (s *Secrets) Writer(out io.Writer) *Writer { return &Writer{stream: s.Stream(), out: out} }

// Document is a Writer whose mark is a plain word, for texts in which brackets have a meaning.
func (s *Secrets) Document(out io.Writer) *Writer {
	return &Writer{stream: &Stream{secrets: s, mark: "redacted"}, out: out}
}

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Write writes what can be passed on.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.say(w.stream.Push(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close writes the rest. It does not close out.
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
