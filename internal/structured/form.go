package structured

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/internal/validate"
)

// shape is the form that an answer must have.
type shape struct {
	text   json.RawMessage // the schema; its properties are in the order of the type's fields
	schema *validate.Schema
	fields []string // names of the fields that are or contain strings
}

// maxDepth is a depth that the grammar of every server accepts.
const maxDepth = 5 // accepted by the grammar of every server

// formOf makes the shape of a type. It uses only what every server understands: objects, arrays, strings, numbers and
// booleans, all required and none null. It returns an error for a type that needs more.
func formOf(t reflect.Type) (*shape, error) {
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		return nil, fmt.Errorf("structured: %w", err)
	}
	if err := common(s, 1); err != nil {
		return nil, fmt.Errorf("structured: %v: %w", t, err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("structured: %v is not a struct", t)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("structured: %w", err)
	}
	f := &shape{text: text}
	for _, name := range s.PropertyOrder {
		if holdsText(s.Properties[name]) {
			f.fields = append(f.fields, name)
		}
	}
	f.schema, err = validate.Compile(text)
	return f, err
}

// holdsText reports whether a value is or contains a string.
func holdsText(s *jsonschema.Schema) bool {
	if s.Type == "array" {
		return holdsText(s.Items)
	}
	for _, p := range s.Properties {
		if holdsText(p) {
			return true
		}
	}
	return s.Type == "string"
}

// common rewrites a schema to what every server understands.
func common(s *jsonschema.Schema, depth int) error {
	for _, t := range s.Types { // a pointer or a slice, which may be null in Go
		if t != "null" {
			s.Type = t
		}
	}
	s.Types, s.Minimum, s.Maximum, s.Format = nil, nil, nil, ""
	switch {
	case depth > maxDepth:
		return fmt.Errorf("nested deeper than %d", maxDepth)
	case s.Type == "array":
		s.MinItems, s.MaxItems = nil, nil
		return common(s.Items, depth+1)
	case s.Type == "object":
		return commonObject(s, depth)
	case s.Type == "":
		return fmt.Errorf("a value of any type has no schema")
	}
	return nil
}

// commonObject makes all fields required, in order, as the strict modes of servers demand.
func commonObject(s *jsonschema.Schema, depth int) error {
	if len(s.Properties) == 0 {
		return fmt.Errorf("an object needs named fields")
	}
	s.Required = s.PropertyOrder
	for _, name := range s.PropertyOrder {
		if err := common(s.Properties[name], depth+1); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
