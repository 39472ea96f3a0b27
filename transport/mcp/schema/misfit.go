package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

// misfit says what the validator has against the arguments: which one, what it is, and what it may be. The validator's
// own words name the places, then the keyword: "validating root: validating /properties/max: maximum: …".
func misfit(said string, schema *jsonschema.Schema, given map[string]any) string {
	name, last, held := "", "", schema
	value := any(given)
	for {
		place, rest, ok := strings.Cut(strings.TrimPrefix(said, "validating "), ": ")
		if !ok || !strings.HasPrefix(said, "validating ") {
			break
		}
		held, said, last = schemaAt(schema, place), rest, place
		if n, v := argumentAt(given, place); n != "" {
			name, value = n, v
		}
	}
	if keyword, _, ok := strings.Cut(said, ": "); ok && held != nil {
		said = demand(held, keyword, said)
	}
	if strings.HasSuffix(last, "/items") {
		said = "each item " + said
	}
	text, err := json.Marshal(value)
	if name == "" || err != nil {
		return said
	}
	return fmt.Sprintf("%s is %s: %s", name, caller.Clip(string(text)), said)
}

// schemaAt returns the schema at the place within the schema, or nil.
func schemaAt(schema *jsonschema.Schema, place string) *jsonschema.Schema {
	parts := strings.Split(strings.TrimPrefix(place, "/"), "/")
	for len(parts) > 0 && schema != nil {
		switch {
		case parts[0] == "root":
		case parts[0] == "items":
			schema = schema.Items
		case parts[0] == "properties" && len(parts) > 1:
			schema, parts = schema.Properties[unescaped(parts[1])], parts[1:]
		case parts[0] == "$defs" && len(parts) > 1:
			schema, parts = schema.Defs[unescaped(parts[1])], parts[1:]
		default:
			return nil
		}
		parts = parts[1:]
	}
	return schema
}

// argumentAt returns the argument that the place is of, or the member of one, with its name; "" where it is of none.
func argumentAt(given map[string]any, place string) (name string, value any) {
	path, inside := strings.CutPrefix(place, "/properties/")
	for inside {
		var part string
		part, path, _ = strings.Cut(path, "/")
		part = unescaped(part)
		value = given[part]
		if name = name + "." + part; value == nil {
			break
		}
		given, _ = value.(map[string]any)
		path, inside = strings.CutPrefix(path, "properties/")
	}
	return strings.TrimPrefix(name, "."), value
}

// unescaped is a part of a JSON pointer as it is named.
func unescaped(part string) string {
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}

// demand says what the keyword of the schema asks for, or else what was said.
func demand(s *jsonschema.Schema, keyword, said string) string {
	switch keyword {
	case "minimum":
		return bound("at least", s.Minimum, said)
	case "maximum":
		return bound("at most", s.Maximum, said)
	case "exclusiveMinimum":
		return bound("more than", s.ExclusiveMinimum, said)
	case "exclusiveMaximum":
		return bound("less than", s.ExclusiveMaximum, said)
	case "multipleOf":
		return bound("must be a multiple of", s.MultipleOf, said)
	case "minLength":
		return sized("at least", s.MinLength, "character", said)
	case "maxLength":
		return sized("at most", s.MaxLength, "character", said)
	case "minItems":
		return sized("at least", s.MinItems, "item", said)
	case "maxItems":
		return sized("at most", s.MaxItems, "item", said)
	case "uniqueItems":
		return "no two items may be the same"
	case "pattern":
		return "must match the pattern " + s.Pattern
	case "type":
		return "must be " + typesOf(s)
	case "enum":
		return "must be " + anyOf(s.Enum)
	case "const":
		if s.Const != nil {
			return "must be " + anyOf([]any{*s.Const})
		}
	case "required":
		return strings.TrimPrefix(said, "required: ")
	case "anyOf", "oneOf", "not":
		return "is none of what the tool's input schema has"
	}
	return said
}

func bound(words string, n *float64, said string) string {
	if n == nil {
		return said
	}
	return words + " " + strconv.FormatFloat(*n, 'f', -1, 64)
}

func sized(words string, n *int, what, said string) string {
	if n == nil {
		return said
	}
	if *n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%s %d %s", words, *n, what)
}

func typesOf(s *jsonschema.Schema) string {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	var named []string
	for _, t := range types {
		switch t {
		case "null":
		case "integer", "array", "object":
			t = "an " + t
		default:
			t = "a " + t
		}
		named = append(named, t)
	}
	return strings.Join(named, " or ")
}

func anyOf(values []any) string {
	var all []string
	for _, v := range values {
		text, _ := json.Marshal(v) // it came as JSON
		all = append(all, string(text))
	}
	return strings.Join(all, " or ")
}
