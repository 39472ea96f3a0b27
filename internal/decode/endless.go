package decode

import "unicode/utf8"

// Endless counts the tokens of an answer, and detects endless repetition: the same 64 tokens or fewer, repeated for
// 4,096 tokens. A token depends on the text alone, not on its pieces: it is a word with the blanks before it, in
// parts of eight characters. The zero value is ready for use.
type Endless struct {
	tokens int
	size   int    // number of characters of the current token
	blank  bool   // so far the token has only blanks
	sum    uint64 // hash of the current token
	recent [period]uint64
	runs   [period]run // by distance: how many tokens in a row equal the token at that distance before them
}

// run counts equal tokens in a row, and the number of the last of them.
type run struct{ length, end int }

const (
	period   = 64
	longest  = 8
	mostRuns = 4096
)

// Push takes the next piece of the answer, and returns the number of tokens so far. repeats: the answer has begun to
// repeat itself without end.
func (e *Endless) Push(piece string) (tokens int, repeats bool) {
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		blank := c == ' ' || c == '\n' || c == '\t'
		if blank && !e.blank && e.size > 0 || e.size >= longest && utf8.RuneStart(c) {
			repeats = e.token() || repeats
		}
		if utf8.RuneStart(c) {
			e.size++
		}
		e.blank = blank
		e.sum = (e.sum ^ uint64(c)) * 1099511628211 // FNV-1a
	}
	return e.tokens, repeats
}

// token records the end of a token, and reports whether the answer repeats itself.
func (e *Endless) token() (repeats bool) {
	sum := e.sum
	for pos, earlier := range e.recent { // nothing is written where tokens differ, which is nearly everywhere
		if earlier != sum {
			continue
		}
		r := &e.runs[uint(e.tokens-pos)%period]
		if r.end != e.tokens {
			r.length = 0
		}
		r.length, r.end = r.length+1, e.tokens+1
		repeats = repeats || r.length >= mostRuns
	}
	e.recent[e.tokens%period] = sum
	e.tokens++
	e.size, e.sum = 0, 0
	return repeats
}
