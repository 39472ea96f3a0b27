package surface

import "strings"

// declaration reads a function or variable whose type begins at token i.
func (c *cFile) declaration(start, sig, i, to int, in cScope) int {
	stop := i
	if c.is(i, "(") {
		stop = c.skip(i)
	}
	ends := []string{";", "{", "=", "operator", "}"}
	stop = c.seek(stop, to, search{name: "declaration", texts: ends, next: func(k int) int {
		if c.is(k, "(") && c.isFunction(k) {
			return k
		}
		return max(c.attributes(k), c.skipTyped(k))
	}})
	switch c.str(stop) {
	case "operator":
		return c.operator(start, sig, i, stop, to, in)
	case "(":
		name := c.functionName(stop)
		if name == i && c.str(name) != in.class && !c.is(i-1, ">") {
			return c.call(stop, to)
		}
		return c.function(start, sig, i, name, stop, to, in)
	case "{":
		return c.skip(stop)
	}
	end := c.until(stop, to, ";")
	c.variable(start, i, stop, end, in)
	return end + 1
}

// isFunction tells the parenthesis of parameters from those of decltype(x) and (*pointer).
func (c *cFile) isFunction(open int) bool {
	if !c.isWord(open-1) || c.isOneOf(open-1, "decltype", "noexcept", "explicit", "typeof", "sizeof") {
		return false
	}
	return !c.is(open+1, "*") || !c.is(c.skip(open), "(")
}

// functionName is the token of the name before the parameters; macros such as NAME((...)) may stand between.
func (c *cFile) functionName(open int) int {
	if c.is(open+1, "(") && isMacroName(c.bytes(open-1)) && c.isWord(open-2) {
		return open - 2
	}
	return open - 1
}

// call passes over a macro that is called where declarations stand.
func (c *cFile) call(open, to int) int {
	after := c.skip(open)
	if c.isOneOf(after, ";", "{") {
		return c.skip(after)
	}
	if c.breaks(after) || after >= to {
		return after
	}
	return c.until(after, to, ";", "{", "}")
}

func (c *cFile) function(start, sig, i, name, open, to int, in cScope) int {
	path := c.str(name)
	first := name
	for c.is(first-1, "::") && first-2 >= i && len(path) <= signatureRunes {
		if first -= 2; !c.isWord(first) {
			break
		}
		path = c.str(first) + "::" + path
	}
	return c.callable(cFunction{start: start, sig: sig, from: i, name: path, own: c.str(name), open: open,
		destroys: c.is(first-1, "~")}, to, in)
}

func (c *cFile) operator(start, sig, i, at, to int, in cScope) int {
	open := at + 1
	if c.is(open, "(") && c.is(open+1, ")") {
		open += 2
	}
	for open < to && !c.isOneOf(open, "(", ";", "{") {
		open++
	}
	if !c.is(open, "(") {
		return c.skip(open)
	}
	name := c.operatorName(at, open)
	return c.callable(cFunction{start: start, sig: sig, from: i, name: name, own: name, open: open}, to, in)
}

// cFunction is a function whose parameters begin at token open.
type cFunction struct {
	start, sig, from, open int
	name, own              string // with and without what it is qualified by
	destroys               bool
}

func (c *cFile) callable(f cFunction, to int, in cScope) int {
	end := c.until(c.skip(f.open), to, "{", ";", ":", "=", "try", "}")
	next, deleted := c.bodyEnd(end, to)
	isStatic := c.until(f.from, f.open, "static") < f.open
	isDefinition := c.isOneOf(end, "{", ":", "try")
	isInline := in.class != "" || c.until(f.start, f.open, "template", "inline", "constexpr") < f.open
	if isDefinition && !isStatic && !isInline {
		c.bodies++
	}
	if deleted || f.destroys || f.own == "" || f.own[0] == '_' || in.hidden {
		return next
	}
	kind := Function
	if in.class != "" || strings.Contains(f.name, "::") {
		kind = Method
	}
	if c.header {
		if !strings.Contains(f.name, "::") {
			c.found(f.name, kind, in, f.start, f.sig, end)
		}
		return next
	}
	if doc := c.doc(f.start); isDefinition && !isStatic && doc != "" {
		c.add(Symbol{Name: qualify(in.name, "::", f.name), Kind: kind, Signature: c.signature(f.sig, end), Doc: doc,
			Line: int(c.at(c.attributes(f.start)).line)})
	}
	return next
}

// bodyEnd is the token after the function whose head ends at token i.
func (c *cFile) bodyEnd(i, to int) (next int, deleted bool) {
	if c.is(i, "try") {
		i++
	}
	if c.is(i, ":") {
		i = c.initializers(i+1, to)
	}
	switch c.str(i) {
	case "{":
		i = c.skip(i)
		for c.is(i, "catch") {
			i = c.skip(c.until(i, to, "{", ";"))
		}
		return i, false
	case "=":
		deleted = c.is(i+1, "delete")
		return c.until(i, to, ";") + 1, deleted
	}
	return i + 1, false
}

// initializers passes over a(1), b{2} up to the body of a constructor.
func (c *cFile) initializers(i, to int) int {
	for i < to {
		i = c.untilTyped(i, to, "(", "{", ";")
		if c.is(i, ";") {
			return i
		}
		i = c.skip(i)
		if c.is(i, ".") {
			i += 3
		}
		if !c.is(i, ",") {
			break
		}
		i++
	}
	return min(i, to)
}

// variable keeps what is extern, and constants.
func (c *cFile) variable(start, i, stop, end int, in cScope) {
	kind := Kind("")
	for k := i; k < stop && k < i+12; k++ {
		switch c.str(k) {
		case "extern":
			kind = Variable
		case "constexpr", "const":
			if in.class == "" || c.until(i, stop, "static") < stop {
				kind = Constant
			}
		}
	}
	if kind == "" || stop-i < 3 {
		return
	}
	shown := stop
	if c.is(stop, "=") && end == stop+2 {
		shown = end
	}
	c.found(c.lastWord(i, stop), kind, in, start, i, shown)
}
