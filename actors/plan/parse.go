package plan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is the JSON Schema of a plan's form.
//
//go:embed schema.json
var Schema []byte

var schema = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		panic(err) // the tests read it
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // which loads nothing
	if err := c.AddResource("plan", doc); err != nil {
		panic(err)
	}
	return c.MustCompile("plan")
})

// Parse reads a plan from YAML or JSON. Its error is [Problems]: all that is wrong with the form. [Plan.Check] says what
// else is wrong.
func Parse(text []byte) (*Plan, error) {
	if len(text) > mostBytes {
		return nil, Problems{{Problem: fmt.Sprintf("a plan has at most %d bytes", mostBytes)}}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, Problems{syntax(err)}
	}
	if len(doc.Content) == 0 {
		return nil, Problems{{Line: 1, Column: 1, Problem: "the plan is empty; give it steps"}}
	}
	r := reader{at: places{}}
	value := r.value(doc.Content[0], "", 0)
	if r.problems == nil {
		r.problems = formProblems(value, r.at)
	}
	if err := r.problems.err(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, Problems{{Problem: err.Error()}}
	}
	p := &Plan{}
	type form Plan // without UnmarshalJSON
	if err := json.Unmarshal(data, (*form)(p)); err != nil {
		return nil, Problems{{Problem: err.Error()}}
	}
	p.text = r.at
	return p, nil
}

// UnmarshalJSON reads a plan, or its text as [Parse] does.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	read, err := Parse(data)
	if err != nil {
		return err
	}
	*p = *read
	return nil
}

// syntax is an error of the YAML library, such as "yaml: line 3: found a tab".
func syntax(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(text, "line "); found {
		if number, what, found := strings.Cut(rest, ": "); found {
			if strings.Contains(what, "cannot start any token") {
				what += "; indent with spaces, and not with tabs"
			}
			if line, err := strconv.Atoi(number); err == nil {
				return Problem{Line: line, Column: 1, Problem: what}
			}
		}
	}
	return Problem{Line: 1, Column: 1, Problem: text}
}

// formProblems are what the schema has against the value.
func formProblems(value any, at places) (all Problems) {
	data, err := json.Marshal(value)
	if err != nil {
		return Problems{{Problem: "the plan is not JSON: " + err.Error()}}
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = schema().Validate(plain)
	}
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		collect(e, at, &all)
	} else if err != nil {
		all = Problems{{Problem: err.Error()}}
	}
	return all
}

var printer = message.NewPrinter(language.English)

func listed(names []string) string { return strings.Join(names, ", ") }

func collect(e *jsonschema.ValidationError, at places, all *Problems) {
	path := strings.Join(e.InstanceLocation, ".")
	add := func(path, format string, args ...any) { *all = append(*all, at.problem(path, format, args...)) }
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(below(path, name), "there is no field %s here; there are %s", name, listed(fieldsAt(e.InstanceLocation)))
		}
	case *kind.Required:
		add(path, "%s is missing", listed(k.Missing))
	case *kind.OneOf:
		add(path, "a step does exactly one of job, plan, read, write and ask")
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
			collect(cause, at, all)
		}
	}
}

// fieldsAt are the fields of the object at the path.
func fieldsAt(path []string) (names []string) {
	s := schema()
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
