package expression

import (
	"errors"
	"fmt"
	"math"
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
	order   []string
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
		for name := range v {
			t.order = append(t.order, name)
		}
		slices.Sort(t.order)
		for _, name := range t.order {
			t.fields[name] = NewTemplate(v[name], names, path+"."+name, wrong)
		}
		return t
	}
	return &Template{literal: value}
}

// Fields are the templates of an object's members; nil of another value.
func (t *Template) Fields() map[string]*Template { return t.fields }

// Static returns the value of a template without expressions.
func (t *Template) Static() (any, bool) {
	for _, p := range t.parts {
		if p.expression != nil {
			return nil, false
		}
	}
	for _, e := range t.list {
		if _, ok := e.Static(); !ok {
			return nil, false
		}
	}
	for _, f := range t.fields {
		if _, ok := f.Static(); !ok {
			return nil, false
		}
	}
	value, err := t.Eval(nil)
	return value, err == nil
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
	case t.literal == nil && t.parts == nil:
		return "null"
	case t.literal == nil:
		return "string"
	}
	if f, ok := t.literal.(float64); ok && f == math.Trunc(f) {
		return "integer"
	}
	if k := kindOf(t.literal); k != other {
		return string(k)
	}
	return ""
}

// Eval returns the value in the environment.
func (t *Template) Eval(environment map[string]any) (any, error) {
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
		for _, name := range t.order {
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

func textOf(parts []part, environment map[string]any) (any, error) {
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
			if piece, err = inText(v); err != nil {
				return nil, err
			}
		}
		if b.Len()+len(piece) > longestText {
			return nil, fmt.Errorf("the text has more than %d bytes", longestText)
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}

// inText is a value within a text: a text as it is, everything else as JSON.
func inText(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return asJSON(v)
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
