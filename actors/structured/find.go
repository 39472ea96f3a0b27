package structured

import (
	"encoding/json"
	"strings"
)

// found is a JSON document in an answer, with where it was.
type found struct {
	doc []byte
	// repaired: it differs from the model's text. thought: it was in a thought.
	repaired, thought bool
}

// maxObjects bounds the positions in an answer where an object is tried.
const maxObjects = 8

// objectsIn lists the complete objects of a text in order. Fences, other text and thoughts may surround them.
func objectsIn(text string) []found {
	var list []found
	trimmed := strings.TrimSpace(text)
	for from, looks := 0, 0; looks < maxObjects; looks++ {
		at := objectAt(trimmed, from)
		if at < 0 {
			break
		}
		var doc json.RawMessage
		d := json.NewDecoder(strings.NewReader(trimmed[at:]))
		if err := d.Decode(&doc); err != nil {
			from = at + 1
			continue
		}
		list = append(list, found{doc: doc})
		from = at + len(doc)
	}
	return list
}

// objectAt finds the next opening brace that is followed by a key or a closing brace, or returns -1.
func objectAt(s string, from int) int {
	for i := from; i < len(s); i++ {
		if s[i] != '{' {
			continue
		}
		rest := strings.TrimLeft(s[i+1:], " \t\r\n")
		if rest != "" && (rest[0] == '"' || rest[0] == '}') {
			return i
		}
	}
	return -1
}
