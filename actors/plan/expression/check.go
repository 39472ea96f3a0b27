package expression

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// checker finds the types of an expression's parts, and all that is wrong with it.
type checker struct {
	names    Names
	variable string // of the comprehension around
	within   bool   // a comprehension
	refers   bool   // to the environment
	nodes    int
	problems []error
}

func (c *checker) wrong(format string, args ...any) Type {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
	return Value
}

// check returns the type of the value, Value if it is known only when it is there.
func (c *checker) check(e syntax.Expr) Type {
	c.nodes++
	switch e := e.(type) {
	case *syntax.Literal:
		return c.literal(e)
	case *syntax.ParenExpr:
		c.nodes--
		return c.check(e.X)
	case *syntax.Ident, *syntax.DotExpr, *syntax.IndexExpr:
		return c.reference(e)
	case *syntax.UnaryExpr:
		return c.unary(e)
	case *syntax.BinaryExpr:
		return c.binary(e)
	case *syntax.CondExpr:
		c.check(e.Cond)
		return either(c.check(e.True), c.check(e.False))
	case *syntax.ListExpr:
		for _, element := range e.List {
			c.check(element)
		}
		return List
	case *syntax.DictExpr:
		for _, entry := range e.List {
			entry := entry.(*syntax.DictEntry)
			if k := c.check(entry.Key).kind(); k != Text && k != Value {
				c.wrong("the name of a member must be a string, and this is of type %s", k)
			}
			c.check(entry.Value)
		}
		return Members
	case *syntax.SliceExpr:
		return c.slice(e)
	case *syntax.Comprehension:
		return c.comprehension(e)
	case *syntax.CallExpr:
		return c.call(e)
	case *syntax.TupleExpr:
		return c.wrong("an expression has no tuples; write a list, [x, y]")
	case *syntax.LambdaExpr:
		return c.wrong("an expression has no lambda; write a comprehension, [f(x) for x in list]")
	}
	return c.wrong("an expression has no %T", e)
}

func (c *checker) literal(e *syntax.Literal) Type {
	switch e.Value.(type) {
	case string:
		if e.Token == syntax.STRING {
			return Text
		}
		return c.wrong("an expression has no bytes; write a string without b")
	case int64, *big.Int:
		return Integer
	}
	return Number
}

// words are the constants.
var words = map[string]any{"True": true, "False": false, "None": nil}

// others are what other languages call the constants.
var others = map[string]string{"true": "True", "false": "False", "null": "None", "nil": "None"}

// indexes are the types of the indexes of what has elements.
var indexes = map[kind][]kind{
	List: {Integer, Number}, Text: {Integer, Number}, Members: {Text}, Value: {Integer, Number, Text},
}

// reference is a name, or a member or an element of something.
func (c *checker) reference(e syntax.Expr) Type {
	x, name, y := selected(e)
	switch root, isRoot := x.(*syntax.Ident); {
	case x == nil:
		return c.root(e.(*syntax.Ident).Name, "")
	case isRoot && name != "" && !c.constant(root.Name):
		c.nodes++
		return c.root(root.Name, name)
	}
	of := c.check(x)
	if name != "" {
		t, err := member(of, name)
		if err != nil {
			c.wrong("%w", err)
		}
		return t
	}
	index := c.check(y).kind()
	k := of.kind()
	wants, ok := indexes[k]
	if !ok || index != Value && !slices.Contains(wants, index) {
		return c.wrong("%s has no element at an index of type %s", k.word(), index.word())
	}
	if k == Text {
		return Text
	}
	return Value
}

// selected is what a member or an element is of, with the member's name if the expression says it. A name is of
// nothing.
func selected(e syntax.Expr) (x syntax.Expr, name string, y syntax.Expr) {
	switch e := e.(type) {
	case *syntax.DotExpr:
		return e.X, e.Name.Name, nil
	case *syntax.IndexExpr:
		if l, ok := e.Y.(*syntax.Literal); ok && l.Token == syntax.STRING {
			name = l.Value.(string)
		}
		return e.X, name, e.Y
	}
	return nil, "", nil
}

// constant reports whether a name is not one of the environment.
func (c *checker) constant(name string) bool {
	_, is := words[name]
	return is || c.within && name == c.variable
}

func (c *checker) root(root, name string) Type {
	if v, ok := words[root]; ok {
		return kindOf(v)
	}
	if c.within && root == c.variable {
		return Value
	}
	if other, ok := others[root]; ok {
		return c.wrong("there is no %s; write %s", root, other)
	}
	c.refers = true
	t, err := c.names(root, name)
	if err == nil && t == nil { // the root is a value
		if t, err = c.names(root, ""); err == nil {
			t, err = member(t, name)
		}
	}
	if err != nil {
		return c.wrong("%w", err)
	}
	return t
}

func (c *checker) unary(e *syntax.UnaryExpr) Type {
	k := c.check(e.X).kind()
	switch {
	case e.Op == syntax.NOT:
		return Boolean
	case e.Op == syntax.MINUS && (k == Value || k.numeric()):
		return k
	}
	return c.wrong("cannot apply %s to %s", e.Op, k.word())
}

func (c *checker) binary(e *syntax.BinaryExpr) Type {
	if e.Op == syntax.EQ {
		return c.wrong("an argument has no name")
	}
	a, b := c.check(e.X), c.check(e.Y)
	if e.Op == syntax.AND || e.Op == syntax.OR {
		return either(a, b)
	}
	k, ok := operate(e.Op, a.kind(), b.kind())
	if !ok {
		return c.wrong("%w", mismatch(e.Op, a.kind(), b.kind()))
	}
	return k
}

func (c *checker) slice(e *syntax.SliceExpr) Type {
	of := c.check(e.X).kind()
	if of != Text && of != List && of != Value {
		c.wrong("%s has no slices", of.word())
	}
	if e.Step != nil {
		c.wrong("a slice has no step")
	}
	for _, bound := range []syntax.Expr{e.Lo, e.Hi} {
		if bound != nil {
			if k := c.check(bound).kind(); k != Value && !k.numeric() {
				c.wrong("the bound of a slice is an integer, and this is of type %s", k)
			}
		}
	}
	return of
}

// comprehension checks [body for variable in list if condition].
func (c *checker) comprehension(e *syntax.Comprehension) Type {
	first := e.Clauses[0].(*syntax.ForClause)
	variable, ok := first.Vars.(*syntax.Ident)
	switch {
	case c.within:
		return c.wrong("a comprehension has no other within")
	case e.Curly:
		return c.wrong("a comprehension gives a list; write it in square brackets")
	case !ok:
		return c.wrong("a comprehension has one variable")
	}
	if k := c.check(first.X).kind(); k != List && k != Members && k != Value {
		c.wrong("a comprehension needs a list or an object, and this is of type %s", k)
	}
	c.within, c.variable = true, variable.Name
	for _, clause := range e.Clauses[1:] {
		condition, ok := clause.(*syntax.IfClause)
		if !ok {
			c.wrong("a comprehension has one for")
			continue
		}
		c.check(condition.Cond)
	}
	c.check(e.Body)
	c.within = false
	return List
}

// called finds the function or the method of a call. A method has the value that it is of.
func called(e *syntax.CallExpr) (name string, f function, of syntax.Expr, ok bool) {
	switch fn := e.Fn.(type) {
	case *syntax.Ident:
		f, ok = functions[fn.Name]
		return fn.Name, f, nil, ok
	case *syntax.DotExpr:
		if x, isName := fn.X.(*syntax.Ident); isName && x.Name == "json" {
			f, ok = functions["json."+fn.Name.Name]
			return "json." + fn.Name.Name, f, nil, ok
		}
		f, ok = methods[fn.Name.Name]
		return fn.Name.Name, f, fn.X, ok
	}
	return "", function{}, nil, false
}

func (c *checker) call(e *syntax.CallExpr) Type {
	name, f, of, ok := called(e)
	if name == "" {
		c.check(e.Fn)
		return c.wrong("a call names its function")
	}
	var kinds []kind
	if of != nil {
		kinds = append(kinds, c.check(of).kind())
	}
	for _, a := range e.Args {
		kinds = append(kinds, c.check(a).kind())
	}
	switch {
	case !ok && of != nil:
		return c.wrong("there is no method %s; there are %s", name, strings.Join(Methods, ", "))
	case !ok:
		return c.wrong("there is no function %s; there are %s", name, strings.Join(Functions, ", "))
	}
	if err := f.fits(name, kinds); err != nil {
		return c.wrong("%w", err)
	}
	return f.gives
}

// Functions are the functions that expressions may call, and Methods the methods of texts.
var (
	Functions = slices.Sorted(maps.Keys(functions))
	Methods   = slices.Sorted(maps.Keys(methods))
)
