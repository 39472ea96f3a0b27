package door

import (
	"strings"

	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Speech is what a run says as one text, for clients that can only append: its answers, or All its texts, in the order
// in which they began, with a line between two. One that began while another grows waits for the other's end. Its
// Dialect has the policy Replace, and gives it the operations on texts, those of Rewind too.
type Speech struct {
	All bool

	sent    []byte // what the client has, after text that was taken back
	begun   int    // of sent, what an earlier part had
	departs bool   // the text is not what the client has, or no more than its beginning
}

// Begin begins a part of the run: what was said until now is not said again.
func (s *Speech) Begin(run *transcript.Transcript) {
	s.sent = []byte(s.joined(run))
	s.begun = len(s.sent)
}

// Take returns what the operation adds. anew says that the client has text that was taken back: what comes is all that is
// said. Nothing comes while an attempt repeats what the client has.
func (s *Speech) Take(op *transcript.Op) (piece string, anew bool) {
	switch {
	case op.Item.Kind != transcript.Text:
	case op.Do == transcript.Append && op.Offset > 0 && !s.departs:
		if s.live(op.Run) == op.Item {
			return s.add(op.Text), false
		}
	default:
		return s.reconcile(s.joined(op.Run))
	}
	return "", false
}

// Rest is Take at the end of the run.
func (s *Speech) Rest(run *transcript.Transcript) (piece string, anew bool) {
	if text := s.joined(run); text != string(s.sent) {
		return s.restart(text)
	}
	return "", false
}

// Ask returns what the question adds, which ends the part.
func (s *Speech) Ask(question *transcript.Item) (piece string) {
	if piece = Prompt(question.Asked()); len(s.sent) > s.begun {
		piece = "\n\n" + piece
	}
	s.sent = append(s.sent, piece...)
	return piece
}

// Text is what was said in this part.
func (s *Speech) Text() string { return string(s.sent[s.begun:]) }

func (s *Speech) reconcile(text string) (piece string, anew bool) {
	more, longer := strings.CutPrefix(text, string(s.sent))
	switch s.departs = !longer; {
	case longer:
		return s.add(more), false
	case !strings.HasPrefix(string(s.sent), text):
		return s.restart(text)
	}
	return "", false
}

func (s *Speech) restart(text string) (piece string, anew bool) {
	s.sent, s.departs, s.begun = []byte(text), false, 0
	return text, true
}

// add adds a piece. The first of a part follows on no text of its own.
func (s *Speech) add(text string) string {
	if s.begun > 0 && len(s.sent) == s.begun {
		gap := len(text) - len(strings.TrimLeft(text, "\n"))
		s.sent, text, s.begun = append(s.sent, text[:gap]...), text[gap:], s.begun+gap
	}
	s.sent = append(s.sent, text...)
	return text
}

func (s *Speech) has(item *transcript.Item) bool {
	return item.IsAnswer() || s.All && item.Kind == transcript.Text
}

// live is the text that grows before the client's eyes: the first that is not done.
func (s *Speech) live(run *transcript.Transcript) *transcript.Item {
	for _, item := range run.Items() {
		if s.has(item) && !item.Closed {
			return item
		}
	}
	return nil
}

// joined are the texts up to the first that is not done.
func (s *Speech) joined(run *transcript.Transcript) string {
	var out strings.Builder
	for _, item := range run.Items() {
		if !s.has(item) {
			continue
		}
		if out.Len() > 0 && item.Len() > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(item.Text())
		if !item.Closed {
			break
		}
	}
	return out.String()
}
