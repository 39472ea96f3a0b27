package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is a value of texts, numbers, lists and objects with expressions in it. In a text, an expression is
// written "${...}". If it is the whole text, it yields its value unchanged. "$${" yields "${".
type Template struct {
	// Eval returns the value in the environment.
	Eval func(Environment) (any, error)
	// Type is the JSON Schema type of the value, or "" if it is known only during evaluation.
	Type string
	// Members holds the types of an object's members.
	Members map[string]string
}

// longestText bounds the text that a template yields.
const longestText = 4 << 20

// NewTemplate compiles a JSON value. It calls wrong for each fault, with the path of the text, such as input.list.0.
func NewTemplate(value any, names Names, path string, wrong func(path string, err error)) *Template {
	t := &Template{Type: TypeOf(value), Members: map[string]string{}}
	t.Eval = func(Environment) (any, error) { return value, nil }
	switch v := value.(type) {
	case string:
		t.read(v, names, func(err error) { wrong(path, err) })
	case []any:
		list := make([]*Template, len(v))
		for i, element := range v {
			list[i] = NewTemplate(element, names, fmt.Sprintf("%s.%d", path, i), wrong)
		}
		t.Eval = func(environment Environment) (_ any, err error) {
			all := make([]any, len(list))
			for i := 0; i < len(list) && err == nil; i++ {
				all[i], err = list[i].Eval(environment)
			}
			return all, err
		}
	case map[string]any:
		order, fields := slices.Sorted(maps.Keys(v)), make(map[string]*Template, len(v))
		for _, name := range order {
			fields[name] = NewTemplate(v[name], names, path+"."+name, wrong)
			t.Members[name] = fields[name].Type
		}
		t.Eval = func(environment Environment) (_ any, err error) {
			all := make(map[string]any, len(order))
			for i := 0; i < len(order) && err == nil; i++ {
				all[order[i]], err = fields[order[i]].Eval(environment)
			}
			return all, err
		}
	}
	return t
}

// read compiles the expressions in a text.
func (t *Template) read(text string, names Names, wrong func(error)) {
	var parts []any // texts and expressions
	literal := ""
	for {
		before, rest, found := strings.Cut(text, "${")
		literal += before
		if !found {
			break
		}
		if strings.HasSuffix(before, "$") {
			literal += "{"
			text = rest
			continue
		}
		end := closing(rest)
		if end < 0 {
			wrong(errors.New(`"${" has no "}"; write "$${" for the two characters`))
			break
		}
		e, err := Compile(strings.TrimSpace(rest[:end]), names, Value)
		if err != nil {
			wrong(err)
			e = &Expression{}
		}
		parts, literal, text = append(parts, literal, e), "", rest[end+1:]
		if len(parts) == 2 && parts[0] == "" && text == "" {
			t.Eval, t.Type = e.Eval, string(e.resultType)
			return
		}
	}
	parts = append(parts, literal)
	t.Eval = func(environment Environment) (any, error) { return join(parts, environment) }
}

// join evaluates the parts and joins them into one text.
func join(parts []any, environment Environment) (any, error) {
	var b strings.Builder
	for _, part := range parts {
		if e, ok := part.(*Expression); ok {
			v, err := e.Eval(environment)
			if err != nil {
				return nil, err
			}
			part = inText(v)
		}
		if b.WriteString(part.(string)); b.Len() > longestText {
			return nil, fmt.Errorf("the text has more than %d bytes", longestText)
		}
	}
	return b.String(), nil
}

// inText formats a value inside a text: a text as it is, and everything else as JSON.
func inText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, _ := json.Marshal(v) // the value came from JSON
	return string(data)
}

// closing returns the end of the expression at the beginning of the text.
func closing(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return i
		case c == '}':
			depth--
		}
	}
	return -1
}
