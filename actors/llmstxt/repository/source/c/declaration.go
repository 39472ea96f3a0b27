package c

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// cScope is the namespace or class that a declaration stands in.
type cScope struct {
	name   string // with those around it
	class  string // own name of the class; "" in a namespace
	hidden bool   // private members, namespaces of details
	depth  int
}

func (c *cFile) items(from, to int, in cScope) {
	if in.depth > brace.DeepestScope {
		return
	}
	c.Each(from, to, func(i int) int {
		if next, hidden, ok := c.label(i, to); ok && in.class != "" {
			in.hidden = hidden
			return next
		}
		return c.item(i, to, in)
	})
}

// label reads "public:" and "public slots:". What is not known is private.
func (c *cFile) label(i, to int) (next int, hidden, ok bool) {
	if c.IsWord(i) && c.Is(i+1, ":") && i+1 < to {
		return i + 2, !c.IsOneOf(i, "public", "signals", "Q_SIGNALS"), true
	}
	if c.IsOneOf(i, "public", "private", "protected") && c.IsWord(i+1) && c.Is(i+2, ":") {
		return i + 3, !c.Is(i, "public"), true
	}
	return i, false, false
}

func (c *cFile) item(start, to int, in cScope) int {
	i := c.Attributes(start)
	sig := start
	for c.Is(i, "template") {
		head := i
		if i = c.Angles(i + 1); i == head+1 {
			break
		}
		if c.At(i-1).Stop-c.At(head).Start > 60 {
			sig = i
		}
		if c.Is(i, "requires") {
			i = c.requires(i + 1)
			sig = i
		}
		i = c.Attributes(i)
	}
	switch c.Str(i) {
	case ";", "}", ")", "]":
		return i + 1
	case "{":
		return c.Skip(i)
	case "namespace", "inline":
		if c.Is(i, "namespace") || c.Is(i+1, "namespace") {
			return c.namespace(i, to, in)
		}
	case "extern":
		if c.At(i+1).Kind == brace.LiteralToken && c.Is(i+2, "{") {
			from, last := c.Inside(i + 2)
			c.items(from, last, in.deeper())
			return c.Skip(i + 2)
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
		return c.Skip(c.Until(i, to, ";", "{"))
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
		for c.Is(i, "!") {
			i++
		}
		if i = c.Skip(i); c.Is(i, "::") {
			i++
			continue
		}
		i = c.Angles(i)
		if c.Is(i, "(") {
			i = c.Skip(i)
		}
		if !c.IsOneOf(i, "&&", "||", "::") {
			return i
		}
		i++
	}
}

func (c *cFile) namespace(i, to int, in cScope) int {
	end := c.Until(i, to, "{", ";", "=")
	if !c.Is(end, "{") {
		return c.Until(end, to, ";") + 1
	}
	inner := in.deeper()
	for k := i; k < end && len(inner.name) <= surface.SignatureRunes; k++ {
		if !c.IsWord(k) || c.IsOneOf(k, "namespace", "inline") || brace.IsMacroName(c.Bytes(k)) {
			continue
		}
		if c.IsOneOf(k, "detail", "details", "internal", "impl", "_") {
			inner.hidden = true
		}
		if !c.Is(i, "inline") {
			inner.name = surface.Qualify(inner.name, "::", c.Str(k))
		}
	}
	if end == i+1 && c.Is(i, "namespace") {
		inner.hidden = true
	}
	from, last := c.Inside(end)
	c.items(from, last, inner)
	return c.Skip(end)
}

// found keeps a declaration that others can use.
func (c *cFile) found(name string, kind surface.Kind, in cScope, start, sig, end int) {
	if in.hidden || !c.header || name == "" || name[0] == '_' {
		return
	}
	c.Keep(surface.Qualify(in.name, "::", name), kind, c.Signature(sig, end), c.Doc(start), c.Attributes(start))
}

func (c *cFile) using(start, i, to int, in cScope) int {
	end := c.Until(i, to, ";")
	if c.IsWord(i+1) && (c.Is(i+2, "=") || c.Is(i+2, "[")) {
		c.found(c.Str(i+1), surface.Type, in, start, i, end)
	}
	return end + 1
}

func (c *cFile) typedef(start, i, to int, in cScope) int {
	end := c.Until(i, to, ";")
	if in.hidden || !c.header {
		return end + 1
	}
	body := c.Until(i, end, "{")
	from, sig, doc := i+1, c.Signature(i, body), c.Doc(start)
	if body < end {
		from = c.Skip(body)
		sig += " " + c.Signature(from, end)
	}
	for from < end {
		stop := c.UntilTyped(from, end, ",")
		name := c.lastWord(from, stop)
		if open := c.Until(from, stop, "("); open < stop && !isAttributeWord(c.Str(open-1)) {
			name = c.pointerName(open)
		}
		if name != "" && name[0] != '_' {
			c.Keep(surface.Qualify(in.name, "::", name), surface.Type, sig, doc, i)
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
	from, to := c.Inside(open)
	if c.Is(c.Skip(open), "(") || c.Is(from, "*") {
		return c.lastWord(from, to)
	}
	if c.IsWord(open - 1) {
		return c.Str(open - 1)
	}
	return ""
}

// lastWord is the last name outside of groups and attributes.
func (c *cFile) lastWord(from, to int) string {
	name := ""
	for i := from; i < to; i = c.Skip(i) {
		if next := c.Attributes(i); next > i {
			i = next - 1
			continue
		}
		if c.IsWord(i) && !c.IsOneOf(i, "const", "volatile", "__restrict") {
			name = c.Str(i)
		}
	}
	return name
}

// className is the words outside of attributes. What is too long for a name is cut.
func (c *cFile) className(from, to int) string {
	name := ""
	for i := from; i < to && len(name) <= surface.SignatureRunes; i++ {
		if next := c.Attributes(i); next > i {
			i = next - 1
		} else if !c.Is(i, "final") {
			name += c.Str(i)
		}
	}
	return name
}

// class reads the definition of a struct, class, union or enum; it gives i where the keyword begins something else.
func (c *cFile) class(start, sig, i, to int, in cScope) int {
	isEnum := c.Is(i, "enum")
	n := i + 1
	if isEnum && c.IsOneOf(n, "class", "struct") {
		n++
	}
	from := n
	n = c.Seek(n, to, brace.Search{Name: "class", Next: func(i int) int {
		if next := c.Attributes(i); next > i {
			return next
		}
		if c.IsWord(i) || c.Is(i, "::") {
			return i + 1
		}
		return i
	}})
	name := c.className(from, n)
	special := n
	if n = c.Angles(n); n > special {
		name = ""
	}
	if c.Is(n, "final") {
		n++
	}
	body := n
	if c.Is(n, ":") {
		body = c.UntilTyped(n, to, "{", ";")
	}
	if !c.Is(body, "{") {
		if c.Is(n, ";") {
			return n + 1
		}
		return i
	}
	c.found(name, surface.Type, in, start, sig, body)
	if !isEnum && name != "" && !strings.Contains(name, "::") {
		inner := cScope{name: surface.Qualify(in.name, "::", name), class: name, hidden: c.Is(i, "class"),
			depth: in.depth + 1}
		if from, last := c.Inside(body); !in.hidden {
			c.items(from, last, inner)
		}
	}
	after := c.Skip(body)
	if c.Is(after, ";") {
		return after + 1
	}
	if c.IsWord(after) && !c.Breaks(after) || c.Is(after, "*") {
		return c.Until(after, to, ";", "{") + 1
	}
	return after
}
