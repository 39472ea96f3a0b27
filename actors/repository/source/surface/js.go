package surface

import (
	"cmp"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

func javascript(ctx context.Context, text []byte) Outline { return jsModule(ctx, text, false) }

func typescript(ctx context.Context, text []byte) Outline { return jsModule(ctx, text, true) }

func jsModule(ctx context.Context, text []byte, typed bool) Outline {
	d := dialect{literal: (&jsLexer{}).literal, docs: docStyle{plain: true, text: javadoc}, attrs: decorator}
	s := d.source(ctx, text, 0)
	root := newScope(s, typed)
	root.read(0, len(s.tokens), 0)
	root.resolve()
	doc := s.fileDoc(func(i int) bool { return s.isOneOf(i, "import", `"use strict"`, `'use strict'`) || jsFileTag(s) })
	return Outline{Doc: doc, Symbols: s.symbols}
}

// jsFileTag tells whether the first comment says itself that it is the file's.
func jsFileTag(s *source) bool {
	if len(s.notes) == 0 {
		return false
	}
	text := s.comments(s.notes[:1])
	return prose.ContainsAny(text, "@file", "@module", "@packageDocumentation", "@overview")
}

// jsScope is a module or namespace. What it exports is known at its end alone:
// "export { a as b }" may precede or follow the declaration of a.
type jsScope struct {
	*source
	typed    bool
	ambient  bool // all is exported that has no other fate
	module   bool // the file has an import or export
	explicit bool // it exports by "export {...}" or "export ="
	prefix   string
	decls    []jsDecl
	names    map[string]int // declarations by name
	exports  []jsExport
	members  map[string][]jsMember // by object
}

// jsDecl is a declaration, exported or not.
type jsDecl struct {
	name     string
	as       string // the name that it is exported by; "" for its own
	kind     Kind
	sig      string
	from     int // the token that it begins with, its attributes included
	at       int // the token that its line is taken from
	body     int // the { of a class or namespace; 0 for none
	exported bool
	declared bool // it says "declare", or is a type
}

// jsExport exports a declaration of this module, or a name of another one.
type jsExport struct {
	local, name string
	from        string // the other module as written; "" for this one
	kind        Kind   // where the declaration is not found
	sig         string
	at          int
}

// jsMember is a function that is assigned to an object: object.name = ...
type jsMember struct {
	name, sig string
	at        int
}

func newScope(s *source, typed bool) *jsScope {
	return &jsScope{source: s, typed: typed, names: map[string]int{}, members: map[string][]jsMember{}}
}

func (j *jsScope) read(from, to, depth int) {
	for i := from; i < to && len(j.decls)+len(j.exports) < 4*MaxSymbols && !j.full(); {
		next := i
		start := i
		if j.is(i, "@") {
			i = j.attributes(i)
		}
		switch {
		case !j.isWord(i) || j.is(i-1, "."):
		case j.is(i, "export"):
			next = j.export(start, i, to, depth)
		case j.is(i, "import"):
			j.module = j.module || !j.is(i+1, "(")
		case j.begins(i, from):
			if next = j.declaration(start, i, to); next == i {
				next = j.commonJS(i, to)
			}
		}
		i = max(next, j.skip(i))
	}
}

// begins tells whether a statement may begin at token i.
func (j *jsScope) begins(i, from int) bool {
	if i == from || i == 0 {
		return true
	}
	switch j.at(i - 1).kind {
	case punctToken:
		return j.is(i-1, ";")
	case wordToken, numberToken, literalToken:
		return j.breaks(i)
	}
	return true
}

func (j *jsScope) keep(d jsDecl) {
	if d.name != "" {
		if _, ok := j.names[d.name]; !ok || d.exported || d.declared {
			j.names[d.name] = len(j.decls)
		}
	}
	j.decls = append(j.decls, d)
}

// resolve adds what the scope exports.
func (j *jsScope) resolve() {
	exported := map[int]bool{}
	for i, d := range j.decls {
		isAmbient := j.ambient && !j.explicit || j.typed && !j.module && j.prefix == "" && d.declared
		if d.exported || isAmbient {
			exported[i] = true
			j.symbol(d, cmp.Or(d.as, d.name))
		}
	}
	for _, e := range j.exports {
		j.exportOf(e, exported)
	}
}

func (j *jsScope) exportOf(e jsExport, done map[int]bool) {
	i, ok := j.names[e.local]
	if !ok || e.from != "" {
		j.add(Symbol{Name: qualify(j.prefix, ".", e.name), Kind: e.kind, Signature: e.sig, Doc: j.doc(e.at),
			Line: int(j.at(e.at).line)})
		return
	}
	if done[i] && e.name == j.decls[i].name {
		return
	}
	j.symbol(j.decls[i], e.name)
	done[i] = true
}

// symbol adds a declaration and its members.
func (j *jsScope) symbol(d jsDecl, name string) {
	if j.full() || j.isInternal(d.from) {
		return
	}
	full := qualify(j.prefix, ".", name)
	j.add(Symbol{Name: full, Kind: d.kind, Signature: d.sig, Doc: j.doc(d.from), Line: int(j.at(d.at).line)})
	switch {
	case d.kind == Module && d.body > 0:
		j.namespace(d.body, full)
	case d.kind == Type && d.body > 0:
		j.class(d.body, full)
	}
	for _, m := range j.members[d.name] {
		if !j.isInternal(m.at) {
			j.add(Symbol{Name: full + "." + m.name, Kind: Method, Signature: m.sig, Doc: j.doc(m.at),
				Line: int(j.at(m.at).line)})
		}
	}
}

func (j *jsScope) namespace(body int, name string) {
	from, to := j.inside(body)
	if strings.Count(name, ".") >= deepestScope || !j.mayExpand(to-from) {
		return
	}
	inner := newScope(j.source, j.typed)
	inner.module, inner.ambient, inner.prefix = true, j.typed, name
	inner.read(from, to, 1)
	if !j.ambientBody(body) {
		inner.ambient = false
	}
	inner.resolve()
}

// ambientBody tells whether the namespace is declared only: without an export of its own everything in it is
// exported.
func (j *jsScope) ambientBody(body int) bool {
	for i := body; i >= 0 && i > body-8; i-- {
		if j.is(i, "declare") {
			return true
		}
	}
	return j.ambient
}
