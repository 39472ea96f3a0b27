package jsonwalk

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
)

// Repeated yields the path of each duplicate key in a JSON text, such as /list/0/name.
func Repeated(text []byte) iter.Seq[string] {
	return func(yield func(path string) bool) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var open []level
		for {
			token, err := d.Token()
			if err != nil {
				return
			}
			if token == json.Delim('}') || token == json.Delim(']') {
				open = open[:len(open)-1]
				continue
			}
			if n := len(open); n > 0 && open[n-1].next(token) && !yield(path(open)) {
				return
			}
			switch token {
			case json.Delim('{'):
				open = append(open, level{keys: map[string]bool{}})
			case json.Delim('['):
				open = append(open, level{index: -1})
			}
		}
	}
}

// level is an object or a list that is open.
type level struct {
	keys  map[string]bool // all so far; nil for a list
	key   string          // the last one
	keyed bool            // its value comes next
	index int             // of the last element
}

// next takes a token, and reports whether it is a key that the object has already.
func (l *level) next(token json.Token) (again bool) {
	name, _ := token.(string)
	switch {
	case l.keys == nil:
		l.index++
	case l.keyed:
		l.keyed = false
	default:
		again = l.keys[name]
		l.key, l.keyed, l.keys[name] = name, true, true
	}
	return again
}

// path returns the path of the current member or element.
func path(open []level) (path string) {
	for _, l := range open {
		if l.keys == nil {
			path += "/" + strconv.Itoa(l.index)
		} else {
			path += "/" + l.key
		}
	}
	return path
}
