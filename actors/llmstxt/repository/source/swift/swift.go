package swift

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Swift.
var Language = language.Language{Name: "Swift", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Folders: language.Below("Sources"),
	Ecosystems: []string{"swift", "cocoapods"}, Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Nested: true, Backticks: true, Literal: swiftLiteral, Attrs: swiftAttribute, Repeats: true,
		Directives: []string{"if", "else", "elseif", "endif", "warning", "error", "sourceLocation"}}
	s := &swiftFile{File: d.Read(ctx, text, 0)}
	s.members(0, brace.Scope{To: len(s.Tokens)})
	return surface.Outline{Symbols: s.Symbols}
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

// members reads declarations by their keywords: the expressions between them have none outside of braces.
func (s *swiftFile) members(from int, in brace.Scope) {
	begins := func(i int) bool { return s.Breaks(i) || s.IsOneOf(i-1, ";", "}") || s.Is(i, "@") }
	s.EachStatement(from, in.To, begins, func(i int) int { return s.member(s.begin(i, in)) })
}

// begin reads the modifiers of a member.
func (s *swiftFile) begin(start int, in brace.Scope) brace.Item {
	item := brace.Item{In: in, Start: start, Public: in.Implicit}
	i := s.Attributes(start)
	for ; s.isModifier(i); i = s.Attributes(i) {
		isSetter := s.Is(i+1, "(")
		switch s.Str(i) {
		case "public", "open":
			item.Public = true
		case "private", "fileprivate", "internal", "package":
			item.Public = item.Public && isSetter
		}
		if i++; isSetter {
			i = s.Skip(i)
		}
	}
	item.At = i
	return item
}

func (s *swiftFile) isModifier(i int) bool {
	switch s.Str(i) {
	case "public", "open", "private", "fileprivate", "internal", "package", "unowned", "nonisolated":
		return true
	case "static", "final", "override", "mutating", "nonmutating", "required", "convenience", "indirect", "lazy",
		"weak", "dynamic", "optional", "prefix", "postfix", "infix", "isolated", "distributed", "consuming",
		"borrowing":
		return s.IsWord(i+1) || s.Is(i+1, "@")
	case "class":
		return s.IsOneOf(i+1, "func", "var", "subscript", "override", "final")
	}
	return false
}

func (s *swiftFile) member(item brace.Item) int {
	i, to := item.At, item.In.To
	switch s.Str(i) {
	case "class", "struct", "enum", "protocol", "actor", "extension":
		if s.IsWord(i+1) || s.Is(i, "extension") {
			return s.typeDecl(item)
		}
	case "func", "macro":
		return s.function(item)
	case "init", "subscript":
		return s.initializer(item)
	case "var", "let":
		return s.property(item)
	case "typealias", "associatedtype":
		end := s.lineEnd(i+1, to, "{", ";")
		s.Found(item, s.Name(i+1), surface.Type, end)
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

func (s *swiftFile) typeDecl(item brace.Item) int {
	i := item.At
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
	end := s.lineEnd(i+1, item.In.To, "{")
	if !isExtension {
		s.Found(item, name.String(), surface.Type, end)
	}
	if !s.Is(end, "{") {
		return end
	}
	if isExtension || item.Public && !s.Is(i, "protocol") {
		from, inner := s.Body(item, name.String(), end)
		inner.Implicit = isExtension && item.Public
		s.members(from, inner)
	}
	return s.Skip(end)
}

func (s *swiftFile) function(item brace.Item) int {
	at := item.At + 1
	open := s.Until(at, item.In.To, "(", "{")
	end := s.lineEnd(s.Skip(open), item.In.To, "{", ";")
	name, kind := s.Name(at), surface.Function
	if !s.IsWord(at) {
		name = s.operator(at, open)
	}
	if item.In.Name != "" {
		kind = surface.Method
	}
	if s.Is(item.At, "macro") {
		name, kind = "#"+name, surface.Macro
	}
	s.Found(item, name, kind, end)
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

func (s *swiftFile) initializer(item brace.Item) int {
	open := s.Until(item.At+1, item.In.To, "(", "{")
	if item.In.Name == "" || !s.Is(open, "(") {
		return item.At + 1
	}
	end := s.lineEnd(s.Skip(open), item.In.To, "{", ";")
	s.Found(item, s.Str(item.At), surface.Method, end)
	return end
}

func (s *swiftFile) property(item brace.Item) int {
	name := item.At + 1
	end := s.lineEnd(name, item.In.To, "{", "=", ";")
	kind, shown := surface.Variable, end
	if s.Is(item.At, "let") {
		kind = surface.Constant
	}
	if s.Is(end, "=") && s.isShortValue(end+1, item.In.To) {
		shown = end + 2
	}
	if s.IsWord(name) {
		s.Found(item, s.Name(name), kind, shown)
	}
	return s.SkipBody(end)
}

// isShortValue tells a value of one token that ends its line.
func (s *swiftFile) isShortValue(i, to int) bool {
	return i < to && s.At(i).Kind != brace.OpenToken && (i+1 >= to || s.Breaks(i+1))
}
