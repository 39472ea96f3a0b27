package surface

import "strings"

// cScope is the namespace or class that a declaration stands in.
type cScope struct {
	name   string // with those around it
	class  string // own name of the class; "" in a namespace
	hidden bool   // private members, namespaces of details
	depth  int
}

func (c *cFile) items(from, to int, in cScope) {
	if in.depth > deepestScope {
		return
	}
	for i := from; i < to && !c.full(); {
		if next, hidden, ok := c.label(i, to); ok && in.class != "" {
			in.hidden = hidden
			i = next
			continue
		}
		i = max(c.item(i, to, in), i+1)
	}
}

// label reads "public:" and "public slots:". What is not known is private.
func (c *cFile) label(i, to int) (next int, hidden, ok bool) {
	if c.isWord(i) && c.is(i+1, ":") && i+1 < to {
		return i + 2, !c.isOneOf(i, "public", "signals", "Q_SIGNALS"), true
	}
	if c.isOneOf(i, "public", "private", "protected") && c.isWord(i+1) && c.is(i+2, ":") {
		return i + 3, !c.is(i, "public"), true
	}
	return i, false, false
}

func (c *cFile) item(start, to int, in cScope) int {
	i := c.attributes(start)
	sig := start
	for c.is(i, "template") {
		head := i
		if i = c.angles(i + 1); i == head+1 {
			break
		}
		if c.at(i-1).stop-c.at(head).start > 60 {
			sig = i
		}
		if c.is(i, "requires") {
			i = c.requires(i + 1)
			sig = i
		}
		i = c.attributes(i)
	}
	switch c.str(i) {
	case ";", "}", ")", "]":
		return i + 1
	case "{":
		return c.skip(i)
	case "namespace", "inline":
		if c.is(i, "namespace") || c.is(i+1, "namespace") {
			return c.namespace(i, to, in)
		}
	case "extern":
		if c.at(i+1).kind == literalToken && c.is(i+2, "{") {
			from, last := c.inside(i + 2)
			c.items(from, last, in.deeper())
			return c.skip(i + 2)
		}
	case "using":
		return c.using(start, i, to, in)
	case "typedef":
		return c.typedef(start, i, to, in)
	case "struct", "class", "union", "enum":
		if next := c.class(start, sig, i, to, in); next > i {
			return next
		}
	case "friend", "static_assert", "_Static_assert", "asm", "concept":
		return c.skip(c.until(i, to, ";", "{"))
	}
	return c.declaration(start, sig, i, to, in)
}

func (in cScope) deeper() cScope {
	in.depth++
	return in
}

// requires passes over the constraint of a template.
func (c *cFile) requires(i int) int {
	for {
		for c.is(i, "!") {
			i++
		}
		if i = c.skip(i); c.is(i, "::") {
			i++
			continue
		}
		i = c.angles(i)
		if c.is(i, "(") {
			i = c.skip(i)
		}
		if !c.isOneOf(i, "&&", "||", "::") {
			return i
		}
		i++
	}
}

func (c *cFile) namespace(i, to int, in cScope) int {
	end := c.until(i, to, "{", ";", "=")
	if !c.is(end, "{") {
		return c.until(end, to, ";") + 1
	}
	inner := in.deeper()
	for k := i; k < end && len(inner.name) <= signatureRunes; k++ {
		if !c.isWord(k) || c.isOneOf(k, "namespace", "inline") || isMacroName(c.bytes(k)) {
			continue
		}
		if c.isOneOf(k, "detail", "details", "internal", "impl", "_") {
			inner.hidden = true
		}
		if !c.is(i, "inline") {
			inner.name = qualify(inner.name, "::", c.str(k))
		}
	}
	if end == i+1 && c.is(i, "namespace") {
		inner.hidden = true
	}
	from, last := c.inside(end)
	c.items(from, last, inner)
	return c.skip(end)
}

// found keeps a declaration that others can use.
func (c *cFile) found(name string, kind Kind, in cScope, start, sig, end int) {
	if in.hidden || !c.header || name == "" || name[0] == '_' {
		return
	}
	doc := c.doc(start)
	if doc == "" && c.is(end, ";") {
		doc = c.trailing(end)
	}
	c.add(Symbol{Name: qualify(in.name, "::", name), Kind: kind, Signature: c.signature(sig, end), Doc: doc,
		Line: int(c.at(c.attributes(start)).line)})
}

// trailing is the documentation that follows the declaration whose last token is given: a comment that says so, or
// one that touches it and nothing else.
func (c *cFile) trailing(end int) string {
	t, next := c.at(end), c.at(end+1)
	if t.notes >= next.notes {
		return ""
	}
	n := c.notes[t.notes]
	text := string(c.text[n.start:min(n.start+4, n.stop)])
	says := n.line == t.last && (strings.HasSuffix(text, "<") || text == "/**<" || text == "/*!<")
	touches := n.kind == blockComment && n.line-t.last == 1 && next.line-n.last > 1
	if n.kind == directive || !says && !touches {
		return ""
	}
	return c.summary(c.comments(c.notes[t.notes : t.notes+1]))
}

func (c *cFile) using(start, i, to int, in cScope) int {
	end := c.until(i, to, ";")
	if c.isWord(i+1) && (c.is(i+2, "=") || c.is(i+2, "[")) {
		c.found(c.str(i+1), Type, in, start, i, end)
	}
	return end + 1
}

func (c *cFile) typedef(start, i, to int, in cScope) int {
	end := c.until(i, to, ";")
	body := c.until(i, end, "{")
	from := i + 1
	sig := c.signature(i, body)
	if body < end {
		from = c.skip(body)
		sig += " " + c.signature(from, end)
	}
	doc := ""
	if !in.hidden && c.header {
		doc = c.doc(start)
	}
	for from < end && !in.hidden && c.header {
		stop := c.untilTyped(from, end, ",")
		name := c.lastWord(from, stop)
		if open := c.until(from, stop, "("); open < stop && !isAttributeWord(c.str(open-1)) {
			name = c.pointerName(open)
		}
		if name != "" && name[0] != '_' {
			c.add(Symbol{Name: qualify(in.name, "::", name), Kind: Type, Signature: sig, Doc: doc,
				Line: int(c.at(i).line)})
		}
		from = stop + 1
	}
	return end + 1
}

// isAttributeWord tells what takes arguments without being a function.
func isAttributeWord(name string) bool {
	return strings.HasPrefix(name, "__") || name == "alignas" || name == "decltype"
}

// pointerName is the name in "(*name)(...)", or the one before the parenthesis.
func (c *cFile) pointerName(open int) string {
	from, to := c.inside(open)
	if c.is(c.skip(open), "(") || c.is(from, "*") {
		return c.lastWord(from, to)
	}
	if c.isWord(open - 1) {
		return c.str(open - 1)
	}
	return ""
}

// lastWord is the last name outside of groups and attributes.
func (c *cFile) lastWord(from, to int) string {
	name := ""
	for i := from; i < to; i = c.skip(i) {
		if next := c.attributes(i); next > i {
			i = next - 1
			continue
		}
		if c.isWord(i) && !c.isOneOf(i, "const", "volatile", "__restrict") {
			name = c.str(i)
		}
	}
	return name
}

// className is the words outside of attributes. What is too long for a name is cut.
func (c *cFile) className(from, to int) string {
	name := ""
	for i := from; i < to && len(name) <= signatureRunes; i++ {
		if next := c.attributes(i); next > i {
			i = next - 1
		} else if !c.is(i, "final") {
			name += c.str(i)
		}
	}
	return name
}

// class reads the definition of a struct, class, union or enum; it gives i where the keyword begins something else.
func (c *cFile) class(start, sig, i, to int, in cScope) int {
	isEnum := c.is(i, "enum")
	n := i + 1
	if isEnum && c.isOneOf(n, "class", "struct") {
		n++
	}
	from := n
	n = c.seek(n, to, search{name: "class", next: func(i int) int {
		if next := c.attributes(i); next > i {
			return next
		}
		if c.isWord(i) || c.is(i, "::") {
			return i + 1
		}
		return i
	}})
	name := c.className(from, n)
	special := n
	if n = c.angles(n); n > special {
		name = ""
	}
	if c.is(n, "final") {
		n++
	}
	body := n
	if c.is(n, ":") {
		body = c.untilTyped(n, to, "{", ";")
	}
	if !c.is(body, "{") {
		if c.is(n, ";") {
			return n + 1
		}
		return i
	}
	c.found(name, Type, in, start, sig, body)
	if !isEnum && name != "" && !strings.Contains(name, "::") {
		inner := cScope{name: qualify(in.name, "::", name), class: name, hidden: c.is(i, "class"), depth: in.depth + 1}
		if from, last := c.inside(body); !in.hidden {
			c.items(from, last, inner)
		}
	}
	after := c.skip(body)
	if c.is(after, ";") {
		return after + 1
	}
	if c.isWord(after) && !c.breaks(after) || c.is(after, "*") {
		return c.until(after, to, ";", "{") + 1
	}
	return after
}
