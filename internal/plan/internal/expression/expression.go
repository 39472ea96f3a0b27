package expression

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Expression is a checked expression. It is safe for concurrent use.
type Expression struct {
	text       string
	program    *starlark.Program
	resultType kind
	never      bool
}

// longest bounds the size of an expression, in bytes.
const longest = 4096

// Compile compiles an expression for a value of type want, and returns all its faults. It evaluates nothing.
func Compile(text string, names Names, want Type) (*Expression, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the expression has %d bytes; at most %d are allowed", len(text), longest)
	}
	line := strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")) // a line end would end the expression
	tree, err := (&syntax.FileOptions{}).ParseExpr("", line, 0)
	if e, ok := errors.AsType[syntax.Error](err); ok {
		err = errors.New(e.Msg) // the caller adds where the expression is
	}
	if err != nil && (strings.Contains(line, "&&") || strings.ContainsAny(line, "|?!")) {
		err = fmt.Errorf("%w; use the operators of Python, such as and, or, not, and x if condition else y", err)
	}
	if err != nil {
		return nil, err
	}
	c := &checker{names: names, locals: map[string]bool{}}
	gives := c.check(tree).kind()
	if want == Boolean && gives != Boolean && gives != Value {
		c.wrong("the value is of type %s and must be True or False", gives)
	}
	if c.problems != nil {
		return nil, errors.Join(c.problems...)
	}
	e := &Expression{text: text, resultType: gives, never: line == "False"}
	if e.program, err = compile(tree); err != nil {
		return nil, err
	}
	return e, nil
}

// result is the variable that holds the value of a program.
const result = "="

// compile makes a program that pays for its operations.
func compile(tree syntax.Expr) (*starlark.Program, error) {
	insertPayments(tree)
	file := &syntax.File{Options: &syntax.FileOptions{}, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{Op: syntax.EQ, LHS: &syntax.Ident{Name: result}, RHS: tree}}}
	return starlark.FileProgram(file, func(name string) bool { return !starlark.Universe.Has(name) })
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// Eval returns the value in the environment, as a JSON value. It heeds the context, and spends from b.
func (e *Expression) Eval(ctx context.Context, b *Budget, environment Environment) (value any, err error) {
	if err := b.spend(ctx, costEval); err != nil {
		return nil, err
	}
	p := &allowance{ctx: ctx, left: budget}
	thread := p.thread()
	names := make(starlark.StringDict, len(builtins)+len(environment))
	maps.Copy(names, builtins)
	maps.Copy(names, environment)
	globals, err := e.program.Init(thread, names)
	if err == nil {
		value = p.toJSON(globals[result])
	}
	if p.err != nil {
		err = p.err
	}
	if err != nil {
		err = fmt.Errorf("%s: %v", e.text, err) // without the wrapped errors
	}
	return value, cmp.Or(b.spend(ctx, p.spent(thread)), err)
}

// True evaluates a guard.
func (e *Expression) True(ctx context.Context, b *Budget, environment Environment) (bool, error) {
	value, err := e.Eval(ctx, b, environment)
	if err != nil {
		return false, err
	}
	yes, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("%s: the value is of type %s and not True or False", e.text, TypeOf(value))
	}
	return yes, nil
}

// Never reports whether the expression is the constant False.
func (e *Expression) Never() bool { return e.never }

// Template is a value of texts, numbers, lists and objects with expressions in it. In a text, an expression is
// written "${...}". If it is the whole text, it yields its value unchanged. "$${" yields "${".
type Template struct {
	// Eval returns the value in the environment. It heeds the context, and spends from the Budget.
	Eval func(context.Context, *Budget, Environment) (any, error)
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
	t.Eval = func(context.Context, *Budget, Environment) (any, error) { return value, nil }
	switch v := value.(type) {
	case string:
		t.read(v, names, func(err error) { wrong(path, err) })
	case []any:
		list := make([]*Template, len(v))
		for i, element := range v {
			list[i] = NewTemplate(element, names, fmt.Sprintf("%s.%d", path, i), wrong)
		}
		t.Eval = func(ctx context.Context, b *Budget, environment Environment) (_ any, err error) {
			all, err := make([]any, len(list)), b.spend(ctx, costNode*len(list))
			for i := 0; i < len(list) && err == nil; i++ {
				all[i], err = list[i].Eval(ctx, b, environment)
			}
			return all, err
		}
	case map[string]any:
		order, fields := slices.Sorted(maps.Keys(v)), make(map[string]*Template, len(v))
		for _, name := range order {
			fields[name] = NewTemplate(v[name], names, path+"."+name, wrong)
			t.Members[name] = fields[name].Type
		}
		t.Eval = func(ctx context.Context, b *Budget, environment Environment) (_ any, err error) {
			all, err := make(map[string]any, len(order)), b.spend(ctx, costNode*len(order))
			for i := 0; i < len(order) && err == nil; i++ {
				all[order[i]], err = fields[order[i]].Eval(ctx, b, environment)
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
	t.Eval = func(ctx context.Context, b *Budget, environment Environment) (any, error) {
		return join(ctx, b, parts, environment)
	}
}

// join evaluates the parts and joins them into one text.
func join(ctx context.Context, b *Budget, parts []any, environment Environment) (any, error) {
	var text strings.Builder
	for _, part := range parts {
		if e, ok := part.(*Expression); ok {
			v, err := e.Eval(ctx, b, environment)
			if err != nil {
				return nil, err
			}
			part = inText(v)
		}
		if text.WriteString(part.(string)); text.Len() > longestText {
			return nil, fmt.Errorf("the text has more than %d bytes", longestText)
		}
	}
	return text.String(), b.spend(ctx, text.Len())
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
