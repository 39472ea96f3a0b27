package decode

import (
	"encoding/json"
	"slices"
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

func (o *object) escape(b byte) int {
	var literal int
	if o.out, literal = o.str.escape(o.out, b); literal == 0 {
		o.doc = append(o.doc, b)
		return 1
	}
	at := len(o.doc) - literal
	o.doc = append(o.doc, 0)
	copy(o.doc[at+1:], o.doc[at:])
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
