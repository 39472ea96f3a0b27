package decode

import (
	"errors"
	"strings"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
	"github.com/seed889630bf/lastword/messages/model"
)

// What [Fields.Close] can say of an answer.
var (
	// ErrNoObject: the answer has no JSON object.
	ErrNoObject = errors.New("the answer has no JSON object")
	// ErrTruncated: the answer ended inside the object; the document is the object as far as it came, closed.
	ErrTruncated = errors.New("the JSON object is not complete")
	// ErrSyntax: what began as an object is none; the document is the text from its first brace on.
	ErrSyntax = errors.New("the answer is not valid JSON")
	// ErrDuplicate: a key comes twice in one object. The first value was streamed; encoding/json takes the last.
	ErrDuplicate = errors.New("the JSON object has a key twice")
)

// Fields streams strings of a JSON object while it is incomplete. Text, code fences and thoughts in front of it and
// whatever follows it are skipped.
type Fields struct {
	front  *Thoughts
	passed []byte // by front, and not looked at
	hear   func(model.Part)
	object object
	spare  []byte // the first complete object that has none of the names
}

// NewFields streams the strings at these paths: "purpose" is a field of the object, "notes.0.text" one further inside,
// and a path of an object or a list stands for every string in it. Keys are compared exactly. An object that has none
// of the names is kept for Close, and the search goes on. Without names the first object is taken.
func NewFields(names ...string) *Fields {
	f := &Fields{front: NewThoughts(Auto), object: object{names: names}}
	f.hear = func(p model.Part) {
		if text, ok := p.(model.Text); ok {
			f.passed = append(f.passed, text.Text...)
		}
	}
	return f
}

// Push emits the next piece of each string, decoded and valid UTF-8, with its whole path.
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

// search takes some text that is not in an object. Where a mark of a thought may be under way it takes one byte, so
// that what the thoughts let through ends before the text that is left.
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

// look looks for objects in the text that was let through.
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

// scan goes on with the object.
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

// Close gives the object as a JSON text that encoding/json accepts: as it came, save that trailing commas are blanked,
// raw control characters in strings escaped, and backslashes that begin no escape doubled.
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

// Field streams one string of a JSON object; see [Fields].
type Field struct {
	fields *Fields
	piece  string
	take   func(path, piece string)
}

// NewField streams the string at the path name.
func NewField(name string) *Field {
	f := &Field{fields: NewFields(name)}
	f.take = func(path, piece string) {
		if path == name {
			f.piece += piece
		}
	}
	return f
}

// Push gives the next piece of the field, "" where there is none yet.
func (f *Field) Push(text string) (piece string) {
	f.piece = ""
	f.fields.Push(text, f.take)
	return f.piece
}

// Close is that of [Fields].
func (f *Field) Close() (document []byte, err error) { return f.fields.Close() }
