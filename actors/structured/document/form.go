package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Form is a JSON Schema that documents are held to.
type Form struct {
	schema *jsonschema.Schema
	oneOf  string // what is wrong where none or several of oneOf fit
}

// MustForm reads a JSON Schema, which is right because tests read it. It opens no file that the schema refers to.
func MustForm(schema []byte, oneOf string) *Form {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("form", doc); err != nil {
		panic(err)
	}
	return &Form{c.MustCompile("form"), oneOf}
}

// Problems are what the form has against the value.
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

func (f *Form) collect(e *jsonschema.ValidationError, at Places, all *Problems) {
	path := strings.Join(e.InstanceLocation, ".")
	add := func(path, format string, args ...any) { *all = append(*all, at.Problem(path, format, args...)) }
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(Below(path, name), "there is no field %s here; there are %s", name, listed(f.fieldsAt(e.InstanceLocation)))
		}
	case *kind.Required:
		add(path, "%s is missing", listed(k.Missing))
	case *kind.OneOf:
		add(path, "%s", f.oneOf)
	case *kind.Pattern:
		add(path, "%q does not have the form %s", k.Got, k.Want)
	case *kind.Enum:
		names := make([]string, len(k.Want))
		for i, v := range k.Want {
			names[i] = fmt.Sprint(v)
		}
		add(path, "%v is none of %s", k.Got, listed(names))
	case *kind.Type:
		add(path, "it is a JSON %s, and must be %s", k.Got, strings.Join(k.Want, " or "))
	default:
		if len(e.Causes) == 0 {
			add(path, "%s", strings.ReplaceAll(e.ErrorKind.LocalizedString(printer), "'", ""))
		}
		for _, cause := range e.Causes {
			f.collect(cause, at, all)
		}
	}
}

// fieldsAt are the fields of the object at the path.
func (f *Form) fieldsAt(path []string) (names []string) {
	s := f.schema
	for _, name := range path {
		for s.Ref != nil {
			s = s.Ref
		}
		next := s.Properties[name]
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
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
