package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/seed889630bf/lastword/messages/fit"
	"github.com/seed889630bf/lastword/messages/words"
)

// Form is a JSON Schema for documents.
type Form struct {
	schema *jsonschema.Schema
	oneOf  string // message if none or several of a oneOf fit
}

// MustForm is [NewForm] for a schema that is part of the program. It panics if the schema is faulty.
func MustForm(text []byte, oneOf string) *Form {
	f, err := NewForm(text, oneOf)
	if err != nil {
		panic(err)
	}
	return f
}

// NewForm compiles a JSON Schema. It opens no file that the schema refers to.
func NewForm(text []byte, oneOf string) (*Form, error) {
	compiled, err := fit.Read(text)
	return &Form{compiled, oneOf}, err
}

// Problems lists what does not fit the form.
func (f *Form) Problems(value any, at Places) (all Problems) {
	data, err := json.Marshal(value)
	if err != nil {
		return Problems{{Problem: "it is not JSON: " + err.Error()}}
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = f.schema.Validate(plain)
	}
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		f.collect(e, at, &all)
	} else if err != nil {
		all = Problems{{Problem: err.Error()}}
	}
	return all
}

var printer = message.NewPrinter(language.English)

func listed(names []string) string { return strings.Join(names, ", ") }

// collect adds the problems that an error of the validator consists of.
func (f *Form) collect(e *jsonschema.ValidationError, at Places, all *Problems) {
	path := strings.Join(e.InstanceLocation, ".")
	add := func(path, format string, args ...any) { *all = append(*all, at.Problem(path, format, args...)) }
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(Below(path, name), "there is no field %s here%s", name, words.Meant(name, f.fieldsAt(e.InstanceLocation)))
		}
	case *kind.Required:
		add(path, "%s is missing", listed(k.Missing))
	case *kind.OneOf:
		add(path, "%s", f.oneOf)
	case *kind.Pattern:
		add(path, "%q is no %s", k.Got, cmp.Or(f.comment(e.InstanceLocation), "match of "+k.Want))
	case *kind.PropertyNames:
		add(Below(path, k.Property), "%q is no %s", k.Property, f.comment(append(e.InstanceLocation, propertyName)))
	case *kind.Enum:
		names := make([]string, len(k.Want))
		for i, v := range k.Want {
			names[i] = fmt.Sprint(v)
		}
		add(path, "there is no %v%s", k.Got, words.Meant(fmt.Sprint(k.Got), names))
	case *kind.Type:
		add(path, "this is %s; write %s", types[k.Got], typed(k.Want))
	case *kind.Minimum:
		add(path, "%s is too little; write %s or more", k.Got.RatString(), k.Want.RatString())
	case *kind.Maximum:
		add(path, "%s is too much; write %s or less", k.Got.RatString(), k.Want.RatString())
	case *kind.MinLength, *kind.MinItems, *kind.MinProperties:
		add(path, "this must not be empty")
	case *kind.MaxLength, *kind.MaxItems:
		add(path, "this is too long")
	default:
		if len(e.Causes) == 0 {
			add(path, "%s", strings.ReplaceAll(e.ErrorKind.LocalizedString(printer), "'", ""))
		}
		for _, cause := range e.Causes {
			f.collect(cause, at, all)
		}
	}
}

// types describes the types of JSON Schema for people.
var types = map[string]string{"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
	"array": "a list", "object": "an object, with a field on each line", "null": "nothing"}

func typed(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = types[name]
	}
	return strings.Join(all, " or ")
}

// propertyName is the last part of a path that means the names of an object's members.
const propertyName = "\x00"

// comment returns the schema's comment about its pattern at the path.
func (f *Form) comment(path []string) string {
	if s := f.at(path); s != nil {
		return s.Comment
	}
	return "value that fits"
}

// at returns the schema at the path, or nil.
func (f *Form) at(path []string) *jsonschema.Schema {
	s := f.schema
	for _, name := range path {
		for s.Ref != nil {
			s = s.Ref
		}
		next := s.Properties[name]
		if name == propertyName {
			next = s.PropertyNames
		}
		if next == nil {
			next, _ = s.AdditionalProperties.(*jsonschema.Schema)
		}
		if next == nil {
			next = s.Items2020
		}
		if next == nil {
			return nil
		}
		s = next
	}
	for s.Ref != nil {
		s = s.Ref
	}
	return s
}

// fieldsAt returns the fields of the object at the path.
func (f *Form) fieldsAt(path []string) (names []string) {
	s := f.at(path)
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}
