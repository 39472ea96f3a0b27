package ruby

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

func (r *rubyFile) statement(l rubyLine) {
	keyword := surface.Identifier(l.code)
	rest := strings.TrimLeft(l.code[len(keyword):], " \t")
	switch keyword {
	case "module", "class":
		r.container(l, keyword, rest)
	case "def":
		r.def(l, rest, r.Block().private)
	case "private", "protected", "public", "module_function", "private_class_method", "public_class_method",
		"private_constant":
		r.visibility(l, keyword, rest)
	case "attr_reader", "attr_accessor", "attr_writer", "attr":
		r.attributes(l, rest)
	case "alias_method", "alias":
		if fields := strings.FieldsFunc(rest, func(c rune) bool { return c == ',' || c == ' ' }); len(fields) > 1 {
			r.method(l, *r.Block(), rubyName(fields[0]), surface.Joined(l.code), r.Block().private)
		}
	case "if", "unless", "while", "until", "case", "begin", "for", "return", "require", "include", "":
	default:
		if first := keyword[0]; 'A' <= first && first <= 'Z' {
			r.constant(l, keyword, rest)
		}
	}
}

func (r *rubyFile) hides(l rubyLine) bool {
	return r.stopped || r.Block().hidden || strings.Contains(l.text[len(l.code):], ":nodoc:") ||
		strings.Contains(l.doc, "@private") || strings.Contains(l.doc, "@api private") ||
		strings.Contains(l.doc, ":nodoc:")
}

func (r *rubyFile) add(l rubyLine, name string, kind surface.Kind, signature string) {
	if r.hides(l) || name == "" {
		return
	}
	doc := surface.Summary(rdoc(l.doc))
	if i, ok := r.at[name]; ok {
		r.symbols[i].Doc = cmp.Or(r.symbols[i].Doc, doc)
		return
	}
	r.at[name] = len(r.symbols)
	r.symbols = append(r.symbols, surface.Symbol{Name: name, Kind: kind, Signature: signature, Doc: doc,
		Line: l.number})
}

// hide takes back a symbol that turns out to be private.
func (r *rubyFile) hide(name string) {
	if i, ok := r.at[name]; ok {
		r.symbols[i].Name = ""
		delete(r.at, name)
	}
}

func (r *rubyFile) container(l rubyLine, keyword, rest string) {
	if strings.HasPrefix(rest, "<<") {
		outer := r.Block()
		r.Open(l.column, rubyScope{path: outer.path, single: true, hidden: outer.hidden})
		return
	}
	path := surface.ConstantPath(rest, ":")
	if path == "" {
		return
	}
	name := strings.TrimPrefix(path, "::")
	if outer := r.Block().path; outer != "" && name == path {
		name = outer + "::" + name
	}
	kind, signature := surface.Module, "module "+path
	if keyword == "class" {
		kind, signature = surface.Type, "class "+path
		if parent, ok := strings.CutPrefix(strings.TrimLeft(rest[len(path):], " "), "<"); ok {
			signature += " < " + surface.ConstantPath(strings.TrimLeft(parent, " "), ":")
		}
	}
	hidden := r.hides(l)
	r.add(l, name, kind, strings.TrimSuffix(signature, " < "))
	if !endsHere(l.code) {
		r.Open(l.column, rubyScope{path: name, hidden: hidden})
	}
}

// def takes a method whose definition begins with rest.
func (r *rubyFile) def(l rubyLine, rest string, private bool) {
	own, scope := false, *r.Block()
	owner := scope.path[strings.LastIndexByte(scope.path, ':')+1:]
	for _, receiver := range []string{"self.", owner + ".", owner + "::"} {
		if after, ok := strings.CutPrefix(rest, receiver); ok && (owner != "" || receiver == "self.") {
			rest, own, private = after, true, false
		}
	}
	name := rubyMethod(rest)
	if name == "" {
		return
	}
	signature := "def "
	if own {
		signature += "self."
	}
	arguments, endless := r.arguments(rest[len(name):])
	if !endless && !endsHere(l.code) {
		r.Open(l.column, rubyScope{path: scope.path, body: true})
	}
	signature += name + arguments
	scope.single = scope.single || own || scope.module
	if name == "initialize" && scope.path != "" && !scope.single {
		r.add(l, scope.path+".new", surface.Method, signature)
		return
	}
	r.method(l, scope, name, signature, private)
}

func (r *rubyFile) method(l rubyLine, scope rubyScope, name, signature string, private bool) {
	kind := surface.Method
	if scope.path == "" {
		kind = surface.Function
	}
	if !private && name != "" {
		r.add(l, scope.member(name), kind, signature)
	}
}

// member is how the name of a method is written.
func (s rubyScope) member(name string) string {
	if s.single {
		return surface.Qualify(s.path, ".", name)
	}
	return surface.Qualify(s.path, "#", name)
}

// visibility heeds "private" alone, before names and before a definition.
func (r *rubyFile) visibility(l rubyLine, keyword, rest string) {
	hides := keyword != "public" && keyword != "module_function" && keyword != "public_class_method"
	scope := r.Block()
	rest = strings.Trim(rest, "()")
	if after, ok := surface.AfterKeyword(rest, "def"); ok {
		if keyword == "module_function" {
			after = "self." + after
		}
		r.def(l, after, hides)
		return
	}
	if rest == "" {
		scope.private, scope.module = hides, keyword == "module_function"
		return
	}
	if strings.HasPrefix(rest, "attr") || !hides {
		return
	}
	owner := *scope
	owner.single = scope.single || keyword == "private_class_method"
	for name := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ',' || c == ' ' }) {
		if name = rubyName(name); keyword == "private_constant" {
			r.hide(surface.Qualify(scope.path, "::", name))
		} else {
			r.hide(owner.member(name))
		}
	}
}

func (r *rubyFile) attributes(l rubyLine, rest string) {
	scope := r.Block()
	if scope.private || scope.path == "" {
		return
	}
	for name := range strings.SplitSeq(strings.Trim(rest, "()"), ",") {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, ":") {
			keyword := surface.Identifier(l.code)
			r.add(l, scope.member(rubyName(name)), surface.Variable, keyword+" "+name)
		}
	}
}

func (r *rubyFile) constant(l rubyLine, name, rest string) {
	value, ok := strings.CutPrefix(rest, "=")
	if !ok || prose.StartsWithAny(value, "=", "~", ">") {
		return
	}
	kind := surface.Constant
	if prose.StartsWithAny(strings.TrimLeft(value, " "), "Struct.new", "Class.new", "Data.define", "Module.new") {
		kind = surface.Type
	}
	path, signature := surface.Qualify(r.Block().path, "::", name), surface.Joined(l.code)
	signature = strings.TrimSuffix(signature, " do")
	for _, pair := range []string{"{}", "[]", "()"} {
		if strings.HasSuffix(signature, pair[:1]) {
			signature += "…" + pair[1:]
		}
	}
	r.add(l, path, kind, signature)
	if kind == surface.Type && (strings.HasSuffix(l.code, " do") || strings.Contains(l.code, " do |")) {
		r.Open(l.column, rubyScope{path: path})
	}
}
