package door

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Speech turns a run into one text, for clients that can only append.
//
// The text has the answers of the run, or with All its texts, in the order in which they began and with an empty line
// between two. If there are none, it is the run's result. While one text may still grow, those that began after it
// wait. The dialect that uses a Speech must have the policy Replace, and must pass it the operations on texts, also from
// the hook Rewind.
type Speech struct {
	All bool

	sent    []byte           // what the client has, even if some of it was taken back
	begun   int              // how much of sent belongs to an earlier part
	departs bool             // whether the run's text differs from sent, or is shorter
	live    *transcript.Item // the text that may still grow
	texts   []origin         // of each text of the run
}

// origin is where a text begins in what is said, in bytes, and its media type.
type origin struct {
	at        int
	mediaType string
}

// Begin begins a part of the run: what was said before is not repeated.
func (s *Speech) Begin(run *transcript.Transcript) {
	text, live := s.said(run)
	s.sent, s.begun, s.live = []byte(text), len(text), live
}

// Take returns the text that the operation adds. anew says that the client has text that was taken back: piece then
// replaces all of it. While a new attempt repeats what the client has, Take returns nothing.
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

// Rest returns what is missing at the end of the run, as Take does. If the run has no text, that is the result.
func (s *Speech) Rest(end *transcript.Op) (piece string, anew bool) {
	text, _ := s.said(end.Run)
	text = cmp.Or(text, end.Run.Ending().Text)
	return s.settle(text)
}

// End is Rest without the result.
func (s *Speech) End(run *transcript.Transcript) (piece string, anew bool) {
	text, _ := s.said(run)
	return s.settle(text)
}

// settle is reconcile at the end of a text: whatever the client has beyond it was taken back.
func (s *Speech) settle(text string) (piece string, anew bool) {
	if piece, anew = s.reconcile(text); s.departs && len(text) < len(s.sent) {
		s.sent, s.departs, s.begun = []byte(text), false, 0
		return text, true
	}
	return piece, anew
}

// Ask returns the text of a question, which ends the part.
func (s *Speech) Ask(question *transcript.Item) (piece string) {
	if piece = Prompt(question.Asked()); len(s.sent) > s.begun {
		piece = "\n\n" + piece
	}
	s.sent = append(s.sent, piece...)
	return piece
}

// Text returns what was said in this part.
func (s *Speech) Text() string { return string(s.sent[s.begun:]) }

// MediaType returns the media type of a part of what was said, by its first byte and the byte after its last: plain text
// if several texts of different types are in it.
func (s *Speech) MediaType(from, to int) string {
	kind := ""
	for i, t := range s.texts {
		switch {
		case t.at >= to || i+1 < len(s.texts) && s.texts[i+1].at <= from: // it lies elsewhere
		case kind != "" && kind != t.mediaType:
			return messages.TextPlain
		default:
			kind = t.mediaType
		}
	}
	return cmp.Or(kind, messages.TextPlain)
}

// reconcile compares the text of the run with what the client has, and returns what to add or what replaces it.
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

// add appends to sent. At the beginning of a part it drops empty lines, because the client has no text before them.
func (s *Speech) add(text string) string {
	if s.begun > 0 && len(s.sent) == s.begun {
		gap := len(text) - len(strings.TrimLeft(text, "\n"))
		s.sent, text, s.begun = append(s.sent, text[:gap]...), text[gap:], s.begun+gap
	}
	s.sent = append(s.sent, text...)
	return text
}

// said returns the texts up to the first one that may still grow, and that one.
func (s *Speech) said(run *transcript.Transcript) (text string, live *transcript.Item) {
	var texts []string
	s.texts = s.texts[:0]
	pos := 0
	for _, item := range run.Items() {
		if !item.IsAnswer() && !(s.All && item.Kind == transcript.Text) {
			continue
		}
		if item.Len() > 0 {
			texts, s.texts = append(texts, item.Text()), append(s.texts, origin{pos, item.MediaType})
			pos += len(item.Text()) + len("\n\n")
		}
		if !item.Over() {
			live = item
			break
		}
	}
	return strings.Join(texts, "\n\n"), live
}
