package terminal

import (
	"cmp"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// Answer prints answers on stdout as they arrive, see [messages.IsAnswer]. As a view it also shows, if stderr is a
// terminal, how long the model has been silent, its thoughts, the tools that it calls, and how its answer ended. It is
// safe for concurrent use; mu guards the fields below it.
type Answer struct {
	Stdout, Stderr io.Writer
	Style          style
	// Columns is the width of the terminal, or 0 if it cannot redraw a line. Answer counts the seconds of a wait in
	// that line.
	Columns int
	Shared  bool // stdout is a terminal too

	mu      sync.Mutex
	waiting string // the line on stderr that counts seconds, without the seconds
	asked   time.Time
	timer   *time.Timer

	stream   string // the stream of the answer
	said     int    // number of bytes printed of it
	open     bool   // the last line on stdout is not ended
	broken   bool   // a thought has interrupted that line on the terminal
	thinking bool   // the last line on stderr is not ended
}

// Print prints what the event adds to the answer.
func (s *Answer) Print(e messages.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := e.Body.(type) {
	case messages.TextDelta:
		return s.text(b)
	case messages.Merged:
		for _, part := range b.Parts {
			if d, ok := part.(messages.TextDelta); ok {
				return s.text(d)
			}
		}
	case messages.LLMCompleted:
		return s.finish()
	case messages.TextDone:
		if b.Stream != s.stream { // the text was not streamed
			return cmp.Or(s.text(messages.TextDelta{Stream: b.Stream, Text: b.Text}), s.finish())
		}
	}
	return nil
}

// text prints new text of the answer. A delta that comes again, after a reconnect, is printed only once.
func (s *Answer) text(d messages.TextDelta) error {
	switch {
	case !messages.IsAnswer(d.Stream):
		return nil
	case d.Stream != s.stream:
		s.stream, s.said = d.Stream, 0
	}
	if d.Offset+len(d.Text) <= s.said {
		return nil
	}
	said := words.WithoutControls(d.Text[max(0, s.said-d.Offset):])
	s.said = d.Offset + len(d.Text)
	if said == "" {
		return nil
	}
	s.endWait()
	s.endThought()
	s.open, s.broken = !strings.HasSuffix(said, "\n"), false
	_, err := io.WriteString(s.Stdout, said)
	return err
}

// finish ends the last line of the answer.
func (s *Answer) finish() error {
	if !s.open || s.broken {
		return nil
	}
	s.open = false
	_, err := io.WriteString(s.Stdout, "\n")
	return err
}

// Show prints thoughts, waits and remarks to stderr. Print writes the answer itself.
func (s *Answer) Show(_ messages.State, e messages.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := e.Body.(type) {
	case messages.ThoughtDelta:
		s.think(b.Text)
	case messages.Merged:
		for _, part := range b.Parts {
			if d, ok := part.(messages.ThoughtDelta); ok {
				s.think(d.Text)
			}
		}
	case messages.ThoughtDone:
		s.endThought()
	case messages.LLMStarted:
		s.wait(e.Message)
	case messages.LLMCompleted:
		if s.endWait(); b.Error == nil { // the end of the run gives the reason of a failure
			s.remark(e.Message)
		}
	case messages.ToolStarted, messages.ToolCompleted:
		s.remark(e.Message)
	case messages.RunCanceling:
		if interrupted(b) {
			s.remark(e.Message + "; Ctrl-C leaves at once")
		}
	}
}

// think prints to stderr. If stdout is the same terminal and its line is open, it breaks that line first.
func (s *Answer) think(text string) {
	if text = words.WithoutControls(text); text == "" {
		return
	}
	if s.Shared && s.open && !s.broken {
		s.broken = true
		io.WriteString(s.Stderr, "\n")
	}
	s.endWait()
	line, ended := strings.CutSuffix(text, "\n")
	s.thinking = !ended
	io.WriteString(s.Stderr, s.Style.paint(line, dim)+text[len(line):])
}

// remark prints a line of its own.
func (s *Answer) remark(line string) {
	s.endThought()
	s.think(words.Printable(line) + "\n")
}

func (s *Answer) endThought() {
	if s.thinking {
		s.thinking = false
		io.WriteString(s.Stderr, "\n")
	}
}

// wait shows the line with the number of elapsed seconds, until something else is printed.
func (s *Answer) wait(line string) {
	s.endThought()
	if s.Columns == 0 {
		s.remark(line)
		return
	}
	s.waiting, s.asked = words.Printable(line), time.Now()
	s.redraw(s.waiting)
	s.timer = time.AfterFunc(time.Second, s.tick)
}

// tick counts the seconds of a wait.
func (s *Answer) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting != "" {
		s.redraw(waited(s.waiting, time.Since(s.asked)))
		s.timer.Reset(time.Second)
	}
}

func (s *Answer) redraw(line string) {
	line = fit(line, s.Columns-1, s.Style.dots())
	io.WriteString(ungated(s.Stderr), "\r"+s.Style.paint(line, dim)+"\x1b[K")
}

// endWait leaves the line without the seconds.
func (s *Answer) endWait() {
	if s.waiting == "" {
		return
	}
	s.timer.Stop()
	s.redraw(s.waiting)
	s.waiting = ""
	io.WriteString(s.Stderr, "\n")
}

func (s *Answer) End() { s.Leave() }

// Leave ends open lines, so that other output begins on a line of its own.
func (s *Answer) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWait()
	s.endThought()
}
