package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/seed889630bf/lastword/messages/words"
)

// mostProblems is how many problems one error names.
const mostProblems = 4

// problems says what is wrong with the value: which part of it, what that is, and what it may be.
func (s *Schema) problems(e *jsonschema.ValidationError, value any) string {
	var all []string
	s.collect(e, value, &all)
	slices.Sort(all)
	all = slices.Compact(all)
	return strings.Join(all[:min(len(all), mostProblems)], "; ")
}

func (s *Schema) collect(e *jsonschema.ValidationError, value any, all *[]string) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf: // what each of them has against it is too much to read
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				s.collect(cause, value, all)
			}
			return
		}
	}
	name, part, held := s.at(e.InstanceLocation, value)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, missing := range k.Missing {
			*all = append(*all, joined(name, missing)+" is missing")
		}
	case *kind.AdditionalProperties:
		known := "none is known"
		if held != nil && len(held.Properties) > 0 {
			known = "known are " + strings.Join(slices.Sorted(maps.Keys(held.Properties)), ", ")
		}
		for _, unknown := range k.Properties {
			*all = append(*all, fmt.Sprintf("there is no argument %s; %s", joined(name, unknown), known))
		}
	default:
		text, _ := json.Marshal(part) // it came as JSON
		if name == "" {
			name = "the value"
		}
		*all = append(*all, fmt.Sprintf("%s is %s and must %s", name, words.Clip(string(text), 120), demand(held, k)))
	}
}

// at returns the part of the value that is there, with its name and its schema; that is nil where it is not found.
func (s *Schema) at(path []string, value any) (name string, part any, held *jsonschema.Schema) {
	held = target(s.compiled)
	for _, step := range path {
		var next *jsonschema.Schema
		switch v := value.(type) {
		case map[string]any:
			name, value = joined(name, step), v[step]
			if held != nil {
				next = held.Properties[step]
			}
		case []any:
			i, _ := strconv.Atoi(step)
			name, value = name+"["+step+"]", v[i]
			if held != nil {
				next = held.Items2020
			}
		}
		if held = next; held != nil {
			held = target(held)
		}
	}
	return name, value, held
}

func joined(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

// demand says what a value must do that the kind of error has something against.
func demand(held *jsonschema.Schema, k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "be at least " + number(k.Want)
	case *kind.Maximum:
		return "be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "be a multiple of " + number(k.Want)
	case *kind.MinLength:
		return counted("at least", k.Want, "character")
	case *kind.MaxLength:
		return counted("at most", k.Want, "character")
	case *kind.MinItems:
		return counted("at least", k.Want, "item")
	case *kind.MaxItems:
		return counted("at most", k.Want, "item")
	case *kind.UniqueItems:
		return "not have the same item twice"
	case *kind.Pattern:
		return "match the pattern " + k.Want
	case *kind.Format:
		return "be a " + k.Want
	case *kind.Type:
		return "be " + typeNames(k.Want)
	case *kind.Enum:
		return "be " + anyOf(k.Want)
	case *kind.Const:
		return "be " + anyOf([]any{k.Want})
	case *kind.AnyOf, *kind.OneOf:
		if held != nil && len(typesIn(held)) > 0 {
			return "be " + typeNames(typesIn(held)) + " that fits the schema"
		}
	}
	return "be what the schema allows"
}

func number(n *big.Rat) string {
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func counted(words string, n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("have %s %d %s", words, n, what)
}

// typesIn are the types of the schema's alternatives.
func typesIn(s *jsonschema.Schema) (types []string) {
	for _, alternative := range slices.Concat(s.AnyOf, s.OneOf) {
		types = append(types, typesOf(target(alternative))...)
	}
	return types
}

func typeNames(types []string) string {
	var named []string
	for _, t := range types {
		switch t {
		case "null":
			continue
		case "integer", "array", "object":
			t = "an " + t
		default:
			t = "a " + t
		}
		named = append(named, t)
	}
	if slices.Contains(types, "null") {
		named = append(named, "null")
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
