package expression

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// evaluation is one evaluation of an expression.
type evaluation struct {
	roots    map[string]any
	variable string // of the comprehension around
	item     any    // its value
	within   bool   // a comprehension
	built    bool   // a list or an object
	left     int    // of the budget
}

// budget bounds the time and the memory of one evaluation: a byte that it builds costs one.
const (
	budget      = 16 << 20
	costNode    = 8  // of each node that is evaluated, and each value that is compared
	costElement = 16 // of a list or an object
)

var errBudget = errors.New("the value is too large, or takes too long")

func (v *evaluation) spend(cost int) error {
	if v.left -= cost; v.left < 0 {
		return errBudget
	}
	return nil
}

// eval returns the value of an expression that the checker has passed.
func (v *evaluation) eval(e syntax.Expr) (any, error) {
	if err := v.spend(costNode); err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return literal(e.Value), nil
	case *syntax.ParenExpr:
		return v.eval(e.X)
	case *syntax.Ident:
		return v.name(e.Name), nil
	case *syntax.DotExpr, *syntax.IndexExpr:
		return v.selected(e)
	case *syntax.UnaryExpr:
		x, err := v.eval(e.X)
		switch {
		case err != nil:
			return nil, err
		case e.Op == syntax.NOT:
			return !truth(x), nil
		case !kindOf(x).numeric():
			return nil, fmt.Errorf("cannot apply %s to %s", e.Op, kindOf(x).word())
		}
		return arithmetic(syntax.MINUS, 0, x)
	case *syntax.BinaryExpr:
		return v.binary(e)
	case *syntax.CondExpr:
		cond, err := v.eval(e.Cond)
		switch {
		case err != nil:
			return nil, err
		case truth(cond):
			return v.eval(e.True)
		}
		return v.eval(e.False)
	case *syntax.ListExpr:
		v.built = true
		return v.all(e.List)
	case *syntax.DictExpr:
		return v.object(e)
	case *syntax.SliceExpr:
		return v.slice(e)
	case *syntax.Comprehension:
		return v.comprehension(e)
	case *syntax.CallExpr:
		return v.call(e)
	}
	return nil, fmt.Errorf("an expression has no %T", e)
}

func literal(v any) any {
	switch v := v.(type) {
	case int64:
		if v < most {
			return int(v)
		}
		return float64(v)
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f
	}
	return v
}

func (v *evaluation) name(name string) any {
	if c, ok := words[name]; ok {
		return c
	}
	if v.within && name == v.variable {
		return v.item
	}
	return v.roots[name]
}

func (v *evaluation) selected(e syntax.Expr) (any, error) {
	of, name, at := selected(e)
	x, err := v.eval(of)
	if err != nil {
		return nil, err
	}
	if at == nil {
		if o, ok := x.(map[string]any); ok {
			return o[name], nil
		}
		return nil, fmt.Errorf("%s has no member %s", kindOf(x).word(), name)
	}
	index, err := v.eval(at)
	if err != nil {
		return nil, err
	}
	if o, ok := x.(map[string]any); ok {
		if name, ok := index.(string); ok {
			return o[name], nil
		}
	}
	n, length := integer(index), 0
	switch x := x.(type) {
	case string:
		length = len(x)
	case []any:
		length = len(x)
	default:
		n = nil
	}
	if n == nil {
		return nil, fmt.Errorf("%s has no element at an index of type %s", kindOf(x).word(), kindOf(index).word())
	}
	i := *n
	if i < 0 {
		i += length
	}
	if i < 0 || i >= length {
		return nil, fmt.Errorf("there is no element %d of %d", *n, length)
	}
	if s, ok := x.(string); ok {
		return strings.ToValidUTF8(s[i:i+1], ""), nil
	}
	return x.([]any)[i], nil
}

// integer is a number without a fraction, or nil.
func integer(v any) *int {
	switch n := v.(type) {
	case int:
		return &n
	case float64:
		if i := int(n); n == math.Trunc(n) && math.Abs(n) < most {
			return &i
		}
	}
	return nil
}

func (v *evaluation) slice(e *syntax.SliceExpr) (any, error) {
	x, err := v.eval(e.X)
	if err != nil {
		return nil, err
	}
	length := 0
	switch x := x.(type) {
	case string:
		length = len(x)
	case []any:
		length = len(x)
	default:
		return nil, fmt.Errorf("%s has no slices", kindOf(x).word())
	}
	bounds := [2]int{0, length}
	for i, bound := range []syntax.Expr{e.Lo, e.Hi} {
		if bound == nil {
			continue
		}
		at, err := v.eval(bound)
		if err != nil {
			return nil, err
		}
		n := integer(at)
		if n == nil {
			return nil, fmt.Errorf("the bound of a slice is an integer, and this is of type %s", kindOf(at).word())
		}
		if bounds[i] = *n; *n < 0 {
			bounds[i] += length
		}
		bounds[i] = min(max(bounds[i], 0), length)
	}
	from, to := bounds[0], max(bounds[0], bounds[1])
	if s, ok := x.(string); ok {
		return strings.ToValidUTF8(s[from:to], ""), v.spend(to - from)
	}
	return x.([]any)[from:to:to], nil
}

// all evaluates the elements of a list, or the arguments of a call.
func (v *evaluation) all(list []syntax.Expr) ([]any, error) {
	values := make([]any, len(list))
	for i, e := range list {
		x, err := v.eval(e)
		if err != nil {
			return nil, err
		}
		values[i] = x
	}
	return values, v.spend(costElement * len(list))
}

func (v *evaluation) object(e *syntax.DictExpr) (any, error) {
	v.built = true
	o := make(map[string]any, len(e.List))
	for _, entry := range e.List {
		entry := entry.(*syntax.DictEntry)
		key, err := v.eval(entry.Key)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("the name of a member must be a string, and this is of type %s", kindOf(key).word())
		}
		if o[name], err = v.eval(entry.Value); err != nil {
			return nil, err
		}
	}
	return o, v.spend(3 * costElement * len(e.List))
}

func (v *evaluation) comprehension(e *syntax.Comprehension) (any, error) {
	first := e.Clauses[0].(*syntax.ForClause)
	over, err := v.eval(first.X)
	if err != nil {
		return nil, err
	}
	list, ok := over.([]any)
	if o, is := over.(map[string]any); is {
		list, ok = names(o), true
	}
	if !ok {
		return nil, fmt.Errorf("a comprehension needs a list or an object, and this is of type %s", kindOf(over).word())
	}
	v.built, v.within, v.variable = true, true, first.Vars.(*syntax.Ident).Name
	defer func() { v.within = false }()
	values := []any{}
elements:
	for _, v.item = range list {
		for _, clause := range e.Clauses[1:] {
			cond, err := v.eval(clause.(*syntax.IfClause).Cond)
			if err != nil {
				return nil, err
			}
			if !truth(cond) {
				continue elements
			}
		}
		x, err := v.eval(e.Body)
		if err := errors.Join(err, v.spend(costElement)); err != nil {
			return nil, err
		}
		values = append(values, x)
	}
	return values, nil
}

// names are the names of an object's members, in order.
func names(o map[string]any) []any {
	list := make([]any, 0, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		list = append(list, name)
	}
	return list
}

func (v *evaluation) call(e *syntax.CallExpr) (any, error) {
	name, f, of, _ := called(e)
	exprs := e.Args
	if of != nil {
		exprs = append([]syntax.Expr{of}, exprs...)
	}
	args, err := v.all(exprs)
	if err != nil {
		return nil, err
	}
	kinds := make([]kind, len(args))
	for i, a := range args {
		kinds[i] = kindOf(a)
	}
	if err := f.fits(name, kinds); err != nil {
		return nil, err
	}
	value, err := f.call(v, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}
