package lmstxt

import (
	"strings"
	"unicode/utf8"
)

// window keeps the characters of a text from an offset on, up to a limit, and counts all. What is not UTF-8 counts a
// character a byte, and is kept as U+FFFD.
type window struct {
	offset, limit int
	total         int
	kept          strings.Builder
	rest          []byte // the beginning of a character
}

// Write takes the next part of the text, which may end inside a character.
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

func (w *window) take(r rune) {
	if w.total >= w.offset && w.total-w.offset < w.limit {
		w.kept.WriteRune(r)
	}
	w.total++
}

// end is after the last Write.
func (w *window) end() text {
	for range w.rest {
		w.take(utf8.RuneError)
	}
	w.rest = nil
	return text{Content: w.kept.String(), Truncated: w.total-w.offset > w.limit, TotalChars: w.total}
}

// text is what the reading tools answer.
type text struct {
	Content string `json:"content"`
	// Truncated says that there is more after this: what goes on is at offset plus the characters of Content.
	Truncated bool `json:"truncated"`
	// TotalChars is how many characters the whole has.
	TotalChars int `json:"total_chars"`
}

const textSchema = `{"type":"object","required":["content","truncated","total_chars"],"properties":{` +
	`"content":{"type":"string"},"truncated":{"type":"boolean"},"total_chars":{"type":"integer"}}}`
