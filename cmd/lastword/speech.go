package main

import (
	"io"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/messages"
)

// speech prints an answer on stdout as it comes. As a view it shows a person what goes with it on stderr, a terminal:
// the thoughts, and what the model is asked and how its answer ended.
type speech struct {
	stdout, stderr io.Writer
	look           look
	shared         bool // stdout is a terminal as well

	said   int  // bytes of the answer
	open   bool // the last line on stdout has no end
	broken bool // the terminal went on to another line all the same
	aside  bool // the last line on stderr has no end
}

// tell prints what the event adds to the answer.
func (s *speech) tell(e messages.Event) error {
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
	}
	return nil
}

func (s *speech) text(d messages.TextDelta) error {
	if d.Stream != prompt.Stream || d.Offset+len(d.Text) <= s.said {
		return nil
	}
	words := harmless(d.Text[max(0, s.said-d.Offset):])
	s.said = d.Offset + len(d.Text)
	if words == "" {
		return nil
	}
	s.endAside()
	s.open, s.broken = !strings.HasSuffix(words, "\n"), false
	_, err := io.WriteString(s.stdout, words)
	return err
}

// finish ends the answer's last line.
func (s *speech) finish() error {
	if !s.open || s.broken {
		return nil
	}
	s.open = false
	_, err := io.WriteString(s.stdout, "\n")
	return err
}

func (s *speech) show(_ messages.State, e messages.Event) {
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
		s.endAside()
	case messages.LLMStarted, messages.LLMCompleted:
		s.remark(e.Message)
	case messages.RunCanceling:
		if interrupted(b) {
			s.remark(e.Message + "; Ctrl-C leaves at once")
		}
	}
}

func (s *speech) think(text string) {
	if text = harmless(text); text == "" {
		return
	}
	if s.shared && s.open && !s.broken {
		s.broken = true
		io.WriteString(s.stderr, "\n")
	}
	line, ended := strings.CutSuffix(text, "\n")
	s.aside = !ended
	io.WriteString(s.stderr, s.look.paint(line, dim)+text[len(line):])
}

// remark is a line of its own.
func (s *speech) remark(line string) {
	s.endAside()
	s.think(printable(line) + "\n")
}

func (s *speech) endAside() {
	if s.aside {
		s.aside = false
		io.WriteString(s.stderr, "\n")
	}
}

func (s *speech) end() { s.endAside() }

func (s *speech) leave() { s.endAside() }

// harmless keeps a model from steering the terminal, now or when a file with its words is shown: no controls but line
// breaks and tabs pass, nor what turns the direction of writing around. Unlike printable it leaves what scripts and
// emoji are joined with.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, text)
}
