package csharp

import (
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/repository/source/language"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// Language is C#.
var Language = language.Language{Name: "C#", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Private: isPrivate, Family: ".net",
	Ecosystems: []string{"nuget"}, Tests: []string{"using Xunit", "using NUnit"}, Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Literal: csharpLiteral, Directives: isCSharpDirective, Terminated: true,
		Docs: brace.DocStyle{Text: brace.XmlDoc}, Attrs: csharpAttribute, Repeats: true}
	c := &csharpFile{File: d.Read(ctx, text, 0)}
	c.members(0, len(c.Tokens), csharpScope{isFile: true})
	doc := c.FileDoc(func(i int) bool { return c.IsOneOf(i, "using", "namespace", "[", "extern") })
	return surface.Outline{Doc: doc, Symbols: c.Symbols}
}

func isCSharpDirective(name string) bool {
	return slices.Contains([]string{"if", "elif", "else", "endif", "region", "endregion", "pragma", "nullable",
		"line", "error", "warning", "define", "undef"}, name)
}

func csharpLiteral(l *brace.Lexer) int {
	c := l.Text[l.Pos]
	if c == '\'' {
		return l.PlainQuote(c)
	}
	if c != '"' && (c != '@' && c != '$' || isCSharpMark(l.At(-1))) { // where marks began no string, the rest does not
		return 0
	}
	ahead, dollars, verbatim := 0, 0, false
	for ; isCSharpMark(l.At(ahead)); ahead++ {
		if l.At(ahead) == '@' {
			verbatim = true
		} else {
			dollars++
		}
	}
	if l.At(ahead) != '"' {
		return 0
	}
	return csharpString(l, ahead, dollars, verbatim)
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

type csharpScope struct {
	name     string
	isFile   bool // of a file or namespace, which has types alone
	implicit bool // members are public unless they say otherwise
	depth    int
}

func (c *csharpFile) members(from, to int, in csharpScope) {
	if in.depth > brace.DeepestScope {
		return
	}
	for i := from; i < to && !c.Full(); {
		i = max(c.member(i, to, in), i+1)
	}
}

// csharpItem is the beginning of a member.
type csharpItem struct {
	start, at int // its first token, and the first after its modifiers
	public    bool
	constant  bool
	delegate  bool
}

func (c *csharpFile) begin(i int, in csharpScope) csharpItem {
	item := csharpItem{start: i, at: c.Attributes(i), public: in.implicit}
	seen, hidden := false, false
	for {
		switch c.Str(item.at) {
		case "public", "protected":
			seen = true
		case "private", "file":
			hidden = true
		case "internal":
			item.public = false
		case "const":
			item.constant = true
		case "delegate":
			item.delegate = true
		case "static", "abstract", "sealed", "virtual", "override", "readonly", "async", "extern", "unsafe", "new",
			"partial", "volatile", "event", "fixed", "required", "implicit", "explicit":
		default:
			item.public = (item.public || seen) && !hidden
			return item
		}
		if !c.IsWord(item.at+1) && c.At(item.at+1).Kind != brace.OpenToken {
			return item
		}
		item.at++
	}
}

func (c *csharpFile) member(start, to int, in csharpScope) int {
	if c.Is(start, ";") || c.Is(start, "{") {
		return c.Skip(start)
	}
	item := c.begin(start, in)
	switch c.Str(item.at) {
	case "using":
		return c.Until(item.at, to, ";", "{") + 1
	case "namespace":
		end := c.Until(item.at, to, ";", "{")
		if c.Is(end, "{") {
			from, last := c.Inside(end)
			c.members(from, last, csharpScope{isFile: true, depth: in.depth + 1})
		}
		return c.Skip(end)
	case "class", "struct", "interface", "enum", "record":
		if c.IsWord(item.at + 1) {
			return c.typeDecl(item, to, in)
		}
	}
	if in.isFile && !item.delegate {
		return c.untilBody(item.at, to) + 1
	}
	return c.typed(item, to, in)
}

// untilBody passes over a statement of a program without a class.
func (c *csharpFile) untilBody(i, to int) int {
	end := c.Until(i, to, ";", "{")
	if c.Is(end, "{") {
		return int(c.At(end).Pair)
	}
	return end
}

func (c *csharpFile) typeDecl(item csharpItem, to int, in csharpScope) int {
	name := item.at + 1
	if c.Is(item.at, "record") && c.IsOneOf(name, "class", "struct") {
		name++
	}
	end := c.UntilTyped(name, to, "{", ";")
	inner := csharpScope{name: surface.Qualify(in.name, ".", c.Name(name)), implicit: c.Is(item.at, "interface"),
		depth: in.depth + 1}
	if item.public {
		c.Declare(inner.name, surface.Type, item.start, end)
		if c.Is(end, "{") && !c.Is(item.at, "enum") {
			from, last := c.Inside(end)
			c.members(from, last, inner)
		}
	}
	return c.Skip(end)
}

// typed reads a member that begins with its type: a method, property, event, field, constructor or operator.
func (c *csharpFile) typed(item csharpItem, to int, in csharpScope) int {
	i := item.at
	if c.Is(i, "(") {
		i = c.Skip(i)
	}
	stop := c.UntilTyped(i, to, "(", "=", "=>", ";", "{", ",", "operator", "this", "}")
	switch {
	case c.Is(stop, "operator"):
		return c.operator(item, stop, to, in)
	case c.Is(stop, "this"):
		return c.property(item, c.UntilTyped(stop, to, "=>", ";", "{"), in.name+".this[]", to)
	case c.Is(stop, "("):
		return c.method(item, stop, to, in)
	case c.Is(stop, "}"):
		return stop + 1
	}
	name := c.nameBefore(stop)
	full := surface.Qualify(in.name, ".", c.Name(name))
	if c.IsOneOf(name-1, ".") {
		item.public = false
	}
	if c.IsOneOf(stop, "{", "=>") {
		return c.property(item, stop, full, to)
	}
	return c.fields(item, stop, to, in)
}

// nameBefore is the token of the name that ends before token i, without its type parameters.
func (c *csharpFile) nameBefore(i int) int {
	if open := int(c.At(i - 1).Pair); c.Is(i-1, ">") && open > 0 {
		return open - 1
	}
	return i - 1
}

func (c *csharpFile) method(item csharpItem, open, to int, in csharpScope) int {
	name := c.nameBefore(open)
	end := c.Until(c.Skip(open), to, "{", ";", "=>")
	sig := end
	if k := c.Until(c.Skip(open), end, ":"); k < end && !c.Is(c.Skip(open), "where") {
		sig = k
	}
	isExplicit := c.Is(name-1, ".") || c.Is(name-1, "~")
	if item.public && !isExplicit && c.IsWord(name) {
		kind := surface.Method
		if item.delegate {
			kind = surface.Type
		}
		c.Declare(surface.Qualify(in.name, ".", c.Name(name)), kind, item.start, sig)
	}
	return c.bodyEnd(end, to)
}

func (c *csharpFile) bodyEnd(end, to int) int {
	if c.Is(end, "=>") {
		end = c.Until(end, to, ";")
	}
	return c.Skip(end)
}

func (c *csharpFile) operator(item csharpItem, at, to int, in csharpScope) int {
	open := at + 2
	for open < to && !c.Is(open, "(") {
		open++
	}
	end := c.Until(c.Skip(open), to, "{", ";", "=>")
	if item.public {
		c.Declare(in.name+"."+c.OperatorName(at, open), surface.Method, item.start, end)
	}
	return c.bodyEnd(end, to)
}

func (c *csharpFile) property(item csharpItem, stop int, name string, to int) int {
	end := c.Skip(stop)
	sig := stop
	if c.Is(stop, "{") {
		if c.isAccessors(stop) {
			sig = end
		}
		if c.Is(end, "=") {
			end = c.Until(end, to, ";") + 1
		}
	} else {
		end = c.bodyEnd(stop, to)
	}
	if item.public {
		c.Declare(name, surface.Variable, item.start, sig)
	}
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

func (c *csharpFile) fields(item csharpItem, stop, to int, in csharpScope) int {
	kind := surface.Variable
	if item.constant {
		kind = surface.Constant
	}
	doc, head := "", ""
	if item.public {
		doc, head = c.Doc(item.start), c.Signature(item.start, stop-1)
	}
	for {
		end := c.UntilTyped(stop, to, ",", ";")
		shown := stop
		if item.constant && end <= stop+3 {
			shown = end
		}
		if item.public && c.IsWord(stop-1) {
			c.Add(surface.Symbol{Name: surface.Qualify(in.name, ".", c.Name(stop-1)), Kind: kind, Doc: doc,
				Line: int(c.At(stop - 1).Line), Signature: head + " " + c.Signature(stop-1, shown)})
		}
		if !c.Is(end, ",") {
			return end + 1
		}
		stop = c.UntilTyped(end+1, to, "=", ",", ";")
	}
}

// isPrivate holds where no type is public. A longer file than was read may have one further down.
func isPrivate(text string, whole bool) bool {
	return (whole || strings.Contains(text, "class ")) && !strings.Contains(text, "public ")
}
