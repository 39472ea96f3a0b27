package decode

import (
	"errors"
	"strings"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages/model"
)

// Errors of [Fields.Close].
var (
	// ErrNoObject: the answer has no JSON object.
	ErrNoObject = errors.New("the answer has no JSON object")
	// ErrTruncated: the answer ended inside the object. The document is the beginning of the object, closed.
	ErrTruncated = errors.New("the JSON object is not complete")
	// ErrSyntax: the object is not valid JSON. The document is the text from its first brace on.
	ErrSyntax = errors.New("the answer is not valid JSON")
	// ErrDuplicate: an object has a key twice. The first value was streamed; encoding/json takes the last.
	ErrDuplicate = errors.New("the JSON object has a key twice")
)

// Fields streams strings of a JSON object while the object is incomplete. It skips text, code fences and thoughts
// before the object, and everything after it.
type Fields struct {
	front  *Thoughts
	passed []byte // text that front has passed on and that was not searched yet
	hear   func(model.Part)
	object object
	spare  []byte // first complete object that has none of the names
}

// NewFields returns a decoder that streams the strings at the given paths. "purpose" is a member of the object,
// "notes.0.text" a nested one, and the path of an object or a list stands for every string in it. Keys are compared
// exactly. If an object has none of the names, Fields keeps it for Close and searches on. Without names it takes the
// first object.
func NewFields(names ...string) *Fields {
	f := &Fields{front: NewThoughts(Auto), object: object{names: names}}
	f.hear = func(p model.Part) {
		if text, ok := p.(model.Text); ok {
			f.passed = append(f.passed, text.Text...)
		}
	}
	return f
}

// Push emits the next piece of each string, decoded and in valid UTF-8, with its whole path.
func (f *Fields) Push(text string, emit func(path, piece string)) {
	for len(text) > 0 {
		switch f.object.state {
		case idle:
			text = text[f.search(text, emit):]
		case finished:
			return
		default:
			text = text[f.scan(text, emit):]
		}
	}
}

// search takes some text outside of an object. While a mark of a thought may be incomplete it takes single bytes, so
// that the text that front emits ends before the rest.
func (f *Fields) search(text string, emit func(path, piece string)) (n int) {
	if f.front.match.n == 0 {
		n = strings.IndexAny(text, "{<[")
	}
	switch n {
	case -1:
		n = len(text)
	case 0:
		n = 1
	}
	f.passed = f.passed[:0]
	f.front.Push(text[:n], f.hear)
	f.look(emit)
	return n
}

// look searches the text that front emitted for objects.
func (f *Fields) look(emit func(path, piece string)) {
	rest := string(f.passed)
	for rest != "" && f.object.state != finished {
		if f.object.state == idle {
			i := strings.IndexByte(rest, '{')
			if i < 0 {
				return
			}
			f.object.begin()
			rest = rest[i+1:]
		}
		rest = rest[f.scan(rest, emit):]
	}
}

// scan continues the current object.
func (f *Fields) scan(text string, emit func(path, piece string)) (n int) {
	n = f.object.push(text, emit)
	if f.object.state == finished && !f.object.named {
		if f.spare == nil {
			f.spare = f.object.doc
		}
		f.object = object{names: f.object.names}
	}
	return n
}

// Close returns the object as JSON that encoding/json accepts. It blanks trailing commas, escapes raw control
// characters in strings, and doubles backslashes that begin no escape.
func (f *Fields) Close() (document []byte, err error) {
	o := &f.object
	switch {
	case f.spare != nil && !o.named:
		document = f.spare
	case o.state == idle:
		return nil, ErrNoObject
	case o.state == wrong:
		return o.doc, ErrSyntax
	case o.state != finished:
		return o.complete(), ErrTruncated
	default:
		document = o.doc
	}
	for range jsonwalk.Repeated(document) {
		return document, ErrDuplicate
	}
	return document, nil
}
