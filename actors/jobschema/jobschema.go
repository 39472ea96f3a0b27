package jobschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
)

// Input returns the schema of a T as the input from programs. It is built at the first call of the result. It is nil
// for a type that accepts anything.
func Input[T any]() messages.JSONSchema { return buildOnce(reflect.TypeFor[T](), input) }

// ForModels returns the schema of Input without the members that models must not fill.
func ForModels[T any]() messages.JSONSchema { return buildOnce(reflect.TypeFor[T](), models) }

// Result returns the schema of a T as a result. Results may have further members, and nested objects are not
// described, because models read lists of tools and need few words.
func Result[T any]() messages.JSONSchema { return buildOnce(reflect.TypeFor[T](), result) }

// Read decodes the input of a job. No input is the zero T. Errors: invalid_input for a member that T does not have, a
// value that does not fit, and more than one value.
func Read[T any](input json.RawMessage) (in T, err error) {
	err = read(input, &in)
	return in, err
}

// read decodes the input into what a pointer points to.
func read(input json.RawMessage, into any) error {
	if len(bytes.TrimSpace(input)) == 0 {
		return nil
	}
	read := strict
	if short := jsonwalk.Short(input); len(short) < len(input) && strict(short, reflect.New(reflect.TypeOf(into).Elem()).Interface()) == nil {
		read = json.Unmarshal // its members are known
	}
	err := read(input, into)
	if err == nil {
		return nil
	}
	if messages.CodeOf(err) != "" { // the type itself says what is wrong
		return err
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if name := written(reflect.TypeOf(into).Elem(), wrong.Field); name != "" {
			return messages.InvalidInput("the input's field %q cannot be a JSON %s", name, wrong.Value)
		}
		return messages.InvalidInput("the input cannot be a JSON %s", wrong.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return messages.InvalidInput("the input has no field %s", field)
	}
	return messages.InvalidInput("the input cannot be read: %v", err)
}

// strict decodes one value whose members T has all.
func strict(input []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = messages.InvalidInput("the input is more than one JSON value")
		}
	}
	return err
}

// written returns the path of a member as callers write it. In a path of encoding/json, embedded structs have names too.
func written(t reflect.Type, path string) string {
	var names []string
	for name := range strings.SplitSeq(path, ".") {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, t.Kind()) {
			t = t.Elem()
		}
		embedded := false
		if t.Kind() == reflect.Struct {
			for field := range t.Fields() {
				tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if cmp.Or(tag, field.Name) == name {
					t, embedded = field.Type, field.Anonymous && tag == ""
					break
				}
			}
		}
		if !embedded {
			names = append(names, name)
		}
	}
	return strings.Join(names, ".")
}

// TakesObject reports whether T accepts a JSON object, or anything.
func TakesObject[T any]() bool {
	s := schemaOf(reflect.TypeFor[T](), input)
	return s.Type == "object" || s.Type == ""
}

// purpose says what a schema is for.
type purpose uint8

const (
	input purpose = iota
	models
	result
)

// buildOnce returns a function that builds the schema once.
func buildOnce(t reflect.Type, of purpose) messages.JSONSchema {
	return sync.OnceValue(func() json.RawMessage {
		text, _ := json.Marshal(schemaOf(t, of)) // it is made of plain values
		if string(text) == "true" {
			return nil
		}
		return text
	})
}

// schemaOf returns the schema of a type. A type without one, such as a type that contains itself, accepts anything.
// It panics for a faulty tag.
func schemaOf(t reflect.Type, of purpose) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[json.Number]():     {Type: "number"},
	}})
	if err != nil {
		return &jsonschema.Schema{}
	}
	if err := refine(s, t, of); err != nil {
		panic(fmt.Sprintf("form: %v: %v", t, err))
	}
	return s
}

// refine applies the tags of a type to its schema. Nothing may be null: a missing member is left out.
func refine(s *jsonschema.Schema, t reflect.Type, of purpose) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, one := range s.Types {
		if one != "null" {
			s.Type = one
		}
	}
	s.Types = nil
	switch {
	case s.Items != nil:
		return refine(s.Items, t.Elem(), of)
	case t.Kind() == reflect.Map && s.AdditionalProperties != nil:
		return refine(s.AdditionalProperties, t.Elem(), of)
	case t.Kind() != reflect.Struct || s.Properties == nil:
		return nil
	}
	if of == result {
		s.AdditionalProperties = nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		member := s.Properties[name]
		if member == nil {
			continue
		}
		tag := field.Tag.Get("form")
		if of != input && slices.Contains(strings.Split(tag, ","), "programs") {
			delete(s.Properties, name)
			continue
		}
		if err := refine(member, field.Type, of); err != nil {
			return err
		}
		if of == result { // objects in a result are not described
			inner := cmp.Or(member.Items, member)
			inner.Properties, inner.Required = nil, nil
		}
		if err := describe(member, tag, of); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// describe applies a member's tag.
func describe(s *jsonschema.Schema, tag string, of purpose) error {
	for mark := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(mark, "=")
		var err error
		switch name {
		case "", "programs":
		case "brief":
			if of == models {
				s.Description = value
			}
		case "value":
			if of == input {
				s.Title = value
			}
		case "enum":
			schema := cmp.Or(s.Items, s)
			for one := range strings.SplitSeq(value, "|") {
				schema.Enum = append(schema.Enum, one)
			}
		case "default":
			if of == models { // few words: the first value of an enum is the default
				break
			}
			s.Default, err = json.Marshal(value)
			if s.Type != "string" {
				s.Default = json.RawMessage(value)
			}
		case "minimum":
			s.Minimum, err = number(value)
		case "exclusiveMinimum":
			s.ExclusiveMinimum, err = number(value)
		case "maximum":
			s.Maximum, err = number(value)
		case "minLength":
			s.MinLength, err = count(value)
		case "maxLength":
			s.MaxLength, err = count(value)
		case "maxItems":
			s.MaxItems, err = count(value)
		default:
			err = fmt.Errorf("the tag has no %q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func number(text string) (*float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	return &n, err
}

func count(text string) (*int, error) {
	n, err := strconv.Atoi(text)
	return &n, err
}
