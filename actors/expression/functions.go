package expression

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

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
