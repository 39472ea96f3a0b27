package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// function is a function, or a method whose first argument is the value that it is of.
type function struct {
	takes [][]kind // what each argument may be; nil for anything
	least int      // the fewest arguments
	gives kind
	call  func(v *evaluation, args []any) (any, error)
}

// fits holds the arguments to what the function takes.
func (f function) fits(name string, kinds []kind) error {
	if len(kinds) < f.least || len(kinds) > len(f.takes) {
		return fmt.Errorf("%s has too few or too many arguments", name)
	}
	for i, k := range kinds {
		numbers := k == Integer && slices.Contains(f.takes[i], Number)
		if k != Value && f.takes[i] != nil && !numbers && !slices.Contains(f.takes[i], k) {
			return fmt.Errorf("%s takes no value of type %s here", name, k)
		}
	}
	return nil
}

var (
	anything []kind
	text     = []kind{Text}
	list     = []kind{List}
	scalar   = []kind{Text, Number}
)

// functions are the functions that expressions may call. None of them multiplies its operands.
var functions = map[string]function{
	"all":   {[][]kind{list}, 1, Boolean, func(_ *evaluation, a []any) (any, error) { return !has(a[0], false), nil }},
	"any":   {[][]kind{list}, 1, Boolean, func(_ *evaluation, a []any) (any, error) { return has(a[0], true), nil }},
	"len":   {[][]kind{{Text, List, Members}}, 1, Integer, length},
	"max":   {[][]kind{list}, 1, Value, func(v *evaluation, a []any) (any, error) { return v.extreme(a[0], 1) }},
	"min":   {[][]kind{list}, 1, Value, func(v *evaluation, a []any) (any, error) { return v.extreme(a[0], -1) }},
	"sum":   {[][]kind{list}, 1, Value, sum},
	"int":   {[][]kind{scalar}, 1, Integer, toInteger},
	"float": {[][]kind{scalar}, 1, Number, toFloat},
	"round": {[][]kind{{Number}}, 1, Integer, func(_ *evaluation, a []any) (any, error) {
		return bounded(math.RoundToEven(float(a[0])))
	}},
	"str":         encoder(inText),
	"json.encode": encoder(asJSON),
	"json.decode": {[][]kind{text}, 1, Value, decode},
	"get":         {[][]kind{anything, text, anything}, 2, Value, get},
	"sorted":      {[][]kind{list}, 1, List, sorted},
}

// methods are the methods of texts.
var methods = map[string]function{
	"lower":        built(strings.ToLower),
	"upper":        built(strings.ToUpper),
	"strip":        built(strings.TrimSpace),
	"startswith":   asked(Boolean, func(s, x string) any { return strings.HasPrefix(s, x) }),
	"endswith":     asked(Boolean, func(s, x string) any { return strings.HasSuffix(s, x) }),
	"removeprefix": asked(Text, func(s, x string) any { return strings.TrimPrefix(s, x) }),
	"removesuffix": asked(Text, func(s, x string) any { return strings.TrimSuffix(s, x) }),
	"find":         asked(Integer, func(s, x string) any { return strings.Index(s, x) }),
	"split":        {[][]kind{text, text}, 2, List, split},
	"replace":      {[][]kind{text, text, text}, 3, Text, replace},
	"join":         {[][]kind{text, list}, 2, Text, join},
}

// built is a method that makes a text of its own from a text.
func built(f func(string) string) function {
	return function{[][]kind{text}, 1, Text, func(v *evaluation, a []any) (any, error) {
		return f(a[0].(string)), v.spend(len(a[0].(string)))
	}}
}

// asked is a method that asks a text about another.
func asked(gives kind, f func(s, x string) any) function {
	return function{[][]kind{text, text}, 2, gives, func(v *evaluation, a []any) (any, error) {
		return f(a[0].(string), a[1].(string)), v.spend(len(a[0].(string)) / 8)
	}}
}

// has reports whether an element means what is wanted as a condition.
func has(list any, wanted bool) bool {
	return slices.ContainsFunc(list.([]any), func(x any) bool { return truth(x) == wanted })
}

func length(_ *evaluation, a []any) (any, error) {
	switch x := a[0].(type) {
	case string:
		return len(x), nil
	case []any:
		return len(x), nil
	}
	return len(a[0].(map[string]any)), nil
}

// extreme is the greatest element or, by the sign, the least.
func (v *evaluation) extreme(list any, sign int) (any, error) {
	all := list.([]any)
	if len(all) == 0 {
		return nil, errors.New("the list is empty")
	}
	found := all[0]
	for _, x := range all[1:] {
		order, err := v.order(x, found)
		if err != nil {
			return nil, err
		}
		if order*sign > 0 {
			found = x
		}
	}
	return found, nil
}

func sum(v *evaluation, a []any) (any, error) {
	var total any = 0
	for _, x := range a[0].([]any) {
		if k := kindOf(x); !k.numeric() {
			return nil, fmt.Errorf("an element is of type %s", k.word())
		}
		var err error
		if total, err = arithmetic(syntax.PLUS, total, x); err != nil {
			return nil, err
		}
	}
	return total, v.spend(len(a[0].([]any)))
}

func sorted(v *evaluation, a []any) (any, error) {
	if err := v.spend(costElement * len(a[0].([]any))); err != nil {
		return nil, err
	}
	all, failed := slices.Clone(a[0].([]any)), error(nil)
	slices.SortStableFunc(all, func(x, y any) int {
		if failed != nil {
			return 0
		}
		order, err := v.order(x, y)
		failed = err
		return order
	})
	return all, failed
}

func bounded(f float64) (any, error) {
	if math.Abs(f) < most {
		return int(f), nil
	}
	return nil, errors.New("the number is too large")
}

func toInteger(_ *evaluation, a []any) (any, error) {
	s, ok := a[0].(string)
	if !ok {
		return bounded(math.Trunc(float(a[0])))
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return nil, fmt.Errorf("%.40q is no integer", s)
	}
	return bounded(float64(n))
}

func toFloat(_ *evaluation, a []any) (any, error) {
	s, ok := a[0].(string)
	if !ok {
		return float(a[0]), nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("%.40q is no number", s)
	}
	return f, nil
}

func asJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// encoder is a function that makes a text of any value.
func encoder(form func(any) (string, error)) function {
	return function{[][]kind{anything}, 1, Text, func(v *evaluation, a []any) (any, error) {
		if err := v.measure(a[0]); err != nil {
			return nil, err
		}
		s, err := form(a[0])
		return s, errors.Join(err, v.spend(len(s)))
	}}
}

func decode(v *evaluation, a []any) (value any, err error) {
	s := a[0].(string)
	if err := v.spend(4 * len(s)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(s), &value); err != nil {
		return nil, fmt.Errorf("the text is not JSON: %w", err)
	}
	return value, nil
}

// get is what a path such as deep.list.0 leads to, or the default where there is nothing or None.
func get(v *evaluation, a []any) (any, error) {
	value := a[0]
	for name := range strings.SplitSeq(a[1].(string), ".") {
		switch of := value.(type) {
		case map[string]any:
			value = of[name]
		case []any:
			value = nil
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(of) {
				value = of[i]
			}
		default:
			value = nil
		}
	}
	if value == nil && len(a) == 3 {
		return a[2], nil
	}
	return value, v.spend(len(a[1].(string)))
}

func split(v *evaluation, a []any) (any, error) {
	s, separator := a[0].(string), a[1].(string)
	if separator == "" {
		return nil, errors.New("the separator is empty")
	}
	if err := v.spend(len(s)/8 + costElement*(strings.Count(s, separator)+1)); err != nil {
		return nil, err
	}
	all := []any{}
	for piece := range strings.SplitSeq(s, separator) {
		all = append(all, piece)
	}
	return all, nil
}

func replace(v *evaluation, a []any) (any, error) {
	s, old, by := a[0].(string), a[1].(string), a[2].(string)
	if err := v.spend(len(s) + strings.Count(s, old)*len(by)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, old, by), nil
}

func join(v *evaluation, a []any) (any, error) {
	all := make([]string, len(a[1].([]any)))
	for i, x := range a[1].([]any) {
		s, ok := x.(string)
		if !ok {
			return nil, fmt.Errorf("element %d is of type %s; write str(…)", i, kindOf(x).word())
		}
		all[i] = s
		if err := v.spend(costElement + len(s) + len(a[0].(string))); err != nil {
			return nil, err
		}
	}
	return strings.Join(all, a[0].(string)), nil
}
