package surface

import "strings"

// impl reads the public items of "impl Type { ... }". What is implemented of a trait is the trait's.
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

// rustUse is one "pub use": where it stands, and the path around the names that are read.
type rustUse struct {
	start  int
	prefix string // of the module that it stands in
	path   string
	depth  int
}

// use adds the names of "a::{b, c as d, e::*}".
func (r *rustFile) use(u rustUse, from, to int) {
	if u.depth > deepestScope {
		return
	}
	for i := from; i < to && !r.full(); i++ {
		end := r.until(i, to, ",")
		if i < end {
			r.useTree(u, i, end)
		}
		i = end
	}
}

func (r *rustFile) useTree(u rustUse, from, to int) {
	last := to - 1
	if r.is(last, "}") {
		if open := int(r.at(last).pair); open >= from && open < last {
			u.path += r.signature(from, open)
			u.depth++
			r.use(u, open+1, last)
		}
		return
	}
	name, kind := r.used(u, from, last)
	if name == "_" || name == "" {
		return
	}
	doc := ""
	if u.depth == 0 {
		doc = r.doc(u.start)
	}
	r.add(Symbol{Name: qualify(u.prefix, "::", name), Kind: kind, Signature: "pub use " + u.path + r.signature(from,
		to), Doc: doc, Line: int(r.at(last).line)})
}

// used is the name that the tokens up to the last one give to what they use.
func (r *rustFile) used(u rustUse, from, last int) (name string, kind Kind) {
	name = r.str(last)
	switch {
	case name == "*":
		return u.path + r.signature(from, last+1), Module
	case name == "self":
		path := strings.TrimSuffix(u.path, "::")
		return path[strings.LastIndexByte(path, ':')+1:], Module
	case from == last && u.depth == 0:
		return name, Module
	}
	return name, guess(name)
}
