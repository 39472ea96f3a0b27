package c

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// declaration reads a function or variable whose type begins at token i.
func (c *cFile) declaration(start, sig, i, to int, in cScope) int {
	stop := i
	if c.Is(i, "(") {
		stop = c.Skip(i)
	}
	ends := []string{";", "{", "=", "operator", "}"}
	stop = c.Seek(stop, to, brace.Search{Name: "declaration", Texts: ends, Next: func(k int) int {
		if c.Is(k, "(") && c.isFunction(k) {
			return k
		}
		return max(c.Attributes(k), c.SkipTyped(k))
	}})
	switch c.Str(stop) {
	case "operator":
		return c.operator(start, sig, i, stop, to, in)
	case "(":
		name := c.functionName(stop)
		if name == i && c.Str(name) != in.class && !c.Is(i-1, ">") {
			return c.call(stop, to)
		}
		return c.function(start, sig, i, name, stop, to, in)
	case "{":
		return c.Skip(stop)
	}
	end := c.Until(stop, to, ";")
	c.variable(start, i, stop, end, in)
	return end + 1
}

// isFunction tells the parenthesis of parameters from those of decltype(x) and (*pointer).
func (c *cFile) isFunction(open int) bool {
	if !c.IsWord(open-1) || c.IsOneOf(open-1, "decltype", "noexcept", "explicit", "typeof", "sizeof") {
		return false
	}
	return !c.Is(open+1, "*") || !c.Is(c.Skip(open), "(")
}

// functionName is the token of the name before the parameters; macros such as NAME((...)) may stand between.
func (c *cFile) functionName(open int) int {
	if c.Is(open+1, "(") && brace.IsMacroName(c.Bytes(open-1)) && c.IsWord(open-2) {
		return open - 2
	}
	return open - 1
}

// call passes over a macro that is called where declarations stand.
func (c *cFile) call(open, to int) int {
	after := c.Skip(open)
	if c.IsOneOf(after, ";", "{") {
		return c.Skip(after)
	}
	if c.Breaks(after) || after >= to {
		return after
	}
	return c.Until(after, to, ";", "{", "}")
}

func (c *cFile) function(start, sig, i, name, open, to int, in cScope) int {
	path := c.Str(name)
	first := name
	for c.Is(first-1, "::") && first-2 >= i && len(path) <= surface.SignatureRunes {
		if first -= 2; !c.IsWord(first) {
			break
		}
		path = c.Str(first) + "::" + path
	}
	private := c.Is(first-1, "~") || c.Str(name)[0] == '_'
	return c.callable(cFunction{start, sig, i, open, path, private}, to, in)
}

func (c *cFile) operator(start, sig, i, at, to int, in cScope) int {
	open := at + 1
	if c.Is(open, "(") && c.Is(open+1, ")") {
		open += 2
	}
	for open < to && !c.IsOneOf(open, "(", ";", "{") {
		open++
	}
	if !c.Is(open, "(") {
		return c.Skip(open)
	}
	return c.callable(cFunction{start, sig, i, open, c.OperatorName(at, open), false}, to, in)
}

// cFunction is a function whose parameters begin at token open.
type cFunction struct {
	start, sig, from, open int
	name                   string // with what it is qualified by
	private                bool   // it begins with an underscore, or destroys
}

func (c *cFile) callable(f cFunction, to int, in cScope) int {
	end := c.Until(c.Skip(f.open), to, "{", ";", ":", "=", "try", "}")
	next, deleted := c.bodyEnd(end, to)
	isDefinition := c.IsOneOf(end, "{", ":", "try") && c.Until(f.from, f.open, "static") == f.open
	isInline := in.class != "" || c.Until(f.start, f.open, "template", "inline", "constexpr") < f.open
	if isDefinition && !isInline {
		c.bodies++
	}
	if deleted || f.private || in.hidden {
		return next
	}
	isQualified := strings.Contains(f.name, "::")
	kind := surface.Function
	if in.class != "" || isQualified {
		kind = surface.Method
	}
	if c.header && !isQualified {
		c.found(f.name, kind, in, f.start, f.sig, end)
	} else if doc := c.Doc(f.start); !c.header && isDefinition && doc != "" {
		c.Keep(surface.Qualify(in.name, "::", f.name), kind, c.Signature(f.sig, end), doc, c.Attributes(f.start))
	}
	return next
}

// bodyEnd is the token after the function whose head ends at token i.
func (c *cFile) bodyEnd(i, to int) (next int, deleted bool) {
	if c.Is(i, "try") {
		i++
	}
	if c.Is(i, ":") {
		i = c.initializers(i+1, to)
	}
	switch c.Str(i) {
	case "{":
		i = c.Skip(i)
		for c.Is(i, "catch") {
			i = c.Skip(c.Until(i, to, "{", ";"))
		}
		return i, false
	case "=":
		deleted = c.Is(i+1, "delete")
		return c.Until(i, to, ";") + 1, deleted
	}
	return i + 1, false
}

// initializers passes over a(1), b{2} up to the body of a constructor.
func (c *cFile) initializers(i, to int) int {
	for i < to {
		i = c.UntilTyped(i, to, "(", "{", ";")
		if c.Is(i, ";") {
			return i
		}
		i = c.Skip(i)
		if c.Is(i, ".") {
			i += 3
		}
		if !c.Is(i, ",") {
			break
		}
		i++
	}
	return min(i, to)
}

// variable keeps what is extern, and constants.
func (c *cFile) variable(start, i, stop, end int, in cScope) {
	kind := surface.Kind("")
	for k := i; k < stop && k < i+12; k++ {
		switch c.Str(k) {
		case "extern":
			kind = surface.Variable
		case "constexpr", "const":
			if in.class == "" || c.Until(i, stop, "static") < stop {
				kind = surface.Constant
			}
		}
	}
	if kind == "" || stop-i < 3 {
		return
	}
	shown := stop
	if c.Is(stop, "=") && end == stop+2 {
		shown = end
	}
	c.found(c.lastWord(i, stop), kind, in, start, i, shown)
}
