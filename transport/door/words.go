package door

import (
	"unicode/utf8"

	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Words are a [Speech] of all texts in pieces that are the same for every reader, however the log was merged: they end
// after words, where a text is over, and where the run asks something.
type Words struct {
	speech Speech
	rest   []byte // no whole piece
	begun  bool   // there is a piece
	say    func(piece string, anew bool)
}

// NewWords returns words that are said with the function. anew says that a piece takes the place of all before it.
func NewWords(say func(piece string, anew bool)) *Words {
	return &Words{speech: Speech{All: true}, say: say}
}

// Take says what the operation adds. Where the run waits or ends, that is all that there is.
func (w *Words) Take(op *transcript.Op) {
	switch op.Do {
	case transcript.Wait:
		w.add("", false, true)
	case transcript.End:
		text, anew := w.speech.End(op.Run)
		w.add(text, anew, true)
	default:
		text, anew := w.speech.Take(op)
		w.add(text, anew, false)
	}
}

// Text is what was said, and false if that is nothing yet.
func (w *Words) Text() (text string, begun bool) {
	text = w.speech.Text()
	return text[:len(text)-len(w.rest)], w.begun
}

func (w *Words) add(text string, anew, all bool) {
	if anew {
		w.rest, w.begun = nil, false
	}
	w.rest = append(w.rest, text...)
	for n := pieceOf(w.rest); n > 0; n = pieceOf(w.rest) {
		w.piece(n)
	}
	if all && len(w.rest) > 0 || anew && text == "" {
		w.piece(len(w.rest))
	}
}

func (w *Words) piece(n int) {
	piece, anew := string(w.rest[:n]), !w.begun
	w.begun, w.rest = true, w.rest[n:]
	w.say(piece, anew)
}

// mostPiece is how long a piece of a text without spaces is, in bytes.
const mostPiece = 28

// pieceOf returns the length of the first piece of a text, which nothing that follows changes, and 0 if there is none.
func pieceOf(text []byte) int {
	word := false
	for n, r := range string(text[:min(len(text), mostPiece+utf8.UTFMax)]) {
		space := r == ' ' || r == '\n'
		switch {
		case n > mostPiece:
			return n
		case space && word:
			return n + 1
		}
		word = word || !space
	}
	return 0
}
