package decode

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// fragment is a CallDelta with proper types.
type fragment struct {
	id, name  string
	index     int // -1 if missing
	arguments json.RawMessage
}

// read gives the members of a delta their types. It makes all that servers send for no arguments the same: nil.
func read(d CallDelta) fragment {
	f := fragment{id: word(d.ID), name: word(d.Name), index: index(d.Index), arguments: d.Arguments}
	f.arguments = bytes.TrimSpace(f.arguments)
	switch string(f.arguments) {
	case "", "null", `""`:
		f.arguments = nil
	}
	return f
}

// index reads a number, in a string or not; -1 if there is none.
func index(raw json.RawMessage) int {
	if len(raw) == 1 && raw[0] >= '0' && raw[0] <= '9' {
		return int(raw[0] - '0')
	}
	if n, err := strconv.ParseFloat(word(raw), 64); err == nil && n >= 0 && n <= math.MaxInt32 {
		return int(n)
	}
	return -1
}

// word reads a string, or returns a number as it is.
func word(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] != '"' {
		return string(raw)
	}
	var u Unescape
	return u.Push(raw) + u.Close()
}

// extent finds the end of a JSON object.
type extent struct {
	depth    int
	began    bool
	quoted   bool
	escaping bool
}

func (e *extent) closed() bool { return e.began && e.depth <= 0 }

// push reads a piece of the object.
func (e *extent) push(text string) {
	for i := range len(text) {
		b := text[i]
		switch {
		case e.escaping:
			e.escaping = false
		case e.quoted && b == '\\':
			e.escaping = true
		case b == '"':
			e.quoted = !e.quoted
		case e.quoted:
		case b == '{' || b == '[':
			e.began = true
			e.depth++
		case b == '}' || b == ']':
			e.depth--
		}
	}
}
