package literal

import (
	"slices"
	"strconv"
	"strings"
)

const (
	maxSteps = 1_000_000
	maxDepth = 400
)

// cursor evaluates a module's expressions from a token on.
type cursor struct {
	*module
	at    int
	scope *scope
	dry   bool // finds the end of expressions only: names and calls are unknown
}

func (c *cursor) peek(n int) token          { return c.toks[min(c.at+n, len(c.toks)-1)] }
func (c *cursor) done() bool                { return c.peek(0).kind == end }
func (c *cursor) is(text string) bool       { return c.isAt(0, text) }
func (c *cursor) isWord(text string) bool   { return c.peek(0).kind == word && c.peek(0).text == text }
func (c *cursor) isAt(n int, t string) bool { return c.peek(n).kind == mark && c.peek(n).text == t }

func (c *cursor) eat(text string) bool {
	if c.is(text) {
		c.at++
		return true
	}
	return false
}

// skipPair passes a bracket and all up to the one that closes it.
func (c *cursor) skipPair() { c.at = c.peek(0).pair + 1 }

// opens reports whether a bracket is next.
func (c *cursor) opens() bool { return c.peek(0).pair > 0 }

// closes reports whether the end of a list or a statement is next.
func (c *cursor) closes() bool {
	t := c.peek(0)
	return t.kind == end || t.kind == mark && len(t.text) == 1 && strings.Contains(")]};,", t.text)
}

// skipItem passes what is left of an item.
func (c *cursor) skipItem() {
	for !c.closes() {
		if c.opens() {
			c.skipPair()
		} else {
			c.at++
		}
	}
}

// nested evaluates within the bounds of depth and steps. Beyond them it gives up the module.
func (c *cursor) nested(f func() any) any {
	if c.steps--; c.steps < 0 || c.depth > maxDepth {
		c.at = len(c.toks) - 1
		return unknown("too deep")
	}
	c.depth++
	defer func() { c.depth-- }()
	return f()
}

// passed runs f for its place only.
func (c *cursor) passed(f func() any) {
	defer func(dry bool) { c.dry = dry }(c.dry)
	c.dry = true
	f()
}

// later passes an expression and returns it.
func (c *cursor) later() later {
	v := later{m: c.module, at: c.at, scope: c.scope}
	c.passed(c.expression)
	return v
}

func (c *cursor) expression() any { return c.nested(c.conditional) }

// item evaluates an item of a list. It is unknown if more stands there than an expression.
func (c *cursor) item() any {
	v := c.expression()
	if !c.closes() {
		c.skipItem()
		return unknown("syntax")
	}
	return v
}

func (c *cursor) conditional() any {
	v := c.binary(0)
	switch {
	case c.eat("="):
		c.passed(c.expression)
		return unknown("assignment")
	case !c.eat("?"):
		return v
	case !c.dry && isUnknown(v):
		c.passed(c.expression)
		c.eat(":")
		c.passed(c.expression)
		return unknown("condition")
	case truthy(v):
		yes := c.expression()
		c.eat(":")
		c.passed(c.expression)
		return yes
	}
	c.passed(c.expression)
	c.eat(":")
	return c.expression()
}

func (c *cursor) binary(above int) any {
	v := c.unary()
	for {
		t := c.peek(0)
		switch {
		case t.kind == word && (t.text == "as" || t.text == "satisfies") && !t.fresh:
			c.at++
			c.skipType()
		case t.kind != str && precedence[t.text] > above:
			c.at++
			v = combine(t.text, v, c.binary(precedence[t.text]))
			c.pay(v)
		default:
			return v
		}
	}
}

// pay counts the size of a value that was put together as steps.
func (c *cursor) pay(v any) {
	switch v := v.(type) {
	case string:
		c.steps -= len(v) / 16
	case []any:
		c.steps -= len(v)
	}
}

// skipType passes a type of TypeScript.
func (c *cursor) skipType() {
	from := c.at
	for angles := 0; !c.done(); {
		t := c.peek(0)
		switch {
		case t.kind == mark && angles == 0 && slices.Contains(typeEnds, t.text):
			c.steps -= c.at - from
			return
		case t.kind == word && t.fresh && angles == 0 && c.at > from && !slices.Contains(typeMarks, c.peek(-1).text):
			c.steps -= c.at - from
			return
		case t.text == "<":
			angles++
		case t.text == ">":
			angles--
		}
		if c.is("{") && c.at > from && c.peek(-1).text != "|" && c.peek(-1).text != "&" && angles == 0 {
			return // the body of a function
		}
		if c.opens() {
			c.skipPair()
		} else {
			c.at++
		}
	}
}

var (
	typeEnds  = strings.Fields(") ] } , ; = ? : && || ?? =>")
	typeMarks = strings.Fields("| & . =>")
)

func (c *cursor) unary() any {
	t := c.peek(0)
	switch {
	case t.kind == mark && (t.text == "!" || t.text == "-" || t.text == "+"):
		c.at++
		return negate(t.text, c.nested(c.unary))
	case t.kind == word && t.text == "await":
		c.at++
		return c.nested(c.unary)
	case t.kind == word && (t.text == "typeof" || t.text == "void" || t.text == "delete"):
		c.at++
		c.nested(c.unary)
		return unknown(t.text)
	case t.kind == word && t.text == "new":
		c.at++
		return made(c.nested(c.unary))
	}
	return c.nested(c.postfix)
}

// made returns the path of a new URL.
func made(v any) any {
	if u, ok := v.(Unknown); ok && u.Name == "URL" && len(u.Args) > 0 {
		return u.Args[0]
	}
	return unknown("new")
}

func (c *cursor) postfix() any {
	var of any // the value that has the member
	name := c.peek(0).text
	v := c.primary()
	for {
		switch {
		case c.is("."), c.is("?.") && c.peek(1).kind == word:
			name, of = c.peek(1).text, v
			c.at += 2
			v = member(v, name)
		case c.eat("["):
			key := c.expression()
			c.eat("]")
			of, v = v, index(v, key)
		case c.is("!") && !c.peek(0).fresh, c.is("?."), c.is("++"), c.is("--"):
			c.at++
		case c.is("<") && c.generic() > 0:
			c.at = c.generic()
		case c.eat("("):
			v = c.call(v, of, name, c.items(")"))
			of = nil
		default:
			return v
		}
	}
}

// generic returns the place behind <types> that a call follows, or 0.
func (c *cursor) generic() int {
	deep := 0
	for i := range 60 {
		switch t := c.peek(i); {
		case t.kind == end, t.kind == mark && slices.Contains([]string{";", "=", "&&", "||"}, t.text):
			return 0
		case t.text == "<":
			deep++
		case t.text == ">":
			deep--
		}
		if deep == 0 {
			if c.isAt(i+1, "(") {
				return c.at + i + 1
			}
			return 0
		}
	}
	return 0
}

func (c *cursor) primary() any {
	t := c.peek(0)
	switch {
	case t.kind == end:
		return unknown("end")
	case t.kind == word:
		return c.word(t.text)
	case c.is("(") && c.arrow():
		return c.function()
	case c.opens() && t.text != "(":
		c.at++
		if t.text == "[" {
			return c.items("]")
		}
		return c.object()
	}
	c.at++
	switch {
	case t.kind == str:
		return c.adjacent(t.text)
	case t.kind == number:
		if n, err := strconv.ParseFloat(t.text, 64); err == nil {
			return n
		}
	case t.text == "`":
		return c.adjacent(c.template())
	case t.text == "(" && c.python:
		list := c.items(")")
		if len(list) == 1 && c.peek(-2).text != "," {
			return list[0]
		}
		return list
	case t.text == "(":
		v := c.expression()
		for c.eat(",") {
			v = c.expression()
		}
		c.skipItem()
		c.eat(")")
		return v
	}
	return unknown(t.text)
}

// adjacent joins the texts of Python that stand side by side.
func (c *cursor) adjacent(v any) any {
	if next := c.peek(0); c.python && !next.fresh && (next.kind == str || next.text == "`") {
		return combine("+", v, c.nested(c.primary))
	}
	return v
}

var constants = map[string]any{"true": true, "false": false, "null": nil, "undefined": nil, "True": true, "False": false, "None": nil}

func (c *cursor) word(name string) any {
	next := c.peek(1)
	switch {
	case name == "async" && (next.kind == word || next.text == "("):
		c.at++
		return c.primary()
	case name == "function", c.isAt(1, "=>"):
		return c.function()
	}
	c.at++
	if v, ok := constants[name]; ok {
		return v
	}
	return c.lookup(name)
}

func (c *cursor) lookup(name string) any {
	for s := c.scope; s != nil && !c.dry; s = s.outer {
		if v, ok := s.names[name]; ok {
			return c.force(v)
		}
	}
	return unknown(name)
}

// template evaluates what follows the first ` of a template.
func (c *cursor) template() any {
	var b strings.Builder
	known := true
	for !c.done() && !c.eat("`") {
		t := c.peek(0)
		c.at++
		if t.kind == str {
			b.WriteString(t.text)
		} else if t.text == "${" {
			text, ok := show(c.item())
			b.WriteString(text)
			known = known && ok
			c.eat("}")
		}
	}
	if c.steps -= b.Len(); !known || b.Len() > maxText {
		return unknown("template")
	}
	return b.String()
}

// items evaluates a list up to its closing bracket.
func (c *cursor) items(closing string) []any {
	list := []any{}
	for !c.done() && !c.eat(closing) {
		if c.eat(",") {
			continue
		}
		if !c.eat("...") {
			list = append(list, c.item())
		} else if v := c.item(); !isList(v) {
			list = append(list, unknown("spread"))
		} else {
			list = append(list, v.([]any)...)
			c.steps -= len(v.([]any))
		}
	}
	return list
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// object evaluates an object up to its closing bracket.
func (c *cursor) object() any {
	o := &Object{}
	for !c.done() && !c.eat("}") {
		switch {
		case c.eat(","):
		case c.eat("..."):
			v := c.item()
			o.merge(v)
			c.steps -= len(o.keys)
		default:
			c.property(o)
		}
	}
	return o
}

func (c *cursor) property(o *Object) {
	for c.peek(0).kind == word && (c.peek(1).kind == word || c.peek(1).kind == str) {
		c.at++ // async, get, set
	}
	t := c.peek(0)
	key := t.text
	if c.eat("[") {
		key, _ = show(c.expression())
		c.skipItem()
	}
	c.at++
	switch {
	case c.eat(":"):
		o.set(key, c.item())
	case c.is("("):
		o.set(key, c.function())
	case t.kind == word:
		o.set(key, c.lookup(key))
	}
	c.skipItem()
}
