package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is a value of texts, numbers, lists and objects. An expression stands in a text as "${...}"; alone in its
// text, it gives its value as it is. "$${" is "${" itself.
type Template struct {
	literal any
	parts   []part // of a text
	list    []*Template
	fields  map[string]*Template
}

// part is a piece of a text: itself, or what the expression gives.
type part struct {
	text       string
	expression *Expression
}

// longestText bounds the text that a template makes.
const longestText = 4 << 20

// NewTemplate reads a value as JSON has it. wrong is told what is wrong with the text at a path such as input.list.0.
func NewTemplate(value any, names Names, path string, wrong func(path string, err error)) *Template {
	switch v := value.(type) {
	case string:
		parts, err := read(v, names)
		if err != nil {
			wrong(path, err)
		}
		return &Template{parts: parts}
	case []any:
		t := &Template{list: make([]*Template, 0, len(v))}
		for i, element := range v {
			t.list = append(t.list, NewTemplate(element, names, fmt.Sprintf("%s.%d", path, i), wrong))
		}
		return t
	case map[string]any:
		t := &Template{fields: make(map[string]*Template, len(v))}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			t.fields[name] = NewTemplate(v[name], names, path+"."+name, wrong)
		}
		return t
	}
	return &Template{literal: value}
}

// Type is what JSON Schema calls the type of the value, or "" if it is known only when it is there.
func (t *Template) Type() string {
	switch {
	case t.list != nil:
		return "array"
	case t.fields != nil:
		return "object"
	case len(t.parts) == 1 && t.parts[0].expression != nil:
		return string(t.parts[0].expression.gives)
	case t.parts != nil:
		return "string"
	}
	return string(kindOf(t.literal))
}

// Members are the types of an object's members.
func (t *Template) Members() map[string]string {
	types := make(map[string]string, len(t.fields))
	for name, field := range t.fields {
		types[name] = field.Type()
	}
	return types
}

// Eval returns the value in the environment.
func (t *Template) Eval(environment Environment) (any, error) {
	switch {
	case t.list != nil:
		all := make([]any, len(t.list))
		for i, element := range t.list {
			v, err := element.Eval(environment)
			if err != nil {
				return nil, err
			}
			all[i] = v
		}
		return all, nil
	case t.fields != nil:
		all := make(map[string]any, len(t.fields))
		for _, name := range slices.Sorted(maps.Keys(t.fields)) {
			v, err := t.fields[name].Eval(environment)
			if err != nil {
				return nil, err
			}
			all[name] = v
		}
		return all, nil
	case t.parts != nil:
		return textOf(t.parts, environment)
	}
	return t.literal, nil
}

func textOf(parts []part, environment Environment) (any, error) {
	if len(parts) == 1 && parts[0].expression != nil {
		return parts[0].expression.Eval(environment)
	}
	var b strings.Builder
	for _, p := range parts {
		piece := p.text
		if p.expression != nil {
			v, err := p.expression.Eval(environment)
			if err != nil {
				return nil, err
			}
			piece = inText(v)
		}
		if b.Len()+len(piece) > longestText {
			return nil, fmt.Errorf("the text has more than %d bytes", longestText)
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

// inText is a value within a text: a text as it is, everything else as JSON.
func inText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, _ := json.Marshal(v) // JSON has been out of Starlark
	return string(data)
}

// read reads the expressions in a text.
func read(text string, names Names) (parts []part, err error) {
	var wrong []error
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
			wrong = append(wrong, errors.New(`"${" has no "}"; write "$${" for the two characters`))
			break
		}
		e, err := Compile(strings.TrimSpace(rest[:end]), names, Value)
		if err != nil {
			wrong = append(wrong, err)
		}
		if literal != "" {
			parts = append(parts, part{text: literal})
		}
		parts, literal, text = append(parts, part{expression: e}), "", rest[end+1:]
	}
	if literal != "" || parts == nil {
		parts = append(parts, part{text: literal})
	}
	return parts, errors.Join(wrong...)
}

// closing is where the expression at the beginning of the text ends.
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
