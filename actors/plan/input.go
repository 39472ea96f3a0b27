package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/expression"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// inputForm is the part of a JSON Schema about the members of an object.
type inputForm struct {
	Properties           map[string]property `json:"properties"`
	Required             []string            `json:"required"`
	AdditionalProperties any                 `json:"additionalProperties"`
}

type property struct {
	Type any `json:"type"`
}

// inputForm returns the form of the plan's parameters.
func (p *Plan) inputForm() inputForm {
	f := inputForm{Properties: map[string]property{}, AdditionalProperties: false}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		f.Properties[name] = property{fmt.Sprint(types[p.Params[name].Type])}
		if p.Params[name].Default == nil {
			f.Required = append(f.Required, name)
		}
	}
	return f
}

// types are the types of parameters in expressions. They print as JSON Schema names them.
var types = map[ParamType]expression.Type{"": expression.Text, String: expression.Text, Number: expression.Number,
	Integer: expression.Integer, Boolean: expression.Boolean, List: expression.List, Object: expression.Members}

// input checks a step's input against the form: its names, and the types that are known.
func (s *scope) input(i int, form inputForm, of string) {
	fields := s.steps[i].input.Members
	for _, name := range form.Required {
		if _, given := fields[name]; !given {
			s.wrong(s.of(i, "input"), "%s needs the input %s", of, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		path := s.of(i, "input."+name)
		property, known := form.Properties[name]
		if !known {
			if form.AdditionalProperties == false {
				s.wrong(path, "%s has no input %s%s", of, name, words.Meant(name, slices.Sorted(maps.Keys(form.Properties))))
			}
			continue
		}
		if have := fields[name]; !fits(have, property.Type) {
			s.wrong(path, "%s is of type %s, and %s needs %v", name, have, of, property.Type)
		}
	}
}

// fits reports whether a value of the type may be one of the types that a schema allows.
func fits(have string, want any) bool {
	one := func(t any) bool { return have == "" || t == have || t == "number" && have == "integer" }
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, one)
	}
	return want == nil || one(want)
}

// check returns what is wrong with a value of the parameter, or nil.
func (p Param) check(v any) error {
	if !fits(expression.TypeOf(v), fmt.Sprint(types[p.Type])) {
		return fmt.Errorf("must be of type %s", cmp.Or(p.Type, String))
	}
	return nil
}

// Values returns the parameters, with defaults for those that are not given. Its error lists all faults.
func (p *Plan) Values(given map[string]any) (map[string]any, error) {
	all, wrong := make(map[string]any, len(p.Params)), []string(nil)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := p.Params[name]; !known {
			wrong = append(wrong, fmt.Sprintf("the plan has no parameter %s%s", name, words.Meant(name, slices.Sorted(maps.Keys(p.Params)))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		param := p.Params[name]
		v, ok := given[name]
		if !ok {
			v = param.Default
		}
		if v == nil {
			wrong = append(wrong, fmt.Sprintf("the parameter %s is missing", name))
			continue
		}
		if err := param.check(v); err != nil {
			wrong = append(wrong, fmt.Sprintf("the parameter %s %v", name, err))
		}
		all[name] = v
	}
	if wrong != nil {
		return nil, messages.InvalidInput("%s", strings.Join(wrong, "\n"))
	}
	return all, nil
}
