package swift

import (
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/repository/source/language"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// Language is Swift.
var Language = language.Language{Name: "Swift", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Folders: language.Below("Sources"),
	Ecosystems: []string{"swift", "cocoapods"},
	Classes:    true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Nested: true, Backticks: true, Literal: swiftLiteral, Directives: isSwiftDirective,
		Attrs: swiftAttribute, Repeats: true}
	s := &swiftFile{File: d.Read(ctx, text, 0)}
	s.members(0, len(s.Tokens), swiftScope{})
	return surface.Outline{Doc: s.FileDoc(func(i int) bool { return s.Is(i, "import") || s.Is(i, "@") }),
		Symbols: s.Symbols}
}

func isSwiftDirective(name string) bool {
	return slices.Contains([]string{"if", "else", "elseif", "endif", "warning", "error", "sourceLocation"}, name)
}

func swiftLiteral(l *brace.Lexer) int {
	hashes := l.Run(0, '#')
	if l.At(hashes) != '"' {
		return 0
	}
	marks := strings.Repeat("#", hashes)
	q := brace.Quoted{Quote: `"` + marks, Hole: `\` + marks + `(`, Until: ')', Escapes: hashes == 0}
	if l.At(hashes+1) == '"' && l.At(hashes+2) == '"' {
		q.Quote, q.Lines = `"""`+marks, true
		return l.LiteralEnd(hashes+3, q)
	}
	return l.LiteralEnd(hashes+1, q)
}

type swiftFile struct{ *brace.File }

// swiftAttribute passes over @name(...), but for those that belong to the type of a parameter.
func swiftAttribute(s *brace.File, i int) int {
	if !s.Is(i, "@") || !s.IsWord(i+1) || s.IsOneOf(i+1, "escaping", "Sendable", "autoclosure") {
		return i
	}
	return s.AfterAttribute(i)
}

type swiftScope struct {
	name     string
	implicit bool // members are public unless they say otherwise
	depth    int
}

// members reads declarations by their keywords: the expressions between them have none outside of braces.
func (s *swiftFile) members(from, to int, in swiftScope) {
	if in.depth > brace.DeepestScope {
		return
	}
	begins := func(i int) bool { return s.Breaks(i) || s.IsOneOf(i-1, ";", "}") || s.Is(i, "@") }
	s.EachStatement(from, to, begins, func(i int) int { return s.member(i, to, in) })
}

// modifiers is the token after them, and whether they make a member public.
func (s *swiftFile) modifiers(i int, in swiftScope) (next int, public bool) {
	public = in.implicit
	for i = s.Attributes(i); s.isModifier(i); i = s.Attributes(i) {
		isSetter := s.Is(i+1, "(")
		switch s.Str(i) {
		case "public", "open":
			public = true
		case "private", "fileprivate", "internal", "package":
			public = public && isSetter
		}
		if i++; isSetter {
			i = s.Skip(i)
		}
	}
	return i, public
}

func (s *swiftFile) isModifier(i int) bool {
	switch s.Str(i) {
	case "public", "open", "private", "fileprivate", "internal", "package", "unowned", "nonisolated":
		return true
	case "static", "final", "override", "mutating", "nonmutating", "required", "convenience", "indirect", "lazy",
		"weak",
		"dynamic", "optional", "prefix", "postfix", "infix", "isolated", "distributed", "consuming", "borrowing":
		return s.IsWord(i+1) || s.Is(i+1, "@")
	case "class":
		return s.IsOneOf(i+1, "func", "var", "subscript", "override", "final")
	}
	return false
}

func (s *swiftFile) member(start, to int, in swiftScope) int {
	i, public := s.modifiers(start, in)
	switch s.Str(i) {
	case "class", "struct", "enum", "protocol", "actor", "extension":
		if s.IsWord(i+1) || s.Is(i, "extension") {
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
			s.Declare(surface.Qualify(in.name, ".", s.Name(i+1)), surface.Type, start, end)
		}
		return end
	case "import", "case", "precedencegroup", "operator":
		return s.lineEnd(i+1, to, "{", ";")
	}
	return i
}

// lineEnd is the token after what began before token i and ends with its line or at one of the texts.
func (s *swiftFile) lineEnd(i, to int, stops ...string) int {
	return s.StatementEnd("line", i, to, s.continues, stops...)
}

func (s *swiftFile) continues(i int) bool {
	return s.IsOneOf(i-1, ":", ",", ".", "->", "where", "&", "=", "throws", "async", "==") ||
		s.IsOneOf(i, ":", ",", ".", "->", "where", "&", "throws", "rethrows", "async", "{", ">", "==", "=")
}

func (s *swiftFile) typeDecl(start, i, to int, in swiftScope, public bool) int {
	isExtension := s.Is(i, "extension")
	var name strings.Builder
	if s.Is(i+1, "[") {
		name.WriteString(s.Signature(i+1, s.Skip(i+1)))
	} else {
		name.WriteString(s.Name(i + 1))
	}
	for n := i + 2; isExtension && s.Is(n, ".") && s.IsWord(n+1); n += 2 {
		name.WriteString("." + s.Name(n+1))
	}
	end := s.lineEnd(i+1, to, "{")
	full := surface.Qualify(in.name, ".", name.String())
	if public && !isExtension {
		s.Declare(full, surface.Type, start, end)
	}
	if !s.Is(end, "{") {
		return end
	}
	if isExtension || public && !s.Is(i, "protocol") {
		from, last := s.Inside(end)
		s.members(from, last, swiftScope{name: full, implicit: isExtension && public, depth: in.depth + 1})
	}
	return s.Skip(end)
}

func (s *swiftFile) function(start, i, to int, in swiftScope, public bool) int {
	open := s.Until(i+1, to, "(", "{")
	end := s.lineEnd(s.Skip(open), to, "{", ";")
	name := s.Name(i + 1)
	if !s.IsWord(i + 1) {
		name = s.operator(i+1, open)
	}
	kind := surface.Function
	if in.name != "" {
		kind = surface.Method
	}
	if s.Is(i, "macro") {
		name, kind = "#"+name, surface.Macro
	}
	if public {
		s.Declare(surface.Qualify(in.name, ".", name), kind, start, end)
	}
	return end
}

// operator is the name of "func == (a, b)" or "func < <T>(a, b)".
func (s *swiftFile) operator(from, to int) string {
	end := from + 1
	for end < to && s.At(end).Start == s.At(end-1).Stop && s.At(end).Kind == brace.PunctToken {
		end++
	}
	return s.OperatorName(from, end)
}

func (s *swiftFile) initializer(start, i, to int, in swiftScope, public bool) int {
	open := s.Until(i+1, to, "(", "{")
	if in.name == "" || !s.Is(open, "(") {
		return i + 1
	}
	end := s.lineEnd(s.Skip(open), to, "{", ";")
	if public {
		s.Declare(in.name+"."+s.Str(i), surface.Method, start, end)
	}
	return end
}

func (s *swiftFile) property(start, i, to int, in swiftScope, public bool) int {
	end := s.lineEnd(i+1, to, "{", "=", ";")
	kind, shown := surface.Variable, end
	if s.Is(i, "let") {
		kind = surface.Constant
	}
	if s.Is(end, "=") && s.isShortValue(end+1, to) {
		shown = end + 2
	}
	if public && s.IsWord(i+1) {
		s.Declare(surface.Qualify(in.name, ".", s.Name(i+1)), kind, start, shown)
	}
	if s.Is(end, "{") {
		return s.Skip(end)
	}
	return end
}

// isShortValue tells a value of one token that ends its line.
func (s *swiftFile) isShortValue(i, to int) bool {
	return i < to && s.At(i).Kind != brace.OpenToken && (i+1 >= to || s.Breaks(i+1))
}
