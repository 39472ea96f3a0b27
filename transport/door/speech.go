package door

import (
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Speech is what a run says as one text, for clients that can only append: its answers, or All its texts, in the order in
// which they began, with a line between two, or the result of a run without any. One that began while another may grow
// waits for the other's end. Its Dialect has the policy Replace, and gives it the operations on texts, those of Rewind
// too.
type Speech struct {
	All bool

	sent    []byte // what the client has, after text that was taken back
	begun   int    // of sent, what an earlier part had
	departs bool   // the text is not what the client has, or no more than its beginning
	live    *transcript.Item
}

// Begin begins a part of the run: what was said until now is not said again.
func (s *Speech) Begin(run *transcript.Transcript) {
	text, live := s.said(run)
	s.sent, s.begun, s.live = []byte(text), len(text), live
}

// Take returns what the operation adds. anew says that the client has text that was taken back: what comes is all that is
// said. Nothing comes while an attempt repeats what the client has.
func (s *Speech) Take(op *transcript.Op) (piece string, anew bool) {
	switch {
	case op.Item.Kind != transcript.Text:
		return "", false
	case op.Do == transcript.Append && op.Offset > 0 && op.Item == s.live && !s.departs:
		return s.add(op.Text), false
	}
	text, live := s.said(op.Run)
	s.live = live
	return s.reconcile(text)
}

// Rest is Take at the end of the run.
func (s *Speech) Rest(end *transcript.Op) (piece string, anew bool) {
	text, _ := s.said(end.Run)
	if b, ok := end.Event.Body.(messages.RunCompleted); ok && text == "" {
		text = ResultText(b.Result)
	}
	return s.settle(text)
}

// End is Rest without the result.
func (s *Speech) End(run *transcript.Transcript) (piece string, anew bool) {
	text, _ := s.said(run)
	return s.settle(text)
}

// settle is reconcile where nothing follows: what the client has too much was taken back.
func (s *Speech) settle(text string) (piece string, anew bool) {
	if piece, anew = s.reconcile(text); s.departs && len(text) < len(s.sent) {
		s.sent, s.departs, s.begun = []byte(text), false, 0
		return text, true
	}
	return piece, anew
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
		s.sent, s.departs, s.begun = []byte(text), false, 0
		return text, true
	}
	return "", false
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

// said are the texts up to the first that may grow, and that one.
func (s *Speech) said(run *transcript.Transcript) (text string, live *transcript.Item) {
	var texts []string
	for _, item := range run.Items() {
		if !item.IsAnswer() && !(s.All && item.Kind == transcript.Text) {
			continue
		}
		if item.Len() > 0 {
			texts = append(texts, item.Text())
		}
		if !item.Over() {
			live = item
			break
		}
	}
	return strings.Join(texts, "\n\n"), live
}
