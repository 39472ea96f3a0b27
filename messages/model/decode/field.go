package decode

import "errors"

// What [Fields.Close] can say of an answer.
var (
	// ErrNoObject: the answer has no JSON object.
	ErrNoObject = errors.New("the answer has no JSON object")
	// ErrTruncated: the answer ended inside the object; the document is the object as far as it came, closed.
	ErrTruncated = errors.New("the JSON object is not complete")
	// ErrSyntax: what began as an object is none; the document is the text from its first brace on, as it came.
	ErrSyntax = errors.New("the answer is not valid JSON")
	// ErrDuplicate: a key comes twice in one object. The first value was streamed; encoding/json takes the last.
	ErrDuplicate = errors.New("the JSON object has a key twice")
)

// Fields streams strings of a JSON object while it is incomplete. Text, code fences and thoughts around it are skipped.
type Fields struct{}

// NewFields streams the strings at these paths: "purpose" is a field of the object, "notes.0.text" one further inside,
// and a path of an object or a list stands for every string in it. Keys are compared exactly. An object that has none
// of the names is kept for Close, and the search goes on. Without names the first object is taken.
func NewFields(names ...string) *Fields { return &Fields{} }

// Push emits the next piece of each string, decoded and valid UTF-8, with its whole path.
func (f *Fields) Push(text string, emit func(path, piece string)) {}

// Close gives the object as a JSON text that encoding/json accepts: as it came, save that trailing commas are blanked,
// raw control characters in strings escaped, and escapes that JSON does not know doubled.
func (f *Fields) Close() (document []byte, err error) { return nil, ErrNoObject }

// Field streams one string field of a JSON object; see [Fields].
type Field struct{}

// NewField streams the string at the path name.
func NewField(name string) *Field { return &Field{} }

// Push gives the next piece of the field, "" where there is none yet.
func (f *Field) Push(text string) (piece string) { return "" }

// Close is that of [Fields].
func (f *Field) Close() (document []byte, err error) { return nil, ErrNoObject }
