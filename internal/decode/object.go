package decode

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// state is what the scanner expects, or what it is inside of.
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

// depth is the greatest depth of nested JSON that encoding/json reads.
const depth = 10000

// object scans one JSON object. Its state is between two bytes of the input.
type object struct {
	names []string
	named bool // it has one of the names
	keyed bool // it has had a key and a colon, so it is meant as JSON

	state  state
	doc    []byte // the input, repaired
	safe   int    // doc[:safe] needs only its open brackets closed
	comma  int    // the last comma in doc
	bare   int    // where the current word begins in doc
	levels []level
	path   []byte // of the current value

	str  quoted
	live bool   // the current string is streamed
	name string // path of the current string
	out  []byte // a key, or a piece that was not emitted yet
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

// push takes text up to the end of the object. A syntax error before the first colon makes it idle again.
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

// next takes one byte between keys and values, unless it is a syntax error.
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

// structure takes a byte between strings and words. It reports false for a syntax error.
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

// close takes the byte that ends an object or a list. It returns true, as structure does.
func (o *object) close(b byte) bool {
	o.doc = append(o.doc, b)
	o.levels = o.levels[:len(o.levels)-1]
	o.completed()
	if len(o.levels) == 0 {
		o.state = finished
	}
	return true
}

// completed ends a value.
func (o *object) completed() { o.state, o.safe = after, len(o.doc) }

// value begins a value. It reports false for a syntax error.
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

// step prepares the path for one more name.
func (o *object) step(l *level) {
	if o.path = o.path[:l.path]; l.path > 0 {
		o.path = append(o.path, '.')
	}
}

// watch decides whether to stream the string at the path. The value of a repeated key is not streamed.
func (o *object) watch() {
	o.live = slices.ContainsFunc(o.names, func(name string) bool { return below(string(o.path), name) })
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

// below reports whether path is name or inside it.
func below(path, name string) bool {
	return strings.HasPrefix(path, name) && (len(path) == len(name) || path[len(name)] == '.')
}

// complete closes an object that is cut off. A string ends at its last whole rune, a number at its last digit, and a
// key without a value is dropped.
func (o *object) complete() []byte {
	doc := o.doc[:o.safe]
	switch o.state {
	case inString:
		doc = append(o.cutString(), '"')
	case inBare:
		if word, ok := wholeWord(string(o.doc[o.bare:])); ok {
			doc = append(o.doc[:o.bare], word...)
		}
	}
	for _, l := range slices.Backward(o.levels) {
		doc = append(doc, l.closer)
	}
	return doc
}

func (o *object) cutString() []byte {
	doc := o.doc[:len(o.doc)-o.str.have]
	if o.str.high != 0 {
		return doc[:len(doc)-len(o.str.raw)]
	}
	return doc[:len(doc)-begun(doc)]
}

// wholeWord completes a word such as true, or shortens a number to a valid one.
func wholeWord(word string) (string, bool) {
	for _, literal := range []string{"true", "false", "null"} {
		if strings.HasPrefix(literal, word) {
			return literal, true
		}
	}
	const exponent = len("e+")
	for n := len(word); n > 0 && n >= len(word)-exponent; n-- {
		if json.Valid([]byte(word[:n])) {
			return word[:n], true
		}
	}
	return "", false
}
