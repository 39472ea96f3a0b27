package validate

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
)

// Fit returns the value in the form that the schema asks for, or an invalid_input error that says what does not fit.
// It accepts what clients send: null for a member left out, 5.0 for an integer, a list or an object as JSON in a
// string, and a number for a choice among strings.
func (s *Schema) Fit(raw json.RawMessage) (json.RawMessage, error) {
	if short := jsonwalk.Short(raw); len(short) < len(raw) && !s.exact {
		if _, changed, err := s.fit(short); err == nil && !changed {
			return raw, nil
		}
	}
	value, changed, err := s.fit(raw)
	if err != nil || !changed {
		return raw, err
	}
	return json.Marshal(value)
}

// fit returns the value in the form that the schema asks for, and reports whether that differs from the text.
func (s *Schema) fit(raw json.RawMessage) (value any, changed bool, err error) {
	if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw)); err != nil {
		return nil, false, messages.InvalidInput("the arguments are not JSON: %v", err)
	}
	value, changed = read(s.compiled, value)
	if wrong := s.problems(s.validate(s.compiled, value)); wrong != nil {
		return nil, false, messages.InvalidInput("wrong arguments: %s", strings.Join(texts(wrong), "; "))
	}
	return value, changed, nil
}

// read converts the value to what the schema asks for, and reports whether that changed it.
func read(s *jsonschema.Schema, value any) (any, bool) {
	s = target(s)
	changed := false
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			p := s.Properties[name]
			if p == nil {
				continue
			}
			if member == nil && !nullable(target(p)) {
				delete(v, name)
				changed = true
				continue
			}
			m, other := read(p, member)
			v[name], changed = m, changed || other
		}
	case []any:
		for i := range v {
			if s.Items2020 != nil {
				m, other := read(s.Items2020, v[i])
				v[i], changed = m, changed || other
			}
		}
	case json.Number:
		return readNumber(s, v)
	case string:
		return readText(s, v)
	}
	return value, changed
}

// readNumber converts a number to a choice among strings or to an integer, if the schema asks for one.
func readNumber(s *jsonschema.Schema, n json.Number) (any, bool) {
	types := typesOf(s)
	switch {
	case slices.Equal(types, []string{"string"}) && s.Enum != nil && slices.Contains(s.Enum.Values, any(n.String())):
		return n.String(), true
	case slices.Contains(types, "integer") && bytes.ContainsAny([]byte(n), ".eE") && len(n) < 32:
		if exact, ok := new(big.Rat).SetString(n.String()); ok && exact.IsInt() && exact.Num().BitLen() <= 64 {
			return json.Number(exact.Num().String()), true
		}
	}
	return n, false
}

// readText decodes a text that holds an object or a list, if the schema asks for one.
func readText(s *jsonschema.Schema, text string) (any, bool) {
	types := typesOf(s)
	if len(types) == 0 || slices.Contains(types, "string") {
		return text, false
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return text, false
	}
	_, object := value.(map[string]any)
	_, list := value.([]any)
	if object && slices.Contains(types, "object") || list && slices.Contains(types, "array") {
		value, _ = read(s, value)
		return value, true
	}
	return text, false
}

// target follows the schema's references.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 { // references may form a circle
		if s.Ref == nil {
			break
		}
		s = s.Ref
	}
	return s
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Types == nil {
		return nil
	}
	return s.Types.ToStrings()
}

// nullable reports whether the schema accepts null.
func nullable(s *jsonschema.Schema) bool {
	switch types := typesOf(s); {
	case len(types) > 0:
		return slices.Contains(types, "null")
	case s.Enum != nil:
		return slices.Contains(s.Enum.Values, nil)
	}
	return true
}
