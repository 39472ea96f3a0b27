package pieces

import (
	"unicode/utf8"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Words splits a [door.Speech] of all texts into pieces. A piece ends after a word, at the end of a text, and where the
// run asks something. It has all whole words of an operation, so that merged deltas stay merged.
type Words struct {
	speech door.Speech
	rest   []byte // what is not a whole piece yet
	begun  bool   // whether a piece was said
	say    func(piece, mediaType string, anew bool)
}

// NewWords returns Words that pass each piece to say. anew says that the piece replaces all earlier ones.
func NewWords(say func(piece, mediaType string, anew bool)) *Words {
	return &Words{speech: door.Speech{All: true}, say: say}
}

// Take passes on the pieces that the operation completes. When the run waits or ends, it passes on the rest too.
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

// Text returns all pieces so far, and their media type. begun is false if there was none.
func (w *Words) Text() (text, mediaType string, begun bool) {
	text = w.speech.Text()
	text = text[:len(text)-len(w.rest)]
	return text, w.speech.MediaType(0, len(text)), w.begun
}

// add adds text and passes on all whole pieces. anew begins another text; all passes on the incomplete end too.
func (w *Words) add(text string, anew, all bool) {
	if anew {
		w.rest, w.begun = nil, false
	}
	w.rest = append(w.rest, text...)
	whole := 0
	for n := pieceOf(w.rest); n > 0; n = pieceOf(w.rest[whole:]) {
		whole += n
	}
	if whole > 0 {
		w.piece(whole)
	}
	if all && len(w.rest) > 0 || anew && text == "" {
		w.piece(len(w.rest))
	}
}

func (w *Words) piece(n int) {
	piece, anew, pos := string(w.rest[:n]), !w.begun, len(w.speech.Text())-len(w.rest)
	w.begun, w.rest = true, w.rest[n:]
	w.say(piece, w.speech.MediaType(pos, pos+n), anew)
}

// mostPiece is the number of bytes after which a piece ends in a text without spaces.
const mostPiece = 28

// pieceOf returns the length of the shortest piece that text begins with. It returns 0 if there is none.
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
