package literal

import (
	"iter"
	"slices"
)

// A value is nil, a bool, float64, string, []any, *Object or Unknown.

// Unknown is a value that only a program can compute.
type Unknown struct {
	Name string // of the function, variable or construct
	Args []any  // of the call
}

// Object is an object with its keys in the order of the text. The key "..." holds an unknown part.
type Object struct {
	keys   []string
	values map[string]any
}

// All returns the keys with their values, in order.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, k := range o.keys {
			if !yield(k, o.values[k]) {
				return
			}
		}
	}
}

func (o *Object) set(key string, v any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	if o.values == nil {
		o.values = make(map[string]any)
	}
	o.values[key] = v
}

// merge sets all that another object has.
func (o *Object) merge(v any) {
	other, ok := v.(*Object)
	if !ok {
		o.set("...", unknown("spread"))
		return
	}
	for k, v := range other.All() {
		o.set(k, v)
	}
}

// Get returns a value inside of objects, and nil if there is none.
func Get(v any, path ...string) any {
	for _, key := range path {
		o, _ := v.(*Object)
		if o == nil {
			return nil
		}
		v = o.values[key]
	}
	return v
}

func unknown(why string) any { return Unknown{Name: why} }

func isUnknown(v any) bool {
	_, ok := v.(Unknown)
	return ok
}

const (
	maxValues = 200_000
	maxNested = 64
)

// copied returns a value as a separate tree within the bounds of size. What lies beyond is Unknown.
func copied(v any, left *int, depth int) any {
	if *left--; *left < 0 || depth > maxNested {
		return unknown("too large")
	}
	switch v := v.(type) {
	case []any:
		return copiedList(v, left, depth)
	case Unknown:
		return Unknown{Name: v.Name, Args: copiedList(v.Args, left, depth)}
	case *Object:
		o := &Object{keys: slices.Clone(v.keys), values: make(map[string]any, len(v.keys))}
		for k, x := range v.All() {
			o.values[k] = copied(x, left, depth+1)
		}
		return o
	case *function:
		return unknown("function")
	}
	return v
}

func copiedList(list []any, left *int, depth int) []any {
	list = slices.Clone(list[:min(len(list), max(*left, 0))])
	for i := range list {
		list[i] = copied(list[i], left, depth+1)
	}
	return list
}
