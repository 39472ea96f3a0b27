package expression

import (
	"errors"
	"fmt"
	"maps"
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
		return nil, fmt.Errorf("the expression has %d bytes; it may have %d", len(text), longest)
	}
	line := strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")) // a line end would end the expression
	tree, err := (&syntax.FileOptions{}).ParseExpr("", line, 0)
	if e, ok := errors.AsType[syntax.Error](err); ok {
		err = errors.New(e.Msg) // the caller adds where the expression is
	}
	if err != nil && (strings.Contains(line, "&&") || strings.ContainsAny(line, "|?!")) {
		err = fmt.Errorf("%w; operators are those of Python, such as and, or, not, and x if condition else y", err)
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

// Eval returns the value in the environment, as a JSON value.
func (e *Expression) Eval(environment Environment) (value any, err error) {
	p, thread := &allowance{left: budget}, &starlark.Thread{}
	thread.SetLocal(result, p)
	thread.SetMaxExecutionSteps(maxSteps)
	names := make(starlark.StringDict, len(builtins)+len(environment))
	maps.Copy(names, builtins)
	maps.Copy(names, environment)
	globals, err := e.program.Init(thread, names)
	if err == nil {
		value = p.toJSON(globals[result])
	}
	switch {
	case p.err != nil:
		err = p.err
	case thread.ExecutionSteps() >= maxSteps:
		err = errBudget
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %v", e.text, err) // without the wrapped errors
	}
	return value, nil
}

// True evaluates a guard.
func (e *Expression) True(environment Environment) (bool, error) {
	value, err := e.Eval(environment)
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
