package decode

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// quoted takes a part of a string.
func (o *object) quoted(text string, emit func(path, piece string)) int {
	if o.str.escaped() {
		return o.escape(text[0])
	}
	n := plainRun(text)
	if n > 0 {
		o.run(text[:n], n == len(text) || text[n] == '"', emit)
		return n
	}
	switch b := text[0]; b {
	case '"':
		o.doc = append(o.doc, b)
		o.out = o.str.flush(o.out)
		o.ended(emit)
	case '\\':
		o.doc = append(o.doc, b)
		o.str.begin()
	default:
		const digits = "0123456789abcdef"
		o.doc = append(o.doc, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
		o.out = appendText(&o.str.units, o.out, text[:1])
	}
	return 1
}

// plainRun counts the bytes that stand for themselves in a string.
func plainRun(text string) int {
	for i := range len(text) {
		if b := text[i]; b == '"' || b == '\\' || b < ' ' {
			return i
		}
	}
	return len(text)
}

// escape takes a byte of an escape, and returns how many bytes it used. If the escape is invalid, it uses none, and
// doubles the backslash, so that doc stays valid JSON.
func (o *object) escape(b byte) int {
	var literal int
	if o.out, literal = o.str.escape(o.out, b); literal == 0 {
		o.doc = append(o.doc, b)
		return 1
	}
	pos := len(o.doc) - literal
	o.doc = append(o.doc, 0)
	copy(o.doc[pos+1:], o.doc[pos:])
	return 0
}

// run takes bytes that stand for themselves. last: nothing more of the string follows in this piece.
func (o *object) run(text string, last bool, emit func(path, piece string)) {
	o.doc = append(o.doc, text...)
	switch {
	case o.state == inString && !o.live:
		o.str.units = units{}
	case o.state == inString && last && len(o.out) == 0 && o.str.idle() && utf8.ValidString(text):
		emit(o.name, text)
	default:
		o.out = appendText(&o.str.units, o.out, text)
	}
}

// ended handles the end of a string.
func (o *object) ended(emit func(path, piece string)) {
	if o.state == inString {
		o.flush(emit)
		o.live = false
		o.completed()
		return
	}
	o.step(&o.levels[len(o.levels)-1])
	o.path = append(o.path, o.out...)
	o.state = colon
	if len(o.levels) == 1 && !o.named {
		o.named = slices.ContainsFunc(o.names, func(name string) bool { return below(name, string(o.path)) })
	}
}

// flush emits what has arrived of the string.
func (o *object) flush(emit func(path, piece string)) {
	if o.state != inString {
		return
	}
	if o.live && len(o.out) > 0 {
		emit(o.name, string(o.out))
	}
	o.out = o.out[:0]
}

// word takes a part of a number, true, false or null.
func (o *object) word(text string) int {
	n := 0
	for n < len(text) && wordly(text[n]) {
		n++
	}
	o.doc = append(o.doc, text[:n]...)
	switch {
	case n == len(text):
	case json.Valid(o.doc[o.bare:]):
		o.completed()
	default:
		o.fail()
	}
	return n
}

func wordly(b byte) bool {
	return b >= '0' && b <= '9' || b == '-' || b == '+' || b == '.' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// Unescape decodes a text whose pieces are JSON string literals, one in each chunk of a stream. A surrogate pair or a
// rune that is split between two literals comes whole with the second one. Half a pair and invalid bytes become
// U+FFFD, as in encoding/json. The zero value is ready for use.
type Unescape struct {
	quoted quoted
}

// Push decodes one literal with its quotes; it returns "" for null and other values.
func (u *Unescape) Push(literal []byte) string {
	if len(literal) < 2 || literal[0] != '"' || literal[len(literal)-1] != '"' {
		return ""
	}
	inside := literal[1 : len(literal)-1]
	if u.quoted.idle() && !u.quoted.escaped() && bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	out := make([]byte, 0, len(inside)+utf8.UTFMax)
	for len(inside) > 0 {
		if u.quoted.escaped() {
			var literal int
			if out, literal = u.quoted.escape(out, inside[0]); literal == 0 {
				inside = inside[1:]
			}
			continue
		}
		n := bytes.IndexByte(inside, '\\')
		if n < 0 {
			n = len(inside)
		}
		out = appendText(&u.quoted.units, out, inside[:n])
		if inside = inside[n:]; len(inside) > 0 {
			u.quoted.begin()
			inside = inside[1:]
		}
	}
	return string(out)
}

// Close returns U+FFFD for what is still held back.
func (u *Unescape) Close() string {
	out := appendText(&u.quoted.units, nil, u.quoted.raw[:u.quoted.have])
	return string(u.quoted.flush(out))
}

// quoted decodes the inside of a JSON string. It holds an escape in raw until that is complete.
type quoted struct {
	units
	raw  [6]byte // of an escape: \uXXXX
	have int     // number of bytes in raw
}

func (q *quoted) escaped() bool { return q.have > 0 }

func (q *quoted) begin() {
	q.raw[0] = '\\'
	q.have = 1
}

// escape takes the next byte of an escape. If b makes it invalid, escape does not take b, and returns how many bytes
// of raw stand for themselves.
func (q *quoted) escape(out []byte, b byte) (_ []byte, literal int) {
	r := simple(b)
	switch {
	case q.have == 1 && b == 'u', q.have > 1 && q.have < len(q.raw)-1 && hex(b) >= 0:
		q.raw[q.have] = b
		q.have++
		return out, 0
	case q.have == 1 && r != 0:
		q.have = 0
		return append(q.flush(out), r), 0
	case q.have == len(q.raw)-1 && hex(b) >= 0:
		q.raw[q.have] = b
		q.have = 0
		return q.unit(out, q.code()), 0
	}
	literal, q.have = q.have, 0
	return appendText(&q.units, out, q.raw[:literal]), literal
}

// code returns the code unit of a whole escape \uXXXX.
func (q *quoted) code() (r rune) {
	for _, b := range q.raw[2:] {
		r = r<<4 | hex(b)
	}
	return r
}

// simple decodes an escape of one letter; it returns 0 if b is not one.
func simple(b byte) byte {
	if i := strings.IndexByte(`"\/bfnrt`, b); i >= 0 {
		return "\"\\/\b\f\n\r\t"[i]
	}
	return 0
}

// hex returns the value of a hexadecimal digit, or -1.
func hex(b byte) rune {
	switch c := b | 0x20; {
	case b >= '0' && b <= '9':
		return rune(b - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	}
	return -1
}
