package surface

import (
	"bytes"
	"context"
	"strings"
)

func clang(ctx context.Context, text []byte) Outline { return cOutline(ctx, text, false) }

func cplusplus(ctx context.Context, text []byte) Outline { return cOutline(ctx, text, true) }

func cOutline(ctx context.Context, text []byte, plus bool) Outline {
	d := dialect{literal: cLiteral, directives: func(string) bool { return true }, terminated: true,
		docs: docStyle{plain: true, text: doxygen}, attrs: cAttribute, repeats: plus}
	s := d.source(ctx, text, 0)
	c := &cFile{source: s, header: isHeader(s)}
	c.items(0, len(c.tokens), cScope{})
	if !c.header && c.bodies == 0 {
		c.header = true
		c.items(0, len(c.tokens), cScope{})
	}
	if c.header {
		c.macros()
	}
	return Outline{Doc: c.fileDoc(func(int) bool { return false }), Symbols: c.symbols}
}

// cLiteral reads R"mark(text)mark" besides what others have, too.
func cLiteral(l *lexer) int {
	c := l.text[l.pos]
	if c == '"' || c == '\'' {
		return l.plainQuote(c)
	}
	if c != 'R' && c != 'u' && c != 'U' && c != 'L' {
		return 0
	}
	for _, prefix := range []string{`R"`, `u8R"`, `uR"`, `UR"`, `LR"`} {
		if hasPrefix(l.text[l.pos:], prefix) {
			rest := l.text[l.pos+len(prefix):]
			mark := bytes.IndexByte(rest[:min(len(rest), 20)], '(')
			if mark < 0 {
				return 0
			}
			end := ")" + string(rest[:mark]) + `"`
			return l.literalEnd(len(prefix)+mark, quoted{quote: end, lines: true})
		}
	}
	return 0
}

// cFile is a header, all of which is public, or a source file, whose public part is elsewhere: there only definitions
// that are documented count.
type cFile struct {
	*source
	header bool
	bodies int // functions that others may call and that are defined here
}

// isHeader tells the files that guard themselves against a second reading.
func isHeader(s *source) bool {
	for _, n := range s.notes {
		if n.kind != directive {
			continue
		}
		name, rest := directiveWords(s.text[n.start:n.stop])
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
func isGuarded(s *source, n note, name string) bool {
	if name, _, _ = strings.Cut(name, " "); name == "" {
		return false
	}
	before := strings.TrimSpace(string(s.text[max(0, int(n.start)-300):n.start]))
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.HasPrefix(line, "#") && strings.Contains(line, name) && strings.Contains(line, "if")
}

// macros adds those that take arguments, and others that are documented.
func (c *cFile) macros() {
	from := 0
	for i, n := range c.notes {
		if n.kind == directive {
			if name, rest := directiveWords(c.text[n.start:n.stop]); name == "define" && !c.full() {
				c.macro(c.notes[from:i], n, rest)
			}
		}
		if n.kind == directive || i > 0 && n.tokens > c.notes[i-1].tokens {
			from = i
			if n.kind == directive {
				from++
			}
		}
	}
}

func (c *cFile) macro(before []note, n note, text string) {
	end := 0
	for end < len(text) && isWordByte(text[end]) {
		end++
	}
	name := text[:end]
	if name == "" || name[0] == '_' {
		return
	}
	for len(before) > 0 && before[len(before)-1].tokens < n.tokens {
		before = nil
	}
	doc := c.comment(before, n.line)
	value, trailing := splitComment(text[end:])
	if doc == "" {
		doc = trailing
	}
	doc = c.summary(doc)
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
	c.add(Symbol{Name: name, Kind: Macro, Signature: strings.ReplaceAll(sig, "\\\n", " "), Doc: doc, Line: int(n.line)})
}

// splitComment takes the comment off the end of a directive.
func splitComment(text string) (value, comment string) {
	for _, mark := range []string{"/*", "//"} {
		if value, comment, ok := strings.Cut(text, mark); ok {
			var b strings.Builder
			blockText(&b, mark[:1]+"*"+comment)
			return value, strings.TrimLeft(b.String(), "/!< ")
		}
	}
	return text, ""
}

// cAttribute passes over what says nothing of how a name is used: [[...]], __attribute__((...)), and macros that
// stand alone or export a name.
func cAttribute(s *source, i int) int {
	switch {
	case s.is(i, "[") && s.is(i+1, "["):
		return s.skip(i)
	case s.isOneOf(i, "__attribute__", "__declspec", "alignas", "__attribute", "_Alignas") && s.is(i+1, "("):
		return s.skip(i + 1)
	case s.isOneOf(i, "__extension__", "__cdecl", "__stdcall", "__fastcall", "WINAPI", "__inline", "__forceinline"):
		return i + 1
	case s.isWord(i) && isMacroName(s.bytes(i)):
		return cMacroAttribute(s, i)
	}
	return i
}

func cMacroAttribute(s *source, i int) int {
	next := i + 1
	if s.is(next, "(") {
		if after := s.skip(next); startsStatement(s, i) && (s.breaks(after) || s.isWord(after)) && !s.is(after, "{") {
			return after
		}
		return i
	}
	if !s.isWord(next) && !s.isOneOf(next, "*", "[", "::", "~") {
		return i
	}
	if s.breaks(next) && startsStatement(s, i) {
		return next
	}
	name := s.str(i)
	for _, part := range []string{"API", "EXPORT", "EXTERN", "IMPORT", "PUBLIC", "DEPRECATED", "INLINE", "NODISCARD",
		"CONSTEXPR20", "VISIBLE", "NORETURN"} {
		if strings.Contains(name, part) {
			return next
		}
	}
	return i
}

func startsStatement(s *source, i int) bool {
	return i == 0 || s.isOneOf(i-1, ";", "{", "}", ":", ">", ")", "static", "inline") ||
		s.isWord(i-1) && isMacroName(s.bytes(i-1))
}
