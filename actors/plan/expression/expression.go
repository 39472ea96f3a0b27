package expression

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/syntax"
)

// Names says what an expression may refer to: the member of a root, such as steps.build, or a root alone, such as
// item. A nil type without an error says that the root is a value, whose members are known when it is there. The
// error says what is wrong with the name.
type Names func(root, member string) (Type, error)

// Expression is a checked expression.
type Expression struct {
	text  string
	tree  syntax.Expr
	gives kind
	never bool
}

// longest is the most bytes of an expression, and mostNodes the most operands and operators.
const (
	longest   = 4096
	mostNodes = 200
)

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
	c := &checker{names: names}
	gives := c.check(tree).kind()
	if c.nodes > mostNodes {
		return nil, fmt.Errorf("the expression has %d operands and operators; it may have %d", c.nodes, mostNodes)
	}
	if want == Boolean && gives != Boolean && gives != Value {
		c.wrong("the value is of type %s and must be True or False", gives)
	}
	if c.problems != nil {
		return nil, errors.Join(c.problems...)
	}
	e := &Expression{text: text, tree: tree, gives: gives}
	if !c.refers {
		value, err := e.Eval(nil)
		if err != nil {
			return nil, err
		}
		e.never = value == false
	}
	return e, nil
}

// syntaxError says what is wrong without a position, as the plan's own says where the expression is.
func syntaxError(text string, err error) error {
	message := err.Error()
	if e, ok := errors.AsType[syntax.Error](err); ok {
		message = e.Msg
	}
	if strings.Contains(text, "&&") || strings.ContainsAny(text, "|?") {
		message += "; operators are those of Python, such as and, or, not, and x if condition else y"
	}
	return errors.New(message)
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// Eval returns the value in the environment, whose roots are maps and values. It does not change them.
func (e *Expression) Eval(environment map[string]any) (any, error) {
	v := evaluation{roots: environment, left: budget}
	value, err := v.eval(e.tree)
	if err == nil && v.built { // what is shared within a value takes its place each time in JSON
		err = v.measure(value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.text, err)
	}
	return value, nil
}

// True evaluates a guard.
func (e *Expression) True(environment map[string]any) (bool, error) {
	value, err := e.Eval(environment)
	if err != nil {
		return false, err
	}
	yes, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("%s: the value is of type %s and not True or False", e.text, kindOf(value).word())
	}
	return yes, nil
}

// Never reports whether the value is false whatever the environment.
func (e *Expression) Never() bool { return e.never }
