package validate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// location is the URL of a schema without an id.
const location = "schema:"

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	mu       sync.Mutex // held by a validation
	left     int        // schemas that the validation may still apply to values
	exact    bool       // it may judge a string by more than its first 64 KiB
}

// isExact reports whether a keyword of the schema judges a long string by more than its beginning.
func isExact(schema map[string]any) bool {
	for keyword, value := range schema {
		switch keyword {
		case "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema":
			return true
		case "minLength", "maxLength":
			if n, err := strconv.ParseFloat(fmt.Sprint(value), 64); err != nil || n > jsonwalk.FewestLong {
				return true
			}
		}
	}
	return false
}

// most is how many schemas a validation applies to values: a small schema whose parts refer to each other can make more
// of them than any machine can.
const most = 1 << 18

// errTooDear is what ends a validation.
var errTooDear = errors.New("it takes too long to check: make the schema or the value smaller")

// Validate counts the schemas that are applied. The library calls it after each.
func (s *Schema) Validate(*jsonschema.ValidatorContext, any) {
	if s.left--; s.left < 0 {
		panic(errTooDear)
	}
}

// validate applies the schema, or a part of it, to a value.
func (s *Schema) validate(by *jsonschema.Schema, value any) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if fault := recover(); fault == errTooDear {
			err = errTooDear
		} else if fault != nil {
			panic(fault)
		}
	}()
	s.left = most
	return by.Validate(value)
}

// Compile compiles a JSON Schema. References may only point into the schema itself. An empty schema accepts anything.
// A string must also have the format that the schema names, such as date-time.
func Compile(text []byte) (*Schema, error) { return compile(text, true) }

// CompileForeign is Compile for a tool, whose server judges formats: some servers read more than the standard.
func CompileForeign(text []byte) (*Schema, error) { return compile(text, false) }

func compile(text []byte, formats bool) (*Schema, error) {
	if len(text) == 0 {
		text = []byte(`{}`)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it loads nothing
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	s := &Schema{left: most}
	if formats {
		c.AssertFormat()
	}
	c.AssertVocabs()
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: location + "counted",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			s.exact = s.exact || isExact(schema)
			return s, nil
		}})
	s.compiled, err = c.Compile(location)
	return s, err
}

// CheckDefaults returns an error if a default does not fit its own schema.
func (s *Schema) CheckDefaults() error { return s.defaultsFit(s.compiled) }

func (s *Schema) defaultsFit(of *jsonschema.Schema) error {
	for name, p := range of.Properties {
		if p.Default != nil && s.validate(p, *p.Default) != nil {
			return fmt.Errorf("the default of %s does not fit its schema", name)
		}
		if err := s.defaultsFit(p); err != nil {
			return err
		}
	}
	return nil
}

// MustCompile is [Compile] for a schema that is part of the program. It panics if the schema is faulty.
func MustCompile(text []byte) *Schema {
	s, err := Compile(text)
	if err != nil {
		panic(err)
	}
	return s
}

// problem is one part of a value that does not fit, and the reason. Path names the part, such as steps.2.if; "" is the
// whole value.
type problem struct{ Path, Says string }

func (p problem) String() string {
	if p.Path == "" {
		return p.Says
	}
	return p.Path + ": " + p.Says
}

// All lists everything that does not fit in a value that can be written as JSON.
func (s *Schema) All(value any) (all []problem) {
	data, err := json.Marshal(value)
	var plain any
	if err == nil {
		plain, err = jsonschema.UnmarshalJSON(bytes.NewReader(data))
	}
	if err == nil {
		err = s.validate(s.compiled, plain)
	}
	return s.problems(err)
}

const (
	mostProblems = 20
	longest      = 300 // bytes of a problem, which may quote the value
)

// Problems lists what is wrong with a JSON document, as far as a reader needs to know; nil if it fits.
func (s *Schema) Problems(doc []byte) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return []string{words.Clip("it is not JSON: "+err.Error(), longest)}
	}
	var all []problem
	for path := range jsonwalk.Repeated(doc) {
		if all = append(all, problem{strings.ReplaceAll(path[1:], "/", "."), "the key is there twice"}); len(all) == mostProblems {
			break
		}
	}
	return texts(append(all, s.problems(s.validate(s.compiled, value))...))
}

// texts returns the first problems as texts.
func texts(all []problem) (list []string) {
	for _, p := range all[:min(len(all), mostProblems)] {
		list = append(list, words.Clip(strings.ToValidUTF8(p.String(), ""), longest))
	}
	return list
}

// Answer returns an invalid_input error if people's answer does not fit the schema of a question. Null always fits, and
// declines. A schema that cannot be read accepts any answer.
func Answer(asked, answer json.RawMessage) error {
	s, err := Compile(asked)
	if err != nil || string(bytes.TrimSpace(answer)) == "null" {
		return nil
	}
	if wrong := s.Problems(answer); wrong != nil {
		return messages.InvalidInput("the answer does not fit: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// problems lists what a validation has found, in an order that does not change.
func (s *Schema) problems(err error) (all []problem) {
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		s.collect(e, &all)
	} else if err != nil {
		all = []problem{{Says: err.Error()}}
	}
	stable.Sort(all, func(a, b problem) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Says, b.Says)) })
	return slices.Compact(all)
}

var english = message.NewPrinter(language.English)

// collect adds the problems of an error and of its causes, which are a tree. What each alternative of a choice rejects
// is too much to read.
func (s *Schema) collect(e *jsonschema.ValidationError, all *[]problem) {
	at := e.InstanceLocation
	add := func(path []string, format string, args ...any) {
		*all = append(*all, problem{strings.Join(path, "."), fmt.Sprintf(format, args...)})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(append(slices.Clip(at), name), "there is no field %s here%s", name, words.Meant(name, s.fieldsAt(at)))
		}
	case *kind.Required:
		add(at, "%s is missing", strings.Join(k.Missing, ", "))
	case *kind.OneOf, *kind.AnyOf:
		add(at, "%s", s.comment(at, "this fits none of the forms that it may have, or several"))
	case *kind.Pattern:
		add(at, "%q is no %s", k.Got, s.comment(at, "match of "+k.Want))
	case *kind.Format:
		such := ""
		if example := words.Examples[k.Want]; example != "" {
			such = "; write one such as " + example
		}
		add(at, "%q is no %s%s", k.Got, k.Want, such)
	case *kind.PropertyNames:
		add(append(slices.Clip(at), k.Property), "%q is no %s", k.Property, s.comment(append(slices.Clip(at), propertyName), "name that fits"))
	case *kind.Enum:
		names := make([]string, len(k.Want))
		for i, v := range k.Want {
			names[i] = fmt.Sprint(v)
		}
		add(at, "there is no %v%s", k.Got, words.Meant(fmt.Sprint(k.Got), names))
	case *kind.Type:
		wanted := make([]string, len(k.Want))
		for i, name := range k.Want {
			wanted[i] = types[name]
		}
		add(at, "this is %s; write %s", types[k.Got], strings.Join(wanted, " or "))
	case *kind.Minimum:
		add(at, "%s is too little; write %s or more", k.Got.RatString(), k.Want.RatString())
	case *kind.Maximum:
		add(at, "%s is too much; write %s or less", k.Got.RatString(), k.Want.RatString())
	case *kind.MinLength, *kind.MinItems, *kind.MinProperties:
		add(at, "this is too short: %s", e.ErrorKind.LocalizedString(english))
	case *kind.MaxLength, *kind.MaxItems:
		add(at, "this is too long: %s", e.ErrorKind.LocalizedString(english))
	default:
		if len(e.Causes) == 0 {
			add(at, "%s", strings.ReplaceAll(e.ErrorKind.LocalizedString(english), "'", ""))
		}
		for _, cause := range e.Causes {
			s.collect(cause, all)
		}
	}
}

// types describes the types of JSON Schema for people.
var types = map[string]string{"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
	"array": "a list", "object": "an object, with a field on each line", "null": "nothing"}

// propertyName is the last part of a path that means the names of an object's members.
const propertyName = "\x00"

// comment returns the schema's comment about its part at the path or, without one, the other words.
func (s *Schema) comment(path []string, otherwise string) string {
	if schema := s.at(path); schema != nil && schema.Comment != "" {
		return schema.Comment
	}
	return otherwise
}

// at returns the schema of the part at the path, or nil.
func (s *Schema) at(path []string) *jsonschema.Schema {
	schema := target(s.compiled)
	for _, name := range path {
		next := schema.Properties[name]
		if name == propertyName {
			next = schema.PropertyNames
		}
		if next == nil {
			next, _ = schema.AdditionalProperties.(*jsonschema.Schema)
		}
		if next == nil {
			next = schema.Items2020
		}
		if next == nil {
			return nil
		}
		schema = target(next)
	}
	return schema
}

// fieldsAt returns the fields of the object at the path.
func (s *Schema) fieldsAt(path []string) []string {
	if schema := s.at(path); schema != nil {
		return words.Keys(maps.Keys(schema.Properties))
	}
	return nil
}
