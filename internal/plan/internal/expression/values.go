package expression

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Data is a value that expressions can refer to. It never changes.
type Data = starlark.Value

// Environment holds the values of the roots.
type Environment = map[string]Data

// Of converts a JSON value for expressions. Go integers are allowed too.
func Of(v any) Data {
	switch v := v.(type) {
	case Data:
		return v
	case bool:
		return starlark.Bool(v)
	case string:
		return starlark.String(v)
	case int:
		return starlark.MakeInt(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < most {
			return starlark.MakeInt(int(v))
		}
		return starlark.Float(v)
	case []any:
		all := make([]Data, len(v))
		for i, element := range v {
			all[i] = Of(element)
		}
		list := starlark.NewList(all)
		list.Freeze()
		return list
	case map[string]any:
		o := make(Record, len(v))
		for name, member := range v {
			o[name] = Of(member)
		}
		return o
	}
	return starlark.None
}

// most bounds integers: beyond it, numbers in JSON cannot represent every integer.
const most = 1 << 53

var errNumber = errors.New("the number is too large")

// Record is a JSON object. A missing member is None.
type Record map[string]Data

func (o Record) Type() string         { return "object" }
func (o Record) Freeze()              {}
func (o Record) Truth() starlark.Bool { return len(o) > 0 }
func (o Record) Hash() (uint32, error) {
	return 0, errors.New("an object cannot be the name of a member")
}
func (o Record) Len() int            { return len(o) }
func (o Record) AttrNames() []string { return slices.Sorted(maps.Keys(o)) }
func (o Record) String() string {
	return inText((&allowance{ctx: context.Background(), left: budget}).toJSON(o))
}

func (o Record) Iterate() starlark.Iterator {
	names := make([]Data, 0, len(o))
	for _, name := range o.AttrNames() {
		names = append(names, starlark.String(name))
	}
	return starlark.NewList(names).Iterate()
}

func (o Record) Attr(name string) (Data, error) {
	if v, ok := o[name]; ok {
		return v, nil
	}
	return starlark.None, nil
}

// Get implements starlark.Mapping. It finds a missing member too: None.
func (o Record) Get(name Data) (v Data, found bool, err error) {
	s, ok := starlark.AsString(name)
	if !ok {
		return nil, false, fmt.Errorf("a member is named by a string, and not by %s", name.Type())
	}
	if v, found = o[s]; !found {
		v = starlark.None
	}
	return v, true, nil
}

// Has implements the operator in.
func (o Record) Has(name Data) (bool, error) {
	s, _ := starlark.AsString(name)
	_, ok := o[s]
	return ok, nil
}

// Items returns the members.
func (o Record) Items() (all []starlark.Tuple) {
	for _, name := range o.AttrNames() {
		all = append(all, starlark.Tuple{starlark.String(name), o[name]})
	}
	return all
}

// CompareSameType compares two records by their texts.
func (o Record) CompareSameType(op syntax.Token, other Data, _ int) (bool, error) {
	if op != syntax.EQL && op != syntax.NEQ {
		return false, fmt.Errorf("cannot apply %s to objects", op)
	}
	return (o.String() == other.String()) == (op == syntax.EQL), nil
}

// TypeOf returns the JSON Schema type of a value.
func TypeOf(v any) string { return string(kindIn(Of(v))) }

// kindIn returns the kind of a value.
func kindIn(v Data) kind {
	switch v.(type) {
	case starlark.NoneType:
		return null
	case starlark.String:
		return Text
	case starlark.Bool:
		return Boolean
	case starlark.Int:
		return Integer
	case starlark.Float:
		return Number
	case starlark.IterableMapping:
		return Members
	case starlark.Sequence:
		return List
	}
	return Value
}

// toJSON converts a value to JSON. A value that is shared costs as often as JSON repeats it.
func (p *allowance) toJSON(v Data) any {
	if !p.pay(costNode) {
		return nil
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil
	case starlark.Bool:
		return bool(v)
	case starlark.String:
		p.pay(len(v))
		return strings.ToValidUTF8(string(v), "")
	case starlark.Int, starlark.Float:
		f, _ := starlark.AsFloat(v)
		switch {
		case math.IsInf(f, 0) || math.IsNaN(f):
			p.err = errNumber
		case f == math.Trunc(f) && math.Abs(f) < most:
			return int(f)
		}
		return f
	case starlark.IterableMapping: // an object, or a dict made by the expression
		o := make(map[string]any, starlark.Len(v))
		for _, item := range v.Items() {
			name, ok := starlark.AsString(item[0])
			if !ok && p.err == nil {
				p.err = fmt.Errorf("the name of a member must be a string, and this is of type %s", item[0].Type())
			}
			o[name] = p.toJSON(item[1])
		}
		return o
	case starlark.Sequence:
		all := []any{}
		for element := range starlark.Elements(v) {
			if all = append(all, p.toJSON(element)); p.err != nil {
				break
			}
		}
		return all
	}
	if p.err == nil {
		p.err = fmt.Errorf("%s is not a JSON value", v.Type())
	}
	return nil
}

// sum implements the function sum.
func sum(_ *starlark.Thread, f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Data, error) {
	var list starlark.Iterable
	if err := starlark.UnpackArgs(f.Name(), args, kwargs, "list", &list); err != nil {
		return nil, err
	}
	total, err := Data(starlark.MakeInt(0)), error(nil)
	for x := range starlark.Elements(list) {
		if !kindIn(x).numeric() {
			return nil, fmt.Errorf("sum: an element is of type %s", kindIn(x).word())
		}
		if total, err = starlark.Binary(syntax.PLUS, total, x); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// decode implements the function json.decode.
func decode(_ *starlark.Thread, f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Data, error) {
	var text string
	if err := starlark.UnpackArgs(f.Name(), args, kwargs, "x", &text); err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("json.decode: the text is not JSON: %w", err)
	}
	return Of(v), nil
}

// get implements the function get: it returns the value at a path such as deep.list.0, or the default if that is
// missing or None.
func get(_ *starlark.Thread, f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Data, error) {
	var value, otherwise Data = nil, starlark.None
	var path string
	if err := starlark.UnpackArgs(f.Name(), args, kwargs, "x", &value, "path", &path, "default?", &otherwise); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(path, ".") {
		switch of := value.(type) {
		case Record:
			value, _ = of.Attr(name)
		case *starlark.List:
			value = starlark.None
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < of.Len() {
				value = of.Index(i)
			}
		default:
			return otherwise, nil
		}
	}
	if value == starlark.None {
		return otherwise, nil
	}
	return value, nil
}
