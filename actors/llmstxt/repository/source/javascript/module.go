package javascript

import (
	"cmp"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// JavaScript and TypeScript are read alike.
var (
	JavaScript = script("JavaScript", false)
	TypeScript = script("TypeScript", true)
)

func script(name string, typed bool) language.Language {
	return language.Language{Name: name, Imports: Imports, Reexports: reexports, Code: language.WithoutComments,
		Note: language.BlockNote, Folders: folders, Family: "script", Ecosystems: []string{"npm", "deno", "jsr"},
		Outline: func(ctx context.Context, text []byte) surface.Outline { return jsModule(ctx, text, typed) },
		Tests: []string{"from 'vitest'", "from \"vitest\"", "from '@jest", "from \"@jest", "from 'node:test'",
			"require('node:test')", "require('tap')", "require(\"chai\")", "require('chai')", "\ndescribe("}}
}

func jsModule(ctx context.Context, text []byte, typed bool) surface.Outline {
	d := brace.Dialect{Literal: (&jsLexer{}).literal, Docs: brace.DocStyle{Plain: true, Text: brace.Javadoc},
		Attrs: brace.Decorator}
	s := d.Read(ctx, text, 0)
	root := newScope(s, typed)
	root.read(0, len(s.Tokens))
	root.resolve()
	return surface.Outline{Symbols: s.Symbols}
}

// jsScope is a module or namespace. What it exports is known at its end alone:
// "export { a as b }" may precede or follow the declaration of a.
type jsScope struct {
	*brace.File
	typed    bool
	ambient  bool // all is exported that has no other fate
	module   bool // the file has an import or export
	explicit bool // it exports by "export {...}" or "export ="
	prefix   string
	decls    []jsDecl
	names    map[string]int // declarations by name
	exports  []jsExport
	members  map[string][]jsExport // functions that are assigned to an object, as in object.name = ...
}

// jsDecl is a declaration, exported or not.
type jsDecl struct {
	name string
	as   string // the name that it is exported by, if it has none
	kind surface.Kind
	sig  string
	from int // the token that it begins with, its attributes included
	head int // the token that its signature begins with
	at   int // its keyword, or the token that its line is taken from
	body int // the { of a class or namespace; 0 for none

	exported, isDeclared bool // it says "export"; it says "declare", or is a type
}

// jsExport exports a declaration of this module, or a name of another one.
type jsExport struct {
	local, name string
	from        string       // the other module as written; "" for this one
	kind        surface.Kind // where the declaration is not found
	sig         string
	at          int
}

func newScope(s *brace.File, typed bool) *jsScope {
	return &jsScope{File: s, typed: typed, names: map[string]int{}, members: map[string][]jsExport{}}
}

func (j *jsScope) read(from, to int) {
	for i := from; i < to && len(j.decls)+len(j.exports) < 4*surface.MaxSymbols && !j.Full(); {
		next := i
		start := i
		if j.Is(i, "@") {
			i = j.Attributes(i)
		}
		switch {
		case !j.IsWord(i) || j.Is(i-1, "."):
		case j.Is(i, "export"):
			next = j.export(start, i, to)
		case j.Is(i, "import"):
			j.module = j.module || !j.Is(i+1, "(")
		case j.begins(i, from):
			if next = j.declare(jsDecl{from: start}, i, to); next == i {
				next = j.commonJS(i, to)
			}
		}
		i = max(next, j.Skip(i))
	}
}

// begins tells whether a statement may begin at token i.
func (j *jsScope) begins(i, from int) bool {
	if i == from || i == 0 {
		return true
	}
	switch j.At(i - 1).Kind {
	case brace.PunctToken:
		return j.Is(i-1, ";")
	case brace.WordToken, brace.NumberToken, brace.LiteralToken:
		return j.Breaks(i)
	}
	return true
}

// declared keeps a declaration whose signature runs up to token "to".
func (j *jsScope) declared(d jsDecl, kind surface.Kind, to int) {
	d.kind, d.sig = kind, j.Signature(d.head, to)
	j.keep(d)
}

func (j *jsScope) keep(d jsDecl) {
	if d.name != "" {
		if _, ok := j.names[d.name]; !ok || d.exported || d.isDeclared {
			j.names[d.name] = len(j.decls)
		}
	}
	j.decls = append(j.decls, d)
}

// resolve adds what the scope exports.
func (j *jsScope) resolve() {
	exported := map[int]bool{}
	for i, d := range j.decls {
		isAmbient := j.ambient && !j.explicit || j.typed && !j.module && j.prefix == "" && d.isDeclared
		if d.exported || isAmbient {
			exported[i] = true
			j.symbol(d, cmp.Or(d.name, d.as))
		}
	}
	for _, e := range j.exports {
		j.exportOf(e, exported)
	}
}

func (j *jsScope) exportOf(e jsExport, done map[int]bool) {
	i, ok := j.names[e.local]
	if !ok || e.from != "" {
		j.Keep(surface.Qualify(j.prefix, ".", e.name), e.kind, e.sig, j.Doc(e.at), e.at)
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
	if j.Full() || j.IsInternal(d.from) {
		return
	}
	full := surface.Qualify(j.prefix, ".", name)
	j.Keep(full, d.kind, d.sig, j.Doc(d.from), d.at)
	switch {
	case d.kind == surface.Module && d.body > 0:
		j.namespace(d.body, full)
	case d.kind == surface.Type && d.body > 0:
		j.class(d.body, full)
	}
	for _, m := range j.members[d.name] {
		if !j.IsInternal(m.at) {
			j.Keep(full+"."+m.name, surface.Method, m.sig, j.Doc(m.at), m.at)
		}
	}
}

func (j *jsScope) namespace(body int, name string) {
	from, to := j.Inside(body)
	if strings.Count(name, ".") >= brace.DeepestScope || !j.MayExpand(to-from) {
		return
	}
	inner := newScope(j.File, j.typed)
	inner.module, inner.ambient, inner.prefix = true, j.typed && j.ambientBody(body), name
	inner.read(from, to)
	inner.resolve()
}

// ambientBody tells whether the namespace is declared only: without an export of its own everything in it is
// exported.
func (j *jsScope) ambientBody(body int) bool {
	for i := body; i >= 0 && i > body-8; i-- {
		if j.Is(i, "declare") {
			return true
		}
	}
	return j.ambient
}
