package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object with its members in file order.
type object []member

type member struct {
	key   string
	value any // object, []any, string, bool, nil; a number as the string it is written as
}

// get gives the last member of the name, which is the one that counts.
func (o object) get(key string) any {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

func (o object) text(key string) string {
	s, _ := o.get(key).(string)
	return s
}

func (o object) object(key string) object {
	sub, _ := o.get(key).(object)
	return sub
}

func (o object) objects(key string) []object {
	list, _ := o.get(key).([]any)
	var subs []object
	for _, v := range list {
		if sub, ok := v.(object); ok {
			subs = append(subs, sub)
		}
	}
	return subs
}

func (o object) keys() []string {
	var keys []string
	for _, m := range o {
		keys = append(keys, m.key)
	}
	return keys
}

func texts(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// parseJSON reads JSON as people write it: with comments, trailing or missing commas, unquoted keys and single
// quotes. Text that ends early or breaks gives what came before, and an error.
func parseJSON(text string) (object, error) {
	r := &jsonReader{s: text}
	o, _ := r.value(0).(object)
	if r.broken == "" && o == nil {
		r.broken = "no object"
	}
	if r.broken != "" {
		return o, fmt.Errorf("malformed JSON near byte %d: %s", r.at, r.broken)
	}
	return o, nil
}

type jsonReader struct {
	s      string
	i      int
	at     int // of the first fault
	broken string
}

func (r *jsonReader) fail(what string) {
	if r.broken == "" {
		r.broken, r.at = what, r.i
	}
	r.i = len(r.s)
}

// space skips white space, comments and commas.
func (r *jsonReader) space() {
	for r.i < len(r.s) {
		rest := r.s[r.i:]
		switch {
		case strings.IndexByte(" \t\r\n,", rest[0]) >= 0:
			r.i++
		case strings.HasPrefix(rest, "//"):
			r.skipPast("\n")
		case strings.HasPrefix(rest, "/*"):
			r.skipPast("*/")
		default:
			return
		}
	}
}

func (r *jsonReader) skipPast(end string) {
	if i := strings.Index(r.s[r.i:], end); i >= 0 {
		r.i += i + len(end)
		return
	}
	r.i = len(r.s)
}

func (r *jsonReader) value(level int) any {
	r.space()
	if level > depth {
		r.fail("nested too deeply")
	}
	if r.i >= len(r.s) {
		r.fail("it ends early")
		return nil
	}
	switch r.s[r.i] {
	case '{':
		r.i++
		return r.object(level)
	case '[':
		r.i++
		return r.array(level)
	case '"', '\'':
		return r.str()
	}
	return literal(r.word())
}

func literal(word string) any {
	switch word {
	case "true":
		return true
	case "false":
		return false
	case "null", "":
		return nil
	}
	return word
}

func (r *jsonReader) object(level int) any {
	o := object{}
	for {
		r.space()
		if r.i >= len(r.s) {
			r.fail("it ends early")
			return o
		}
		if r.s[r.i] == '}' {
			r.i++
			return o
		}
		key := r.key()
		r.space()
		if r.i >= len(r.s) || r.s[r.i] != ':' {
			r.fail("no colon after a key")
			return o
		}
		r.i++
		o = append(o, member{key, r.value(level + 1)})
	}
}

func (r *jsonReader) key() string {
	if c := r.s[r.i]; c == '"' || c == '\'' {
		return r.str()
	}
	return r.word()
}

func (r *jsonReader) array(level int) any {
	list := []any{}
	for {
		r.space()
		if r.i >= len(r.s) {
			r.fail("it ends early")
			return list
		}
		if r.s[r.i] == ']' {
			r.i++
			return list
		}
		list = append(list, r.value(level+1))
	}
}

// word reads up to the next mark. It always moves on.
func (r *jsonReader) word() string {
	start := r.i
	for r.i < len(r.s) && strings.IndexByte(" \t\r\n,:{}[]\"'", r.s[r.i]) < 0 {
		r.i++
	}
	if r.i == start {
		r.fail("a mark out of place")
	}
	return r.s[start:min(r.i, len(r.s))]
}

func (r *jsonReader) str() string {
	quote, start := r.s[r.i], r.i+1
	for r.i = start; r.i < len(r.s); r.i++ {
		switch r.s[r.i] {
		case '\\':
			r.i++
		case quote:
			raw := r.s[start:r.i]
			r.i++
			return unescape(raw)
		}
	}
	r.fail("a string without an end")
	return ""
}

func unescape(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(`"`+strings.ReplaceAll(raw, "\n", " ")+`"`), &s) != nil {
		return raw
	}
	return s
}
