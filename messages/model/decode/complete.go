package decode

import (
	"encoding/json"
	"slices"
	"strings"
)

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
