package expression

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Expression is a checked expression.
type Expression struct {
	text    string
	program *starlark.Program
	gives   kind
	never   bool
}

// longest is the most bytes of an expression.
const longest = 4096

// Compile reads an expression whose value is want, and returns all that is wrong with it.
func Compile(text string, names Names, want Type) (*Expression, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the expression has %d bytes; it may have %d", len(text), longest)
	}
	line := strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")) // a line end would end the expression
	tree, err := (&syntax.FileOptions{}).ParseExpr("", line, 0)
	if err != nil {
		return nil, syntaxError(line, err)
	}
	c := &checker{names: names, locals: variables(tree)}
	gives := c.check(tree).kind()
	if want == Boolean && gives != Boolean && gives != Value {
		c.wrong("the value is of type %s and must be True or False", gives)
	}
	if c.problems != nil {
		return nil, errors.Join(c.problems...)
	}
	e := &Expression{text: text, gives: gives}
	if e.program, err = compile(tree); err != nil {
		return nil, syntaxError(line, err)
	}
	if !c.refers {
		value, err := e.Eval(nil)
		if err != nil {
			return nil, err
		}
		e.never = value == false
	}
	return e, nil
}

// variables are the names that comprehensions give.
func variables(tree syntax.Expr) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(tree, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.ForClause); ok {
			syntax.Walk(f.Vars, func(n syntax.Node) bool {
				if name, ok := n.(*syntax.Ident); ok {
					names[name.Name] = true
				}
				return true
			})
		}
		return true
	})
	return names
}

// syntaxError says what is wrong without a position, as the plan's own says where the expression is.
func syntaxError(text string, err error) error {
	message := err.Error()
	if e, ok := errors.AsType[syntax.Error](err); ok {
		message = e.Msg
	}
	if strings.Contains(text, "&&") || strings.ContainsAny(text, "|?!") {
		message += "; operators are those of Python, such as and, or, not, and x if condition else y"
	}
	return errors.New(message)
}

// result is the variable of a program that has its value.
const result = "="

// compile makes a program that pays for what it does.
func compile(tree syntax.Expr) (*starlark.Program, error) {
	pays(tree)
	file := &syntax.File{Options: &syntax.FileOptions{}, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{Op: syntax.EQ, LHS: &syntax.Ident{Name: result}, RHS: tree}}}
	return starlark.FileProgram(file, func(name string) bool { return !starlark.Universe.Has(name) })
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// Eval returns the value in the environment, as JSON has it.
func (e *Expression) Eval(environment Environment) (any, error) {
	value, err := e.eval(environment)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.text, err)
	}
	return value, nil
}

func (e *Expression) eval(environment Environment) (any, error) {
	p, thread := &purse{left: budget}, &starlark.Thread{}
	thread.SetLocal(result, p)
	thread.SetMaxExecutionSteps(maxSteps)
	names := make(starlark.StringDict, len(builtins)+len(environment))
	maps.Copy(names, builtins)
	maps.Copy(names, environment)
	globals, err := e.program.Init(thread, names)
	var value any
	if err == nil {
		value = p.out(globals[result])
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case thread.ExecutionSteps() >= maxSteps:
		return nil, errBudget
	case err != nil:
		return nil, errors.New(err.Error()) // without what it wraps
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

// Never reports whether the value is false whatever the environment.
func (e *Expression) Never() bool { return e.never }
