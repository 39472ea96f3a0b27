package csharp

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is C#.
var Language = language.Language{Name: "C#", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Private: language.Without("public "), Family: ".net",
	Ecosystems: []string{"nuget"}, Tests: []string{"using Xunit", "using NUnit"}, Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Literal: csharpLiteral, Terminated: true, Docs: brace.DocStyle{Text: brace.XmlDoc},
		Attrs: csharpAttribute, Repeats: true, Directives: []string{"if", "elif", "else", "endif", "region", "endregion",
			"pragma", "nullable", "line", "error", "warning", "define", "undef"}}
	c := &csharpFile{File: d.Read(ctx, text, 0)}
	c.members(0, brace.Scope{To: len(c.Tokens), IsFile: true})
	return surface.Outline{Symbols: c.Symbols}
}

func csharpLiteral(l *brace.Lexer) int {
	c := l.Text[l.Pos]
	if c == '\'' {
		return l.PlainQuote(c)
	}
	if c != '"' && (c != '@' && c != '$' || isCSharpMark(l.At(-1))) { // where marks began no string, the rest does not
		return 0
	}
	rest := l.Text[l.Pos:]
	marks := string(rest[:len(rest)-len(bytes.TrimLeft(rest, "@$"))])
	if l.At(len(marks)) != '"' {
		return 0
	}
	return csharpString(l, len(marks), strings.Count(marks, "$"), strings.Contains(marks, "@"))
}

func isCSharpMark(c byte) bool { return c == '@' || c == '$' }

// csharpString reads a string whose quotes begin so many bytes ahead.
func csharpString(l *brace.Lexer, ahead, dollars int, verbatim bool) int {
	q := brace.Quoted{Quote: `"`, Until: '}', Lines: verbatim, Escapes: !verbatim, Doubled: verbatim}
	if dollars > 0 {
		q.Hole, q.Twice = "{", true
	}
	if quotes := l.Run(ahead, '"'); quotes >= 3 && !verbatim {
		q = brace.Quoted{Quote: strings.Repeat(`"`, quotes), Until: '}', Lines: true}
		if dollars > 0 {
			q.Hole = strings.Repeat("{", min(dollars, brace.LongestMark))
		}
		return l.LiteralEnd(ahead+quotes, q)
	}
	return l.LiteralEnd(ahead+1, q)
}

type csharpFile struct{ *brace.File }

// csharpAttribute passes over [Name(...)] where a declaration or parameter begins.
func csharpAttribute(s *brace.File, i int) int {
	if !s.Is(i, "[") || !s.IsWord(i+1) || i > 0 && !s.IsOneOf(i-1, "{", "}", ";", "]", "(", ",", "<") {
		return i
	}
	next := s.Skip(i)
	if s.IsOneOf(next, ",", ")", "=", ";", "]", ">", "?") {
		return i
	}
	return next
}

func (c *csharpFile) members(from int, in brace.Scope) {
	c.Each(from, in.To, func(i int) int { return c.member(i, in) })
}

// begin reads the modifiers of a member.
func (c *csharpFile) begin(i int, in brace.Scope) brace.Item {
	item := brace.Item{In: in, Start: i, At: c.Attributes(i), Public: in.Implicit}
	seen, hidden := false, false
	for ; ; item.At++ {
		switch c.Str(item.At) {
		case "public", "protected":
			seen = true
		case "private", "file":
			hidden = true
		case "internal":
			item.Public = false
		case "const":
			item.Constant = true
		case "static", "abstract", "sealed", "virtual", "override", "readonly", "async", "extern", "unsafe", "new",
			"partial", "volatile", "event", "fixed", "required", "implicit", "explicit", "delegate":
		default:
			item.Public = (item.Public || seen) && !hidden
			return item
		}
	}
}

func (c *csharpFile) member(start int, in brace.Scope) int {
	if c.Is(start, ";") || c.Is(start, "{") {
		return c.Skip(start)
	}
	item := c.begin(start, in)
	switch c.Str(item.At) {
	case "using":
		return c.Until(item.At, in.To, ";", "{") + 1
	case "namespace":
		end := c.Until(item.At, in.To, ";", "{")
		if c.Is(end, "{") {
			from, inner := c.Body(item, "", end)
			inner.IsFile = true
			c.members(from, inner)
		}
		return c.Skip(end)
	case "class", "struct", "interface", "enum", "record":
		if c.IsWord(item.At + 1) {
			return c.typeDecl(item)
		}
	}
	if in.IsFile && !c.isDelegate(item) {
		return c.Skip(c.Until(item.At, in.To, ";", "{")) // a statement of a program without a class
	}
	return c.typed(item)
}

func (c *csharpFile) isDelegate(item brace.Item) bool { return c.Is(item.At-1, "delegate") }

func (c *csharpFile) typeDecl(item brace.Item) int {
	name := item.At + 1
	if c.Is(item.At, "record") && c.IsOneOf(name, "class", "struct") {
		name++
	}
	end := c.UntilTyped(name, item.In.To, "{", ";")
	c.Found(item, c.Name(name), surface.Type, end)
	if item.Public && c.Is(end, "{") && !c.Is(item.At, "enum") {
		from, inner := c.Body(item, c.Name(name), end)
		inner.Implicit = c.Is(item.At, "interface")
		c.members(from, inner)
	}
	return c.Skip(end)
}

// typed reads a member that begins with its type: a method, property, event, field, constructor or operator.
func (c *csharpFile) typed(item brace.Item) int {
	i, to := item.At, item.In.To
	if c.Is(i, "(") {
		i = c.Skip(i)
	}
	stop := c.UntilTyped(i, to, "(", "=", "=>", ";", "{", ",", "operator", "this", "}")
	switch c.Str(stop) {
	case "operator":
		return c.operator(item, stop)
	case "this":
		return c.property(item, c.UntilTyped(stop, to, "=>", ";", "{"), "this[]")
	case "(":
		return c.method(item, stop)
	case "}":
		return stop + 1
	}
	name := c.nameBefore(stop)
	item.Public = item.Public && !c.Is(name-1, ".")
	if c.IsOneOf(stop, "{", "=>") {
		return c.property(item, stop, c.Name(name))
	}
	return c.Fields(item, stop, 3)
}

// nameBefore is the token of the name that ends before token i, without its type parameters.
func (c *csharpFile) nameBefore(i int) int {
	if open := int(c.At(i - 1).Pair); c.Is(i-1, ">") && open > 0 {
		return open - 1
	}
	return i - 1
}

func (c *csharpFile) method(item brace.Item, open int) int {
	name, after := c.nameBefore(open), c.Skip(open)
	end := c.Until(after, item.In.To, "{", ";", "=>")
	sig := end
	if k := c.Until(after, end, ":"); k < end && !c.Is(after, "where") {
		sig = k
	}
	kind := surface.Method
	if c.isDelegate(item) {
		kind = surface.Type
	}
	if isExplicit := c.IsOneOf(name-1, ".", "~"); !isExplicit && c.IsWord(name) {
		c.Found(item, c.Name(name), kind, sig)
	}
	return c.bodyEnd(end, item.In.To)
}

func (c *csharpFile) bodyEnd(end, to int) int {
	if c.Is(end, "=>") {
		end = c.Until(end, to, ";")
	}
	return c.Skip(end)
}

func (c *csharpFile) operator(item brace.Item, at int) int {
	open := at + 2
	for open < item.In.To && !c.Is(open, "(") {
		open++
	}
	end := c.Until(c.Skip(open), item.In.To, "{", ";", "=>")
	c.Found(item, c.OperatorName(at, open), surface.Method, end)
	return c.bodyEnd(end, item.In.To)
}

func (c *csharpFile) property(item brace.Item, stop int, name string) int {
	end, sig := c.bodyEnd(stop, item.In.To), stop
	if c.Is(stop, "{") {
		if c.isAccessors(stop) {
			sig = end
		}
		if c.Is(end, "=") {
			end = c.Until(end, item.In.To, ";") + 1
		}
	}
	c.Found(item, name, surface.Variable, sig)
	return end
}

// isAccessors tells { get; private set; }.
func (c *csharpFile) isAccessors(i int) bool {
	from, to := c.Inside(i)
	for ; from < to; from++ {
		if !c.IsOneOf(from, "get", "set", "init", ";", "private", "protected", "internal", "add", "remove") {
			return false
		}
	}
	return true
}
