package literal

import (
	"strconv"
)

func truthy(v any) bool {
	switch v := v.(type) {
	case nil, Unknown:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	return true
}

// show returns a scalar as the text that a program would add to another.
func show(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

var precedence = map[string]int{
	"??": 1, "||": 1, "or": 1, "&&": 2, "===": 3, "!==": 3, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "in": 4, "instanceof": 4,
	"+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "**": 6,
}

func combine(operator string, a, b any) any {
	known := !isUnknown(a) && !isUnknown(b)
	switch {
	case (operator == "||" || operator == "or") && truthy(a), operator == "??" && a != nil && !isUnknown(a):
		return a
	case operator == "||", operator == "or", operator == "??":
		if isUnknown(b) {
			return a
		}
		return b
	case operator == "&&" && known:
		if truthy(a) {
			return b
		}
		return a
	case operator == "+" && known:
		return add(a, b)
	}
	return unknown(operator)
}

func add(a, b any) any {
	if isList(a) && isList(b) { // in Python
		return flat([]any{a, b})
	}
	x, ok := a.(float64)
	y, also := b.(float64)
	if ok && also {
		return x + y
	}
	s, ok := show(a)
	t, also := show(b)
	if ok && also && len(s)+len(t) <= maxText {
		return s + t
	}
	return unknown("+")
}

func negate(operator string, v any) any {
	if operator == "!" && !isUnknown(v) {
		return !truthy(v)
	}
	return unknown(operator)
}

func member(v any, name string) any {
	if o, ok := v.(*Object); ok {
		if v, ok := o.values[name]; ok {
			return v
		}
		if name == "default" {
			return v
		}
	}
	return unknown(name)
}

func index(v, key any) any {
	name, _ := show(key)
	if n, err := strconv.Atoi(name); err == nil && isList(v) && n >= 0 && n < len(v.([]any)) {
		return v.([]any)[n]
	}
	return member(v, name)
}
