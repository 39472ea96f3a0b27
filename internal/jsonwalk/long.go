package jsonwalk

import (
	"bytes"
	"crypto/rand"
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// longest is the most bytes of a string that is not long. encoding/json copies a string several times.
const longest = 64 << 10

// FewestLong is a number of characters that a long string has at least: each takes 12 bytes at most, as two escapes.
const FewestLong = longest / 12

// Short returns the text with a string of 64 KiB in place of each longer one: the text itself if there is none.
func Short(text []byte) (short []byte) {
	from := 0
	for i := 0; len(text)-i > longest; {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			break
		}
		begin := i + next + 1
		if i = quoted(text, begin-1); i < 0 {
			return text
		}
		if i-begin > longest {
			short = append(append(short, text[from:begin]...), bytes.Repeat([]byte("x"), longest)...)
			from = i - 1
		}
	}
	if from == 0 {
		return text
	}
	return append(short, text[from:]...)
}

// Long holds the long parts of a value, and encoding/json sees a mark in place of each. The zero Long is empty.
type Long struct{ parts []part }

// part is a text, or JSON.
type part struct {
	mark, text string
	json       json.RawMessage
}

// Mark returns the text, or a mark in place of a long one.
func (l *Long) Mark(text string) string {
	if len(text) <= longest {
		return text
	}
	return l.mark(part{text: text})
}

// MarkJSON is Mark for JSON, which Write writes as it is.
func (l *Long) MarkJSON(data json.RawMessage) json.RawMessage {
	if len(data) <= longest {
		return data
	}
	return json.RawMessage(`"` + l.mark(part{json: data}) + `"`)
}

func (l *Long) mark(p part) string {
	p.mark = rand.Text()
	l.parts = append(l.parts, p)
	return p.mark
}

// Write writes JSON with the parts in place of their marks, which are in the same order, as encoding/json writes them.
func (l *Long) Write(w io.Writer, data []byte) {
	for _, p := range l.parts {
		before, after, found := bytes.Cut(data, []byte(`"`+p.mark+`"`))
		if !found {
			continue
		}
		_, _ = w.Write(before)
		if data = after; p.json != nil {
			_, _ = w.Write(p.json)
		} else {
			writeText(w, p.text)
		}
	}
	_, _ = w.Write(data)
}

// Marshal is json.Marshal for a value that may be a struct with long strings.
func Marshal(v any) ([]byte, error) {
	var l Long
	data, err := json.Marshal(l.marked(v))
	return l.Bytes(data), err
}

// marked returns the value with marks.
func (l *Long) marked(v any) any {
	_, own := v.(json.Marshaler)
	_, text := v.(encoding.TextMarshaler)
	s := reflect.ValueOf(v)
	if own || text || s.Kind() != reflect.Struct {
		return v
	}
	marked := reflect.New(s.Type()).Elem()
	marked.Set(s)
	for field := range s.Type().Fields() {
		if f := marked.FieldByIndex(field.Index); field.Type == reflect.TypeFor[string]() && f.CanSet() && !strings.HasSuffix(field.Tag.Get("json"), ",string") {
			f.SetString(l.Mark(f.String()))
		}
	}
	return marked.Interface()
}

// Bytes returns what Write writes: the data itself if there is no long string.
func (l *Long) Bytes(data []byte) []byte {
	if l.parts == nil {
		return data
	}
	size := len(data)
	for _, p := range l.parts {
		size += len(p.json) + len(p.text) + len(p.text)/8 // for the escapes
	}
	whole := bytes.NewBuffer(make([]byte, 0, size))
	l.Write(whole, data)
	return whole.Bytes()
}

// writeText writes the text as a JSON string, piece by piece.
func writeText(w io.Writer, text string) {
	_, _ = io.WriteString(w, `"`)
	var piece bytes.Buffer
	for encoder := json.NewEncoder(&piece); text != ""; piece.Reset() {
		n := min(len(text), longest)
		for least := n - utf8.UTFMax; n < len(text) && n > least && !utf8.RuneStart(text[n]); {
			n--
		}
		_ = encoder.Encode(text[:n]) // every text can be written
		_, _ = w.Write(piece.Bytes()[1 : piece.Len()-2])
		text = text[n:]
	}
	_, _ = io.WriteString(w, `"`)
}
