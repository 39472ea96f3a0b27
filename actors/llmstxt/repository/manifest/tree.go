package manifest

import (
	"fmt"
	"strings"
)

// object is a JSON object, a mapping of YAML or TOML, an XML element, or a section of lines. Its members keep the
// order of the file. A member that is missing or of another type counts as empty.
type object []member

type member struct {
	key   string
	value any // object, []any, string, bool, nil; a number as the string it is written as
}

// at returns all values at a place, which is a path of keys separated by slashes. It searches lists on the way.
func (o object) at(place string) []any {
	key, below, more := strings.Cut(place, "/")
	var found []any
	for _, m := range o {
		if !sameKey(m.key, key) {
			continue
		}
		if !more {
			found = append(found, m.value)
			continue
		}
		for _, sub := range items[object](m.value) {
			found = append(found, sub.at(below)...)
		}
	}
	return found
}

var keyMarks = strings.NewReplacer("-", "", "_", "", " ", "")

// sameKey compares keys without regard to case, hyphens, underscores and spaces.
func sameKey(a, b string) bool {
	return a == b || a != "" && b != "" && (a[0]^b[0])&^0x20 == 0 &&
		strings.EqualFold(keyMarks.Replace(a), keyMarks.Replace(b))
}

// text returns the first text at the place.
func (o object) text(place string) string {
	for _, value := range o.at(place) {
		if sub, ok := value.(object); ok {
			value = sub.text("")
		}
		if s := strings.Join(items[string](value), " or "); s != "" {
			return s
		}
	}
	return ""
}

// objects returns the mappings at the place.
func (o object) objects(place string) []object {
	var all []object
	for _, value := range o.at(place) {
		all = append(all, items[object](value)...)
	}
	return all
}

func (o object) keys() []string {
	var keys []string
	for _, m := range o {
		keys = append(keys, m.key)
	}
	return keys
}

// items returns the value, or the elements of a list, that have the type.
func items[T any](value any) []T {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var all []T
	for _, v := range list {
		if item, ok := v.(T); ok {
			all = append(all, item)
		}
	}
	return all
}

// checkNesting returns an error for text that is nested so deeply that a recursive parser would exhaust its stack.
func checkNesting(text string) error {
	level, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{', '(':
			level++
			most = max(most, level)
		case ']', '}', ')':
			level--
		}
	}
	if most > 4*depth {
		return fmt.Errorf("brackets are nested %d deep", most)
	}
	return nil
}
