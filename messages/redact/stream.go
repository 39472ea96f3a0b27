package redact

import (
	"io"
	"sync"
)

// Stream takes the secrets out of a text that comes in pieces. It holds back the end of what came as long as that may
// be the beginning of a secret, and nothing else: whatever the pieces, they add up to the same.
type Stream struct {
	secrets *Secrets
	mark    string
	held    string
}

// Stream begins a text.
func (s *Secrets) Stream() *Stream { return &Stream{secrets: s} }

// Push takes a piece and gives what can be said so far.
func (s *Stream) Push(text string) (clean string) {
	clean, s.held = s.secrets.clean(s.held+text, s.mark, false)
	return clean
}

// Close ends the text and gives the rest of it.
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

// Unwrap is where the text goes.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Write writes what can be said so far.
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
