package decode

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

type state uint8

const (
	idle      state = iota
	first           // a key or "}"
	another         // a key, after a comma
	inKey           // in the string of a key
	colon           // after a key
	value           // after a colon
	element         // a value or "]"
	successor       // a value, after a comma
	inString        // in the string of a value
	inBare          // in a number or a word
	after           // a value
	finished
	wrong // no JSON
)

// depth is what encoding/json allows.
const depth = 10000

// object scans one JSON object.
type object struct {
	names []string
	named bool // it has one of the names
	keyed bool // it has had a key and a colon: it is meant as JSON

	state  state
	doc    []byte // all that came, made clean
	safe   int    // doc[:safe] needs nothing but the open brackets closed
	comma  int    // the last comma in doc
	bare   int    // where the word begins in doc
	levels []level
	path   []byte // of the value under way

	str  quoted
	live bool   // the string is streamed
	name string // its path
	out  []byte // a key, or a piece not yet emitted
	seen map[string]struct{}
}

// level is an object or a list that is open.
type level struct {
	closer byte
	path   int // length of its path
	index  int // of the next element
}

// begin takes the opening brace.
func (o *object) begin() {
	o.named = len(o.names) == 0
	o.doc = append(o.doc, '{')
	o.open('}', first)
}

func (o *object) open(closer byte, s state) {
	o.levels = append(o.levels, level{closer: closer, path: len(o.path)})
	o.state, o.safe = s, len(o.doc)
}

// push takes text up to the end of the object. What no JSON object can have before its first colon makes it idle again.
func (o *object) push(text string, emit func(path, piece string)) (n int) {
	i := 0
	for i < len(text) {
		switch o.state {
		case idle, finished:
			return i
		case wrong:
			o.doc = append(o.doc, text[i:]...)
			return len(text)
		case inKey, inString:
			i += o.quoted(text[i:], emit)
		case inBare:
			i += o.word(text[i:])
		default:
			i += o.next(text[i])
		}
	}
	o.flush(emit)
	return i
}

// next takes one byte between keys and values, unless it is wrong there.
func (o *object) next(b byte) int {
	if !blank(b) && !o.structure(b) {
		o.fail()
		return 0
	}
	if blank(b) {
		o.doc = append(o.doc, b)
	}
	return 1
}

func (o *object) fail() {
	if o.keyed {
		o.state = wrong
	} else {
		*o = object{names: o.names}
	}
}

func (o *object) structure(b byte) bool {
	top := &o.levels[len(o.levels)-1]
	switch {
	case b == top.closer && (o.state == another || o.state == successor):
		o.doc[o.comma] = ' '
		return o.close(b)
	case b == top.closer && (o.state == first || o.state == element || o.state == after):
		return o.close(b)
	case b == ',' && o.state == after:
		o.comma = len(o.doc)
		o.state = another
		if top.closer == ']' {
			o.state = successor
		}
	case b == ':' && o.state == colon:
		o.state, o.keyed = value, true
	case b == '"' && (o.state == first || o.state == another):
		o.state, o.out = inKey, o.out[:0]
	case o.state == value || o.state == element || o.state == successor:
		return o.value(b)
	default:
		return false
	}
	o.doc = append(o.doc, b)
	return true
}

func (o *object) close(b byte) bool {
	o.doc = append(o.doc, b)
	o.levels = o.levels[:len(o.levels)-1]
	o.completed()
	if len(o.levels) == 0 {
		o.state = finished
	}
	return true
}

// completed says that a value is.
func (o *object) completed() { o.state, o.safe = after, len(o.doc) }

func (o *object) value(b byte) bool {
	top := &o.levels[len(o.levels)-1]
	nested := b == '{' || b == '['
	if nested && len(o.levels) == depth || !nested && b != '"' && !wordly(b) {
		return false
	}
	if top.closer == ']' {
		if nested || b == '"' {
			o.step(top)
			o.path = strconv.AppendInt(o.path, int64(top.index), 10)
		}
		top.index++
	}
	o.doc = append(o.doc, b)
	switch b {
	case '{':
		o.open('}', first)
	case '[':
		o.open(']', element)
	case '"':
		o.state, o.out = inString, o.out[:0]
		o.watch()
	default:
		o.state, o.bare = inBare, len(o.doc)-1
	}
	return true
}

// step makes the path ready for one more name.
func (o *object) step(l *level) {
	if o.path = o.path[:l.path]; l.path > 0 {
		o.path = append(o.path, '.')
	}
}

// watch decides whether the string at the path is streamed. One that comes a second time is not.
func (o *object) watch() {
	o.live = false
	for _, name := range o.names {
		o.live = o.live || below(string(o.path), name)
	}
	if _, again := o.seen[string(o.path)]; !o.live || again {
		o.live = false
		return
	}
	if o.seen == nil {
		o.seen = make(map[string]struct{})
	}
	o.name = string(o.path)
	o.seen[o.name] = struct{}{}
}

// below says whether path is name or inside it.
func below(path, name string) bool {
	return strings.HasPrefix(path, name) && (len(path) == len(name) || path[len(name)] == '.')
}

// quoted takes some of a string.
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

// run takes bytes that stand for themselves; last says that nothing of the string follows in this piece.
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

// ended acts on the end of a string.
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
	if len(o.levels) > 1 {
		return
	}
	for _, name := range o.names {
		o.named = o.named || below(name, string(o.path))
	}
}

// flush emits what has come of the string.
func (o *object) flush(emit func(path, piece string)) {
	if o.state != inString {
		return
	}
	if o.live && len(o.out) > 0 {
		emit(o.name, string(o.out))
	}
	o.out = o.out[:0]
}

// word takes some of a number, true, false or null.
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
