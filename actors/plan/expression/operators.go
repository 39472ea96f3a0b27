package expression

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"go.starlark.net/syntax"
)

// most bounds integers: beyond it a number of JSON has no place for each of them.
const most = 1 << 53

func (v *evaluation) binary(e *syntax.BinaryExpr) (any, error) {
	x, err := v.eval(e.X)
	if err != nil {
		return nil, err
	}
	if e.Op == syntax.AND && !truth(x) || e.Op == syntax.OR && truth(x) {
		return x, nil
	}
	y, err := v.eval(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case syntax.AND, syntax.OR:
		return y, nil
	case syntax.EQL, syntax.NEQ: // whose values may have any type
		same, err := v.equal(x, y)
		return same == (e.Op == syntax.EQL), err
	}
	if _, ok := operate(e.Op, kindOf(x), kindOf(y)); !ok {
		return nil, mismatch(e.Op, kindOf(x), kindOf(y))
	}
	switch e.Op {
	case syntax.IN, syntax.NOT_IN:
		is, err := v.contains(y, x)
		return is == (e.Op == syntax.IN), err
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		order, err := v.order(x, y)
		return e.Op == syntax.LT && order < 0 || e.Op == syntax.LE && order <= 0 ||
			e.Op == syntax.GT && order > 0 || e.Op == syntax.GE && order >= 0, err
	}
	switch x := x.(type) {
	case string:
		if err := v.spend(len(x) + len(y.(string))); err != nil {
			return nil, err
		}
		return x + y.(string), nil
	case []any:
		if err := v.spend(costElement * (len(x) + len(y.([]any)))); err != nil {
			return nil, err
		}
		v.built = true
		return append(x[:len(x):len(x)], y.([]any)...), nil
	}
	return arithmetic(e.Op, x, y)
}

// truth is what a value means as a condition.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return !kindOf(v).numeric() || float(v) != 0
}

// float is a number as a float64.
func float(v any) float64 {
	if n, ok := v.(int); ok {
		return float64(n)
	}
	return v.(float64)
}

// arithmetic calculates with two numbers. Integers are exact as floats.
func arithmetic(op syntax.Token, x, y any) (any, error) {
	a, b := float(x), float(y)
	if b == 0 && (op == syntax.SLASH || op == syntax.SLASHSLASH || op == syntax.PERCENT) {
		return nil, errors.New("division by zero")
	}
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b // it has the sign of b
	}
	var result float64
	switch op {
	case syntax.PLUS:
		result = a + b
	case syntax.MINUS:
		result = a - b
	case syntax.STAR:
		result = a * b
	case syntax.SLASH:
		result = a / b
	case syntax.SLASHSLASH:
		result = math.Floor((a - rest) / b)
	case syntax.PERCENT:
		result = rest
	}
	if math.IsInf(result, 0) || math.IsNaN(result) {
		return nil, errors.New("the number is too large")
	}
	if kindOf(x) == Integer && kindOf(y) == Integer && op != syntax.SLASH && math.Abs(result) < most {
		return int(result), nil
	}
	return result, nil
}

// order compares two texts or two numbers.
func (v *evaluation) order(x, y any) (int, error) {
	a, text := x.(string)
	b, both := y.(string)
	if text && both {
		return cmp.Compare(a, b), v.spend(costNode + min(len(a), len(b))/16)
	}
	if _, ok := operate(syntax.LT, kindOf(x), kindOf(y)); !ok {
		return 0, mismatch(syntax.LT, kindOf(x), kindOf(y))
	}
	return cmp.Compare(float(x), float(y)), v.spend(costNode)
}

func (v *evaluation) equal(x, y any) (bool, error) {
	if err := v.spend(costNode); err != nil {
		return false, err
	}
	a, b := kindOf(x), kindOf(y)
	switch {
	case a.numeric() && b.numeric():
		return float(x) == float(y), nil
	case a != b:
		return false, nil
	}
	switch x := x.(type) {
	case nil:
		return true, nil
	case bool:
		return x == y.(bool), nil
	case string:
		return x == y.(string), v.spend(min(len(x), len(y.(string))) / 16)
	case []any:
		y := y.([]any)
		if len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := v.equal(x[i], y[i]); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		y := y.(map[string]any)
		if len(x) != len(y) {
			return false, nil
		}
		for name := range x {
			other, ok := y[name]
			if !ok {
				return false, nil
			}
			if same, err := v.equal(x[name], other); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	return false, mismatch(syntax.EQL, a, b)
}

func (v *evaluation) contains(of, x any) (bool, error) {
	switch of := of.(type) {
	case string:
		return strings.Contains(of, x.(string)), v.spend(len(of) / 8)
	case map[string]any:
		_, ok := of[x.(string)]
		return ok, nil
	}
	for _, element := range of.([]any) {
		if same, err := v.equal(element, x); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// measure spends what the value takes as JSON.
func (v *evaluation) measure(value any) error {
	cost := costNode
	if s, ok := value.(string); ok {
		cost += len(s)
	}
	if err := v.spend(cost); err != nil {
		return err
	}
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if err := v.measure(element); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, element := range value {
			if err := v.spend(len(name)); err != nil {
				return err
			}
			if err := v.measure(element); err != nil {
				return err
			}
		}
	}
	return nil
}
