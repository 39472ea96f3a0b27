package c

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// C and C++ are read alike.
var (
	C    = cFamily("C", false)
	Plus = cFamily("C++", true)
)

func cFamily(name string, plus bool) language.Language {
	return language.Language{Name: name, Imports: includes, Note: language.BlockNote, Folders: Folders, Family: "c",
		Ecosystems: []string{"cmake", "meson"}, Tests: []string{"gtest/gtest.h", "catch.hpp", "catch2/"},
		Outline: func(ctx context.Context, text []byte) surface.Outline { return cOutline(ctx, text, plus) }}
}

func cOutline(ctx context.Context, text []byte, plus bool) surface.Outline {
	d := brace.Dialect{Literal: cLiteral, Directives: []string{"*"}, Terminated: true,
		Docs: brace.DocStyle{Plain: true, Text: brace.Doxygen}, Attrs: cAttribute, Repeats: plus}
	s := d.Read(ctx, text, 0)
	c := &cFile{File: s, header: isHeader(s)}
	c.items(0, len(c.Tokens), cScope{})
	if !c.header && c.bodies == 0 {
		c.header = true
		c.items(0, len(c.Tokens), cScope{})
	}
	if c.header {
		c.macros()
	}
	return surface.Outline{Symbols: c.Symbols}
}

// cLiteral reads R"mark(text)mark" besides what others have, too.
func cLiteral(l *brace.Lexer) int {
	c := l.Text[l.Pos]
	if c == '"' || c == '\'' {
		return l.PlainQuote(c)
	}
	if c != 'R' && c != 'u' && c != 'U' && c != 'L' {
		return 0
	}
	for _, prefix := range []string{`R"`, `u8R"`, `uR"`, `UR"`, `LR"`} {
		if brace.HasPrefix(l.Text[l.Pos:], prefix) {
			rest := l.Text[l.Pos+len(prefix):]
			mark := bytes.IndexByte(rest[:min(len(rest), 20)], '(')
			if mark < 0 {
				return 0
			}
			end := ")" + string(rest[:mark]) + `"`
			return l.LiteralEnd(len(prefix)+mark, brace.Quoted{Quote: end, Lines: true})
		}
	}
	return 0
}

// cFile is a header, all of which is public, or a source file, whose public part is elsewhere: there only definitions
// that are documented count.
type cFile struct {
	*brace.File
	header bool
	bodies int // functions that others may call and that are defined here
}

// isHeader tells the files that guard themselves against a second reading.
func isHeader(s *brace.File) bool {
	for _, n := range s.Notes {
		if n.Kind != brace.Directive {
			continue
		}
		name, rest := brace.DirectiveWords(s.Text[n.Start:n.Stop])
		if name == "pragma" && strings.HasPrefix(rest, "once") {
			return true
		}
		if name == "define" {
			return isGuarded(s, n, strings.TrimSpace(rest))
		}
		if name != "pragma" && name != "undef" {
			return false
		}
	}
	return false
}

// isGuarded tells whether the line before is "#ifndef name".
func isGuarded(s *brace.File, n brace.Note, name string) bool {
	if name, _, _ = strings.Cut(name, " "); name == "" {
		return false
	}
	before := strings.TrimSpace(string(s.Text[max(0, int(n.Start)-300):n.Start]))
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.HasPrefix(line, "#") && strings.Contains(line, name) && strings.Contains(line, "if")
}

// macros adds those that take arguments, and others that are documented.
func (c *cFile) macros() {
	from := 0
	for i, n := range c.Notes {
		if n.Kind == brace.Directive {
			if name, rest := brace.DirectiveWords(c.Text[n.Start:n.Stop]); name == "define" && !c.Full() {
				c.macro(c.Notes[from:i], n, rest)
			}
		}
		if n.Kind == brace.Directive || i > 0 && n.Tokens > c.Notes[i-1].Tokens {
			from = i
			if n.Kind == brace.Directive {
				from++
			}
		}
	}
}

func (c *cFile) macro(before []brace.Note, n brace.Note, text string) {
	end := brace.WordLength(text)
	name := text[:end]
	if name == "" || name[0] == '_' {
		return
	}
	for len(before) > 0 && before[len(before)-1].Tokens < n.Tokens {
		before = nil
	}
	value, trailing := splitComment(text[end:])
	doc := c.Summary(cmp.Or(c.Comment(before, n.Line), trailing))
	sig := "#define " + name
	switch {
	case strings.HasPrefix(value, "("):
		parameters, _, _ := strings.Cut(value, ")")
		sig += parameters + ")"
	case doc == "" || strings.TrimSpace(value) == "":
		return
	case len(value) <= 60 && !strings.Contains(value, "\n"):
		sig += " " + strings.TrimSpace(value)
	}
	c.Add(surface.Symbol{Name: name, Kind: surface.Macro, Signature: strings.ReplaceAll(sig, "\\\n", " "), Doc: doc,
		Line: int(n.Line)})
}

// splitComment takes the comment off the end of a directive.
func splitComment(text string) (value, comment string) {
	for _, mark := range []string{"/*", "//"} {
		if value, comment, ok := strings.Cut(text, mark); ok {
			var b strings.Builder
			brace.BlockText(&b, mark[:1]+"*"+comment)
			return value, strings.TrimLeft(b.String(), "/!< ")
		}
	}
	return text, ""
}

// cAttribute passes over what says nothing of how a name is used: [[...]], __attribute__((...)), and macros that
// stand alone or export a name.
func cAttribute(s *brace.File, i int) int {
	switch {
	case s.Is(i, "[") && s.Is(i+1, "["):
		return s.Skip(i)
	case s.IsOneOf(i, "__attribute__", "__declspec", "alignas", "__attribute", "_Alignas") && s.Is(i+1, "("):
		return s.Skip(i + 1)
	case s.IsOneOf(i, "__extension__", "__cdecl", "__stdcall", "__fastcall", "WINAPI", "__inline", "__forceinline"):
		return i + 1
	case s.IsWord(i) && brace.IsMacroName(s.Bytes(i)):
		return cMacroAttribute(s, i)
	}
	return i
}

func cMacroAttribute(s *brace.File, i int) int {
	next := i + 1
	if s.Is(next, "(") {
		if after := s.Skip(next); startsStatement(s, i) && (s.Breaks(after) || s.IsWord(after)) && !s.Is(after, "{") {
			return after
		}
		return i
	}
	if !s.IsWord(next) && !s.IsOneOf(next, "*", "[", "::", "~") {
		return i
	}
	if s.Breaks(next) && startsStatement(s, i) {
		return next
	}
	name := s.Str(i)
	for _, part := range []string{"API", "EXPORT", "EXTERN", "IMPORT", "PUBLIC", "DEPRECATED", "INLINE", "NODISCARD",
		"CONSTEXPR20", "VISIBLE", "NORETURN"} {
		if strings.Contains(name, part) {
			return next
		}
	}
	return i
}

func startsStatement(s *brace.File, i int) bool {
	return i == 0 || s.IsOneOf(i-1, ";", "{", "}", ":", ">", ")", "static", "inline") ||
		s.IsWord(i-1) && brace.IsMacroName(s.Bytes(i-1))
}
