package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// functions are the functions that expressions may call, and methods the methods of texts. The values are the types
// of their results.
var (
	functions = map[string]kind{
		"all": Boolean, "any": Boolean, "bool": Boolean, "enumerate": List, "float": Number, "get": Value, "int": Integer,
		"json.decode": Value, "len": Integer, "list": List, "max": Value, "min": Value, "range": List,
		"reversed": List, "sorted": List, "str": Text, "sum": Value, "zip": List,
	}
	methods = map[string]kind{
		"count": Integer, "endswith": Boolean, "find": Integer, "join": Text, "lower": Text, "lstrip": Text,
		"removeprefix": Text, "removesuffix": Text, "replace": Text, "rstrip": Text, "split": List, "splitlines": List,
		"startswith": Boolean, "strip": Text, "title": Text, "upper": Text,
	}
	overLists = []string{"all", "any", "enumerate", "len", "list", "max", "min", "reversed", "sorted", "sum", "zip"}

	functionNames = slices.Sorted(maps.Keys(functions))
	methodNames   = slices.Sorted(maps.Keys(methods))
)

// checker infers the types of an expression's parts, and collects all its faults. It is used for one expression.
type checker struct {
	names    Names
	locals   map[string]bool // variables of comprehensions
	problems []error
}

func (c *checker) wrong(format string, args ...any) Type {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
	return Value
}

// check returns the type of the expression. It is Value if the type is known only during evaluation.
func (c *checker) check(e syntax.Expr) Type {
	switch e := e.(type) {
	case *syntax.Literal:
		switch e.Value.(type) {
		case string:
			return Text
		case float64:
			return Number
		}
		return Integer
	case *syntax.ParenExpr:
		return c.check(e.X)
	case *syntax.Ident:
		return c.root(e.Name, "")
	case *syntax.DotExpr:
		return c.member(e.X, e.Name.Name)
	case *syntax.IndexExpr:
		return c.element(e)
	case *syntax.UnaryExpr:
		k := c.check(e.X).kind()
		switch {
		case e.Op == syntax.NOT:
			return Boolean
		case e.Op == syntax.MINUS && (k == Value || k.numeric()):
			return k
		}
		return c.wrong("cannot apply %s to %s", e.Op, k.word())
	case *syntax.BinaryExpr:
		return c.binary(e)
	case *syntax.CondExpr:
		c.check(e.Cond)
		return unionType(c.check(e.True).kind(), c.check(e.False).kind())
	case *syntax.CallExpr:
		return c.call(e)
	case *syntax.LambdaExpr:
		return c.wrong("an expression has no lambda; write a comprehension, [f(x) for x in list]")
	}
	if loop, ok := e.(*syntax.Comprehension); ok {
		c.bind(loop)
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		x, ok := n.(syntax.Expr)
		if ok && n != e {
			c.check(x)
		}
		return n == e || !ok
	})
	switch e.(type) {
	case *syntax.ListExpr, *syntax.Comprehension:
		return List
	case *syntax.DictExpr:
		return Members
	}
	return Value
}

// bind records the variables of a comprehension.
func (c *checker) bind(e *syntax.Comprehension) {
	for _, clause := range e.Clauses {
		if f, ok := clause.(*syntax.ForClause); ok {
			syntax.Walk(f.Vars, func(n syntax.Node) bool {
				if name, ok := n.(*syntax.Ident); ok {
					c.locals[name.Name] = true
				}
				return true
			})
		}
	}
}

// words are the constants. others maps the names of constants in other languages to them.
var (
	words  = map[string]kind{"True": Boolean, "False": Boolean, "None": null}
	others = map[string]string{"true": "True", "false": "False", "null": "None", "nil": "None"}
)

// root returns the type of a name or, if a member is given, of that member of the root.
func (c *checker) root(root, name string) Type {
	if k, ok := words[root]; ok {
		return k
	}
	if other, ok := others[root]; ok {
		return c.wrong("there is no %s; write %s", root, other)
	}
	if c.locals[root] {
		return Value
	}
	t, err := c.names(root, name)
	if err != nil {
		return c.wrong("%w", err)
	}
	return t
}

// member returns the type of a member. Only c.names knows the members of a root.
func (c *checker) member(of syntax.Expr, name string) Type {
	if root, ok := of.(*syntax.Ident); ok && !c.locals[root.Name] && words[root.Name] == "" {
		return c.root(root.Name, name)
	}
	t, err := Member(c.check(of), name)
	if err != nil {
		return c.wrong("%w", err)
	}
	return t
}

// element returns the type of an element of a list, a text or an object.
func (c *checker) element(e *syntax.IndexExpr) Type {
	if l, ok := e.Y.(*syntax.Literal); ok && l.Token == syntax.STRING {
		return c.member(e.X, l.Value.(string))
	}
	of, at := c.check(e.X).kind(), c.check(e.Y).kind()
	list, object := at == Value || at.numeric(), at == Value || at == Text
	if ok := map[kind]bool{List: list, Text: list, Members: object, Value: list || object}[of]; !ok {
		return c.wrong("%s has no element at an index of type %s", of.word(), at.word())
	}
	if of == Text {
		return Text
	}
	return Value
}

// binary returns the type of an operation, and refuses a literal division by zero.
func (c *checker) binary(e *syntax.BinaryExpr) Type {
	if e.Op == syntax.EQ { // a named argument
		return c.check(e.Y)
	}
	a, b := c.check(e.X).kind(), c.check(e.Y).kind()
	if e.Op == syntax.AND || e.Op == syntax.OR {
		return unionType(a, b)
	}
	if l, ok := e.Y.(*syntax.Literal); ok && l.Raw == "0" && (e.Op == syntax.SLASH || e.Op == syntax.SLASHSLASH || e.Op == syntax.PERCENT) {
		return c.wrong("division by zero")
	}
	k, ok := operate(e.Op, a, b)
	if !ok {
		return c.wrong("cannot apply %s to %s and %s", e.Op, a.word(), b.word())
	}
	return k
}

// call returns the type of the result of a function or method.
func (c *checker) call(e *syntax.CallExpr) Type {
	name, of, what, all := "", functions, "function", functionNames
	switch fn := e.Fn.(type) {
	case *syntax.Ident:
		name = fn.Name
	case *syntax.DotExpr:
		if x, ok := fn.X.(*syntax.Ident); ok && x.Name == "json" {
			name = "json." + fn.Name.Name
			break
		}
		name, of, what, all = fn.Name.Name, methods, "method", methodNames
		if k := c.check(fn.X).kind(); k != Text && k != Value {
			return c.wrong("%s has no method %s", k.word(), name)
		}
	default:
		return c.wrong("a call must name its function")
	}
	gives, ok := of[name]
	if !ok {
		c.wrong("there is no %s %s; there are %s", what, name, strings.Join(all, ", "))
	}
	for i, a := range e.Args {
		if k := c.check(a).kind(); i == 0 && (k.numeric() || k == Boolean) && slices.Contains(overLists, name) {
			c.wrong("%s takes no value of type %s", name, k)
		}
	}
	return gives
}

// Names resolves what an expression refers to: the member of a root, such as steps.build, or a root alone, such as
// item. Its error says what is wrong with the name.
type Names func(root, member string) (Type, error)

// Type is the type of a value: one of the constants below, or an [Object].
type Type interface{ kind() kind }

// Object is a type with named members.
type Object map[string]Type

// kind is a type in JSON Schema.
type kind string

// Types of values. Value means a type that is known only during evaluation.
const (
	Text    kind = "string"
	Number  kind = "number"
	Integer kind = "integer"
	Boolean kind = "boolean"
	List    kind = "array"
	Members kind = "object"
	Value   kind = ""

	null kind = "null"
)

func (k kind) kind() kind { return k }
func (Object) kind() kind { return Members }

func (k kind) numeric() bool { return k == Number || k == Integer }

// word returns the kind for use in a sentence.
func (k kind) word() string {
	if k == Value {
		return "a value"
	}
	return string(k)
}

// unionType returns the type of a value that has one of two types.
func unionType(a, b kind) Type {
	switch {
	case a == b:
		return a
	case a.numeric() && b.numeric():
		return Number
	}
	return Value
}

// operate returns the result type of a binary operator, and whether it accepts the operands.
func operate(op syntax.Token, a, b kind) (kind, bool) {
	known, numeric := a != Value && b != Value, a.numeric() && b.numeric()
	one := max(a, b) // the known one, because Value is the least
	switch op {
	case syntax.EQL, syntax.NEQ:
		return Boolean, !known || a == b || numeric || a == null || b == null
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return Boolean, !known || numeric || a == Text && b == Text
	case syntax.IN, syntax.NOT_IN:
		return Boolean, b == Value || b == List || (b == Text || b == Members) && (a == Text || a == Value)
	case syntax.SLASH:
		return Number, !known || numeric
	case syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASHSLASH, syntax.PERCENT:
		switch {
		case op == syntax.PLUS && (one == Text || one == List):
			return one, !known || a == b
		case numeric:
			return one, true // Number if either is
		}
		return Value, !known && (one == Value || one.numeric())
	}
	return Value, false
}

// Member returns the type of a member. Without a name it returns the type itself.
func Member(of Type, name string) (Type, error) {
	if name == "" {
		return of, nil
	}
	if o, ok := of.(Object); ok {
		if t, ok := o[name]; ok {
			return t, nil
		}
		return Value, fmt.Errorf("there is no %s; there are %s", name, strings.Join(slices.Sorted(maps.Keys(o)), ", "))
	}
	if k := of.kind(); k != Value && k != Members {
		return Value, fmt.Errorf("%s has no member %s", k.word(), name)
	}
	return Value, nil
}
