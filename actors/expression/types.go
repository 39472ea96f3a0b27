package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// Names says what an expression may refer to: the member of a root, such as steps.build, or a root alone, such as
// item. The error says what is wrong with the name.
type Names func(root, member string) (Type, error)

// Type is the type of a value: one of those below, or an [Object].
type Type interface{ kind() kind }

// Object is a type with named members.
type Object map[string]Type

// kind is what JSON Schema calls a type.
type kind string

// The types of values. Value is any of them, known when it is there.
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

// word is the kind in a sentence.
func (k kind) word() string {
	if k == Value {
		return "a value"
	}
	return string(k)
}

// either is the type of a value that has one type or the other.
func either(a, b kind) Type {
	switch {
	case a == b:
		return a
	case a.numeric() && b.numeric():
		return Number
	}
	return Value
}

// operate is the type of what a binary operator gives, and whether it takes the operands.
func operate(op syntax.Token, a, b kind) (kind, bool) {
	known, numeric := a != Value && b != Value, a.numeric() && b.numeric()
	one := max(a, b) // the known one, as Value is the least
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
			return one, true // Number if one of them is
		}
		return Value, !known && (one == Value || one.numeric())
	}
	return Value, false
}

// Member is the type of a member; without a name it is the type itself.
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
