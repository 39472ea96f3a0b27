package jsonwalk

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// deepest is the greatest depth of nested JSON, as in encoding/json.
const deepest = 10000

// Object calls member for each member of a JSON object, in order, with the unescaped key and the raw value. If text
// is not an object it returns false, after the members before the fault.
func Object(text []byte, member func(key, value []byte)) bool {
	i := space(text, 0)
	return i < len(text) && text[i] == '{' && isEnd(text, members(text, i, 1, member))
}

// Array calls element for each element of a JSON array, as Object does for members.
func Array(text []byte, element func(value []byte)) bool {
	i := space(text, 0)
	return i < len(text) && text[i] == '[' && isEnd(text, elements(text, i, 1, element))
}

// isEnd reports whether the value that ends at i is the whole rest of the text.
func isEnd(text []byte, i int) bool { return i >= 0 && space(text, i) == len(text) }

// value returns the end of the JSON value at i, or -1 if there is none.
func value(b []byte, i, depth int) int {
	if i == len(b) || depth >= deepest {
		return -1
	}
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{':
		return members(b, i, depth+1, nil)
	case '[':
		return elements(b, i, depth+1, nil)
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	}
	return number(b, i)
}

// members walks the object at i, and returns its end or -1.
func members(b []byte, i, depth int, member func(key, value []byte)) int {
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) && b[i] == '"' {
		end := quoted(b, i)
		if end < 0 {
			return -1
		}
		key := b[i+1 : end-1]
		if i = space(b, end); i == len(b) || b[i] != ':' {
			return -1
		}
		i = space(b, i+1)
		if end = value(b, i, depth); end < 0 {
			return -1
		}
		if member != nil {
			member(unescaped(key), b[i:end:end])
		}
		if i = space(b, end); i == len(b) || b[i] != ',' {
			return closed(b, i, '}')
		}
		i = space(b, i+1)
	}
	return -1
}

// elements walks the array at i, and returns its end or -1.
func elements(b []byte, i, depth int, element func(value []byte)) int {
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		end := value(b, i, depth)
		if end < 0 {
			return -1
		}
		if element != nil {
			element(b[i:end])
		}
		if i = space(b, end); i == len(b) || b[i] != ',' {
			return closed(b, i, ']')
		}
		i = space(b, i+1)
	}
}

func closed(b []byte, i int, by byte) int {
	if i == len(b) || b[i] != by {
		return -1
	}
	return i + 1
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// quoted returns the end of the string at i, or -1.
func quoted(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i = escape(b, i+1); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// escape returns the position of the last byte of the escape whose letter is at i.
func escape(b []byte, i int) int {
	if i == len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i
	case 'u':
		for n := 1; n <= 4; n++ {
			if i+n >= len(b) || !isHex(b[i+n]) {
				return -1
			}
		}
		return i + 4
	}
	return -1
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func literal(b []byte, i int, word string) int {
	if !bytes.HasPrefix(b[i:], []byte(word)) {
		return -1
	}
	return i + len(word)
}

// number returns the end of the number at i, or -1.
func number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	if i > start+1 && b[start] == '0' {
		return -1
	}
	if i > 0 && i < len(b) && b[i] == '.' {
		i = digits(b, i+1)
	}
	if i > 0 && i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = digits(b, i)
	}
	return i
}

// digits returns the end of the digits at i, or -1 if there are none.
func digits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// unescaped returns a key without escapes.
func unescaped(key []byte) []byte {
	if bytes.IndexByte(key, '\\') < 0 {
		return key
	}
	return []byte(Text([]byte(`"` + string(key) + `"`)))
}

// Text returns the value of a JSON string, or "" for any other value.
func Text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
