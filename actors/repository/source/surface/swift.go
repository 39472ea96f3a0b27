package surface

import (
	"context"
	"slices"
	"strings"
)

func swift(ctx context.Context, text []byte) Outline {
	d := dialect{nested: true, backticks: true, literal: swiftLiteral, directives: isSwiftDirective,
		attrs: swiftAttribute, repeats: true}
	s := &swiftFile{source: d.source(ctx, text, 0)}
	s.members(0, len(s.tokens), swiftScope{})
	return Outline{Doc: s.fileDoc(func(i int) bool { return s.is(i, "import") || s.is(i, "@") }), Symbols: s.symbols}
}

func isSwiftDirective(name string) bool {
	return slices.Contains([]string{"if", "else", "elseif", "endif", "warning", "error", "sourceLocation"}, name)
}

func swiftLiteral(l *lexer) int {
	hashes := l.run(0, '#')
	if l.at(hashes) != '"' {
		return 0
	}
	marks := strings.Repeat("#", hashes)
	q := quoted{quote: `"` + marks, hole: `\` + marks + `(`, until: ')', escapes: hashes == 0}
	if l.at(hashes+1) == '"' && l.at(hashes+2) == '"' {
		q.quote, q.lines = `"""`+marks, true
		return l.literalEnd(hashes+3, q)
	}
	return l.literalEnd(hashes+1, q)
}

type swiftFile struct{ *source }

// swiftAttribute passes over @name(...), but for those that belong to the type of a parameter.
func swiftAttribute(s *source, i int) int {
	if !s.is(i, "@") || !s.isWord(i+1) || s.isOneOf(i+1, "escaping", "Sendable", "autoclosure") {
		return i
	}
	return s.afterAttribute(i)
}

type swiftScope struct {
	name     string
	implicit bool // members are public unless they say otherwise
	depth    int
}

// members reads declarations by their keywords: the expressions between them have none outside of braces.
func (s *swiftFile) members(from, to int, in swiftScope) {
	if in.depth > deepestScope {
		return
	}
	for i := from; i < to && !s.full(); {
		next := i
		if i == from || s.breaks(i) || s.isOneOf(i-1, ";", "}") || s.is(i, "@") {
			next = s.member(i, to, in)
		}
		i = max(next, s.skip(i))
	}
}

// modifiers is the token after them, and whether they make a member public.
func (s *swiftFile) modifiers(i int, in swiftScope) (next int, public bool) {
	public = in.implicit
	for i = s.attributes(i); s.isModifier(i); i = s.attributes(i) {
		isSetter := s.is(i+1, "(")
		switch s.str(i) {
		case "public", "open":
			public = true
		case "private", "fileprivate", "internal", "package":
			public = public && isSetter
		}
		if i++; isSetter {
			i = s.skip(i)
		}
	}
	return i, public
}

func (s *swiftFile) isModifier(i int) bool {
	switch s.str(i) {
	case "public", "open", "private", "fileprivate", "internal", "package", "unowned", "nonisolated":
		return true
	case "static", "final", "override", "mutating", "nonmutating", "required", "convenience", "indirect", "lazy",
		"weak",
		"dynamic", "optional", "prefix", "postfix", "infix", "isolated", "distributed", "consuming", "borrowing":
		return s.isWord(i+1) || s.is(i+1, "@")
	case "class":
		return s.isOneOf(i+1, "func", "var", "subscript", "override", "final")
	}
	return false
}

func (s *swiftFile) member(start, to int, in swiftScope) int {
	i, public := s.modifiers(start, in)
	switch s.str(i) {
	case "class", "struct", "enum", "protocol", "actor", "extension":
		if s.isWord(i+1) || s.is(i, "extension") {
			return s.typeDecl(start, i, to, in, public)
		}
	case "func", "macro":
		return s.function(start, i, to, in, public)
	case "init", "subscript":
		return s.initializer(start, i, to, in, public)
	case "var", "let":
		return s.property(start, i, to, in, public)
	case "typealias", "associatedtype":
		end := s.lineEnd(i+1, to, "{", ";")
		if public {
			s.declare(qualify(in.name, ".", s.name(i+1)), Type, start, end)
		}
		return end
	case "import", "case", "precedencegroup", "operator":
		return s.lineEnd(i+1, to, "{", ";")
	}
	return i
}

// lineEnd is the token after what began before token i and ends with its line or at one of the texts.
func (s *swiftFile) lineEnd(i, to int, stops ...string) int {
	return s.statementEnd("line", i, to, s.continues, stops...)
}

func (s *swiftFile) continues(i int) bool {
	return s.isOneOf(i-1, ":", ",", ".", "->", "where", "&", "=", "throws", "async", "==") ||
		s.isOneOf(i, ":", ",", ".", "->", "where", "&", "throws", "rethrows", "async", "{", ">", "==", "=")
}

func (s *swiftFile) typeDecl(start, i, to int, in swiftScope, public bool) int {
	isExtension := s.is(i, "extension")
	var name strings.Builder
	if s.is(i+1, "[") {
		name.WriteString(s.signature(i+1, s.skip(i+1)))
	} else {
		name.WriteString(s.name(i + 1))
	}
	for n := i + 2; isExtension && s.is(n, ".") && s.isWord(n+1); n += 2 {
		name.WriteString("." + s.name(n+1))
	}
	end := s.lineEnd(i+1, to, "{")
	full := qualify(in.name, ".", name.String())
	if public && !isExtension {
		s.declare(full, Type, start, end)
	}
	if !s.is(end, "{") {
		return end
	}
	if isExtension || public && !s.is(i, "protocol") {
		from, last := s.inside(end)
		s.members(from, last, swiftScope{name: full, implicit: isExtension && public, depth: in.depth + 1})
	}
	return s.skip(end)
}

func (s *swiftFile) function(start, i, to int, in swiftScope, public bool) int {
	open := s.until(i+1, to, "(", "{")
	end := s.lineEnd(s.skip(open), to, "{", ";")
	name := s.name(i + 1)
	if !s.isWord(i + 1) {
		name = s.operator(i+1, open)
	}
	kind := Function
	if in.name != "" {
		kind = Method
	}
	if s.is(i, "macro") {
		name, kind = "#"+name, Macro
	}
	if public {
		s.declare(qualify(in.name, ".", name), kind, start, end)
	}
	return end
}

// operator is the name of "func == (a, b)" or "func < <T>(a, b)".
func (s *swiftFile) operator(from, to int) string {
	end := from + 1
	for end < to && s.at(end).start == s.at(end-1).stop && s.at(end).kind == punctToken {
		end++
	}
	return s.operatorName(from, end)
}

func (s *swiftFile) initializer(start, i, to int, in swiftScope, public bool) int {
	open := s.until(i+1, to, "(", "{")
	if in.name == "" || !s.is(open, "(") {
		return i + 1
	}
	end := s.lineEnd(s.skip(open), to, "{", ";")
	if public {
		s.declare(in.name+"."+s.str(i), Method, start, end)
	}
	return end
}

func (s *swiftFile) property(start, i, to int, in swiftScope, public bool) int {
	end := s.lineEnd(i+1, to, "{", "=", ";")
	kind, shown := Variable, end
	if s.is(i, "let") {
		kind = Constant
	}
	if s.is(end, "=") && s.isShortValue(end+1, to) {
		shown = end + 2
	}
	if public && s.isWord(i+1) {
		s.declare(qualify(in.name, ".", s.name(i+1)), kind, start, shown)
	}
	if s.is(end, "{") {
		return s.skip(end)
	}
	return end
}

// isShortValue tells a value of one token that ends its line.
func (s *swiftFile) isShortValue(i, to int) bool {
	return i < to && s.at(i).kind != openToken && (i+1 >= to || s.breaks(i+1))
}
