package rust

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// impl reads the public items of "impl Type { ... }". What is implemented of a trait is the trait's.
func (r *rustFile) impl(item rustItem, at, to int, prefix string) int {
	body := r.tail(at, to)
	i := r.Angles(at + 1)
	name := ""
	for ; i < body && !r.IsOneOf(i, "where"); i++ {
		if r.Is(i, "for") {
			return r.Skip(body)
		}
		if next := r.Angles(i); next > i {
			i = next - 1
			continue
		}
		if r.IsWord(i) && !r.IsOneOf(i, "dyn", "mut", "const", "crate", "self", "super") {
			name = r.rustName(i)
		}
	}
	if !r.Is(body, "{") || name == "" || r.private[name] || strings.Contains(item.attributes, "cfg(test)") {
		return r.Skip(body)
	}
	from, end := r.Inside(body)
	owner := surface.Qualify(prefix, "::", name)
	r.Each(from, end, func(i int) int { return r.associated(i, end, owner) })
	return r.Skip(body)
}

func (r *rustFile) associated(i, to int, owner string) int {
	item, at := r.begin(i)
	kind, end := surface.Method, 0
	switch r.Str(at) {
	case "fn":
		end = r.tail(at, to)
	case "const":
		kind, end = surface.Constant, r.Until(at, to, ";")
	case "type":
		kind, end = surface.Type, r.Until(at, to, ";")
	default:
		return r.Skip(at)
	}
	if item.public {
		r.Declare(owner+"::"+r.rustName(at+1), kind, item.start, end)
	}
	return r.Skip(end)
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
	if u.depth > brace.DeepestScope {
		return
	}
	r.EachPart(from, to, func(i, end int) { r.useTree(u, i, end) })
}

func (r *rustFile) useTree(u rustUse, from, to int) {
	last := to - 1
	if r.Is(last, "}") {
		if open := int(r.At(last).Pair); open >= from && open < last {
			u.path += r.Signature(from, open)
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
		doc = r.Doc(u.start)
	}
	r.Keep(surface.Qualify(u.prefix, "::", name), kind, "pub use "+u.path+r.Signature(from, to), doc, last)
}

// used is the name that the tokens up to the last one give to what they use.
func (r *rustFile) used(u rustUse, from, last int) (name string, kind surface.Kind) {
	name = r.Str(last)
	switch {
	case name == "*":
		return u.path + r.Signature(from, last+1), surface.Module
	case name == "self":
		path := strings.TrimSuffix(u.path, "::")
		return path[strings.LastIndexByte(path, ':')+1:], surface.Module
	case from == last && u.depth == 0:
		return name, surface.Module
	}
	return name, brace.Guess(name)
}
