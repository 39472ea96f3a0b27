package structured

import (
	"encoding/json"
	"strings"
)

// found is a document in an answer, and what it took to find it.
type found struct {
	doc []byte
	// repaired: it is not the text that the model wrote. thought: it was in the model's reasoning.
	repaired, thought bool
}

// maxObjects is how many places of an answer are looked at for an object.
const maxObjects = 8

// objectsIn lists the whole objects of a text in their order: the only one there should be, one in a fence, one after
// words or after a thought whose tags nobody took out.
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

// objectAt is where the next brace stands that a key or another brace follows, or -1.
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
