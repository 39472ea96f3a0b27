package surface

import "strings"

// impl reads the public items of "impl Type { ... }". What is implemented of a
// trait is the trait's.
func (r *rustFile) impl(item rustItem, at, to int, prefix string) int {
	body := r.tail(at, to)
	i := r.angles(at + 1)
	name := ""
	for ; i < body && !r.isOneOf(i, "where"); i++ {
		if r.is(i, "for") {
			return r.skip(body)
		}
		if next := r.angles(i); next > i {
			i = next - 1
			continue
		}
		if r.isWord(i) && !r.isOneOf(i, "dyn", "mut", "const", "crate", "self", "super") {
			name = r.rustName(i)
		}
	}
	if !r.is(body, "{") || name == "" || r.private[name] || strings.Contains(item.attributes, "cfg(test)") {
		return r.skip(body)
	}
	from, end := r.inside(body)
	for i = from; i < end && !r.full(); {
		i = max(r.associated(i, end, qualify(prefix, "::", name)), i+1)
	}
	return r.skip(body)
}

func (r *rustFile) associated(i, to int, owner string) int {
	item, at := r.begin(i)
	for r.isOneOf(at, "unsafe", "async", "default", "extern", "const") && !r.isConstant(at) {
		if at++; r.at(at).kind == literalToken {
			at++
		}
	}
	kind, end := Method, 0
	switch r.str(at) {
	case "fn":
		end = r.tail(at, to)
	case "const":
		kind, end = Constant, r.until(at, to, ";")
	case "type":
		kind, end = Type, r.until(at, to, ";")
	default:
		return r.skip(at)
	}
	if item.public {
		r.declare(owner+"::"+r.rustName(at+1), kind, item.start, end)
	}
	return r.skip(end)
}

// use adds the names of "pub use a::{b, c as d, e::*}".
func (r *rustFile) use(item rustItem, from, to int, prefix string, depth int) {
	if depth > deepestScope {
		return
	}
	for i := from; i < to && !r.full(); i++ {
		end := r.until(i, to, ",")
		r.useTree(item, i, end, prefix, depth)
		i = end
	}
}

func (r *rustFile) useTree(item rustItem, from, to int, prefix string, depth int) {
	if from >= to {
		return
	}
	last := to - 1
	if r.is(last, "}") {
		open := int(r.at(last).pair)
		if open >= from && open < last {
			r.use(item, open+1, last, prefix, depth+1)
		}
		return
	}
	name := r.rustName(last)
	if r.is(last-1, "#") {
		name = r.rustName(last - 2)
	}
	at := last
	kind := guess(name)
	switch {
	case name == "_" || name == "":
		return
	case name == "*":
		kind, name = Module, r.signature(from, to)
	case name == "self" && r.is(last-1, "{"):
		name, kind = r.rustName(last-3), Module
	case from == last && depth == 0:
		kind = Module
	}
	doc := ""
	if depth == 0 {
		doc = r.doc(item.start)
	}
	r.add(Symbol{
		Name: qualify(prefix, "::", name), Kind: kind, Signature: "pub use " + r.signature(from, to), Doc: doc,
		Line: int(r.at(at).line),
	})
}
