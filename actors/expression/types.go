package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

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
