package surface

import (
	"context"
	"slices"
	"strings"
)

func csharp(ctx context.Context, text []byte) Outline {
	d := dialect{literal: csharpLiteral, directives: isCSharpDirective, terminated: true,
		docs: docStyle{text: xmlDoc}, attrs: csharpAttribute, repeats: true}
	c := &csharpFile{source: d.source(ctx, text, 0)}
	c.members(0, len(c.tokens), csharpScope{isFile: true})
	doc := c.fileDoc(func(i int) bool { return c.isOneOf(i, "using", "namespace", "[", "extern") })
	return Outline{Doc: doc, Symbols: c.symbols}
}

func isCSharpDirective(name string) bool {
	return slices.Contains([]string{"if", "elif", "else", "endif", "region", "endregion", "pragma", "nullable",
		"line", "error", "warning", "define", "undef"}, name)
}

func csharpLiteral(l *lexer) int {
	c := l.text[l.pos]
	if c == '\'' {
		return l.plainQuote(c)
	}
	if c != '"' && (c != '@' && c != '$' || isCSharpMark(l.at(-1))) { // where marks began no string, the rest does not
		return 0
	}
	ahead, dollars, verbatim := 0, 0, false
	for ; isCSharpMark(l.at(ahead)); ahead++ {
		if l.at(ahead) == '@' {
			verbatim = true
		} else {
			dollars++
		}
	}
	if l.at(ahead) != '"' {
		return 0
	}
	return csharpString(l, ahead, dollars, verbatim)
}

func isCSharpMark(c byte) bool { return c == '@' || c == '$' }

// csharpString reads a string whose quotes begin so many bytes ahead.
func csharpString(l *lexer, ahead, dollars int, verbatim bool) int {
	q := quoted{quote: `"`, until: '}', lines: verbatim, escapes: !verbatim, doubled: verbatim}
	if dollars > 0 {
		q.hole, q.twice = "{", true
	}
	if quotes := l.run(ahead, '"'); quotes >= 3 && !verbatim {
		q = quoted{quote: strings.Repeat(`"`, quotes), until: '}', lines: true}
		if dollars > 0 {
			q.hole = strings.Repeat("{", min(dollars, longestMark))
		}
		return l.literalEnd(ahead+quotes, q)
	}
	return l.literalEnd(ahead+1, q)
}

type csharpFile struct{ *source }

// csharpAttribute passes over [Name(...)] where a declaration or parameter begins.
func csharpAttribute(s *source, i int) int {
	if !s.is(i, "[") || !s.isWord(i+1) || i > 0 && !s.isOneOf(i-1, "{", "}", ";", "]", "(", ",", "<") {
		return i
	}
	next := s.skip(i)
	if s.isOneOf(next, ",", ")", "=", ";", "]", ">", "?") {
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
	if in.depth > deepestScope {
		return
	}
	for i := from; i < to && !c.full(); {
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
	item := csharpItem{start: i, at: c.attributes(i), public: in.implicit}
	seen, hidden := false, false
	for {
		switch c.str(item.at) {
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
		if !c.isWord(item.at+1) && c.at(item.at+1).kind != openToken {
			return item
		}
		item.at++
	}
}

func (c *csharpFile) member(start, to int, in csharpScope) int {
	if c.is(start, ";") || c.is(start, "{") {
		return c.skip(start)
	}
	item := c.begin(start, in)
	switch c.str(item.at) {
	case "using":
		return c.until(item.at, to, ";", "{") + 1
	case "namespace":
		end := c.until(item.at, to, ";", "{")
		if c.is(end, "{") {
			from, last := c.inside(end)
			c.members(from, last, csharpScope{isFile: true, depth: in.depth + 1})
		}
		return c.skip(end)
	case "class", "struct", "interface", "enum", "record":
		if c.isWord(item.at + 1) {
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
	end := c.until(i, to, ";", "{")
	if c.is(end, "{") {
		return int(c.at(end).pair)
	}
	return end
}

func (c *csharpFile) typeDecl(item csharpItem, to int, in csharpScope) int {
	name := item.at + 1
	if c.is(item.at, "record") && c.isOneOf(name, "class", "struct") {
		name++
	}
	end := c.untilTyped(name, to, "{", ";")
	inner := csharpScope{name: qualify(in.name, ".", c.name(name)), implicit: c.is(item.at, "interface"),
		depth: in.depth + 1}
	if item.public {
		c.declare(inner.name, Type, item.start, end)
		if c.is(end, "{") && !c.is(item.at, "enum") {
			from, last := c.inside(end)
			c.members(from, last, inner)
		}
	}
	return c.skip(end)
}

// typed reads a member that begins with its type: a method, property, event, field, constructor or operator.
func (c *csharpFile) typed(item csharpItem, to int, in csharpScope) int {
	i := item.at
	if c.is(i, "(") {
		i = c.skip(i)
	}
	stop := c.untilTyped(i, to, "(", "=", "=>", ";", "{", ",", "operator", "this", "}")
	switch {
	case c.is(stop, "operator"):
		return c.operator(item, stop, to, in)
	case c.is(stop, "this"):
		return c.property(item, c.untilTyped(stop, to, "=>", ";", "{"), in.name+".this[]", to)
	case c.is(stop, "("):
		return c.method(item, stop, to, in)
	case c.is(stop, "}"):
		return stop + 1
	}
	name := c.nameBefore(stop)
	full := qualify(in.name, ".", c.name(name))
	if c.isOneOf(name-1, ".") {
		item.public = false
	}
	if c.isOneOf(stop, "{", "=>") {
		return c.property(item, stop, full, to)
	}
	return c.fields(item, stop, to, in)
}

// nameBefore is the token of the name that ends before token i, without its type parameters.
func (c *csharpFile) nameBefore(i int) int {
	if open := int(c.at(i - 1).pair); c.is(i-1, ">") && open > 0 {
		return open - 1
	}
	return i - 1
}

func (c *csharpFile) method(item csharpItem, open, to int, in csharpScope) int {
	name := c.nameBefore(open)
	end := c.until(c.skip(open), to, "{", ";", "=>")
	sig := end
	if k := c.until(c.skip(open), end, ":"); k < end && !c.is(c.skip(open), "where") {
		sig = k
	}
	isExplicit := c.is(name-1, ".") || c.is(name-1, "~")
	if item.public && !isExplicit && c.isWord(name) {
		kind := Method
		if item.delegate {
			kind = Type
		}
		c.declare(qualify(in.name, ".", c.name(name)), kind, item.start, sig)
	}
	return c.bodyEnd(end, to)
}

func (c *csharpFile) bodyEnd(end, to int) int {
	if c.is(end, "=>") {
		end = c.until(end, to, ";")
	}
	return c.skip(end)
}

func (c *csharpFile) operator(item csharpItem, at, to int, in csharpScope) int {
	open := at + 2
	for open < to && !c.is(open, "(") {
		open++
	}
	end := c.until(c.skip(open), to, "{", ";", "=>")
	if item.public {
		c.declare(in.name+"."+c.operatorName(at, open), Method, item.start, end)
	}
	return c.bodyEnd(end, to)
}

func (c *csharpFile) property(item csharpItem, stop int, name string, to int) int {
	end := c.skip(stop)
	sig := stop
	if c.is(stop, "{") {
		if c.isAccessors(stop) {
			sig = end
		}
		if c.is(end, "=") {
			end = c.until(end, to, ";") + 1
		}
	} else {
		end = c.bodyEnd(stop, to)
	}
	if item.public {
		c.declare(name, Variable, item.start, sig)
	}
	return end
}

// isAccessors tells { get; private set; }.
func (c *csharpFile) isAccessors(i int) bool {
	from, to := c.inside(i)
	for ; from < to; from++ {
		if !c.isOneOf(from, "get", "set", "init", ";", "private", "protected", "internal", "add", "remove") {
			return false
		}
	}
	return true
}

func (c *csharpFile) fields(item csharpItem, stop, to int, in csharpScope) int {
	kind := Variable
	if item.constant {
		kind = Constant
	}
	doc, head := "", ""
	if item.public {
		doc, head = c.doc(item.start), c.signature(item.start, stop-1)
	}
	for {
		end := c.untilTyped(stop, to, ",", ";")
		shown := stop
		if item.constant && end <= stop+3 {
			shown = end
		}
		if item.public && c.isWord(stop-1) {
			c.add(Symbol{Name: qualify(in.name, ".", c.name(stop-1)), Kind: kind, Doc: doc,
				Line: int(c.at(stop - 1).line), Signature: head + " " + c.signature(stop-1, shown)})
		}
		if !c.is(end, ",") {
			return end + 1
		}
		stop = c.untilTyped(end+1, to, "=", ",", ";")
	}
}
