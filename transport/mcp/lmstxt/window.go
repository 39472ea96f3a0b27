package lmstxt

import (
	"strings"
	"unicode/utf8"
)

// window keeps the characters of a text from offset on, at most limit, and counts all characters. A byte that is not
// UTF-8 counts as one character and becomes U+FFFD.
type window struct {
	offset, limit int
	total         int // number of characters so far
	kept          strings.Builder
	rest          []byte // the beginning of an incomplete character
}

// Write adds the next part of the text, which may end within a character.
func (w *window) Write(p []byte) (int, error) {
	n := len(p)
	if len(w.rest) > 0 {
		p = append(w.rest, p...)
	}
	for len(p) > 0 && utf8.FullRune(p) {
		r, size := utf8.DecodeRune(p)
		w.take(r)
		p = p[size:]
	}
	w.rest = append([]byte(nil), p...)
	return n, nil
}

// take counts a character, and keeps it if it is in the part.
func (w *window) take(r rune) {
	if w.total >= w.offset && w.total-w.offset < w.limit {
		w.kept.WriteRune(r)
	}
	w.total++
}

// end returns the result. It must be called after the last Write.
func (w *window) end() text {
	for range w.rest {
		w.take(utf8.RuneError)
	}
	w.rest = nil
	return text{Content: w.kept.String(), Truncated: w.total-w.offset > w.limit, TotalChars: w.total}
}

// text is the result of the reading tools.
type text struct {
	Content string `json:"content"`
	// Truncated says that more follows: the next part begins at offset plus the number of characters in Content.
	Truncated bool `json:"truncated"`
	// TotalChars is the number of characters of the whole text.
	TotalChars int `json:"total_chars"`
}

// textSchema is the JSON Schema of a part of a text.
const textSchema = `{"type":"object","required":["content","truncated","total_chars"],"properties":{` +
	`"content":{"type":"string"},"truncated":{"type":"boolean"},"total_chars":{"type":"integer"}}}`
