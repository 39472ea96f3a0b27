package literal

import (
	"path"
	"regexp"
	"slices"
)

// function is a function that can be evaluated if it only declares names and returns an expression.
type function struct {
	params []param
	body   cursor // at the body
}

type param struct {
	names     map[string]string
	otherwise *later
}

// arrow reports whether the bracket begins the parameters of an arrow function.
func (c *cursor) arrow() bool {
	after := *c
	after.skipPair()
	if after.eat(":") {
		after.skipType()
	}
	return after.is("=>")
}

func (c *cursor) function() any {
	f := &function{}
	if c.isWord("function") {
		for c.at++; c.is("*") || c.peek(0).kind == word; {
			c.at++
		}
	}
	if c.eat("(") {
		f.params = c.params()
	} else {
		f.params = []param{{names: c.pattern()}}
	}
	if c.eat(":") {
		c.skipType()
	}
	arrow := c.eat("=>")
	f.body = *c
	if c.is("{") {
		c.skipPair()
	} else if arrow {
		c.passed(c.expression)
	}
	return f
}

func (c *cursor) params() (all []param) {
	for !c.done() && !c.eat(")") {
		if c.eat(",") {
			continue
		}
		c.eat("...")
		p := param{names: c.pattern()}
		c.eat("?")
		c.annotation()
		if c.eat("=") {
			p.otherwise = new(c.later())
		}
		all = append(all, p)
	}
	return all
}

// pattern reads what is declared: a name, which stands for the whole value, or names of members.
func (c *cursor) pattern() map[string]string {
	from := c.at
	if c.opens() {
		c.skipPair()
		return names(c.toks[from:c.at])
	}
	c.at++
	return map[string]string{"": c.peek(-1).text}
}

// annotation passes the type of what is declared.
func (c *cursor) annotation() {
	if c.eat(":") {
		c.skipType()
		for c.eat("=>") {
			c.skipType()
		}
	}
}

// declaration reads a declaration, and returns its names. It passes over a part of what is none.
func (c *cursor) declaration() (found []string) {
	switch {
	case c.isWord("const"), c.isWord("let"), c.isWord("var"):
		c.at++
		for more := true; more; more = c.eat(",") {
			pattern := c.pattern()
			c.annotation()
			if !c.eat("=") {
				continue
			}
			v := c.later()
			for name, as := range pattern {
				v.member = name
				c.scope.names[as] = v
				found = append(found, as)
			}
		}
	case c.isWord("function"):
		name := c.peek(1).text
		c.scope.names[name] = c.later()
		return []string{name}
	case c.opens():
		c.skipPair()
	default:
		c.at++
	}
	return found
}

// call evaluates the function.
func (f *function) call(args []any) any {
	c := f.body
	c.scope, c.dry = c.scope.inner(), false
	for i, p := range f.params {
		v := unknown("argument")
		if i < len(args) {
			v = args[i]
		} else if p.otherwise != nil {
			v = c.force(*p.otherwise)
		}
		for name, as := range p.names {
			if name == "" {
				c.scope.names[as] = v
			} else {
				c.scope.names[as] = member(v, name)
			}
		}
	}
	return c.nested(c.result)
}

// result evaluates the body of a function.
func (c *cursor) result() any {
	if !c.eat("{") {
		return c.expression()
	}
	for !c.done() && !c.is("}") {
		switch t := c.peek(0); {
		case c.isWord("return"):
			c.at++
			return c.expression()
		case t.kind == word && slices.Contains(control, t.text):
			return unknown(t.text)
		default:
			c.declaration()
		}
	}
	return unknown("no return")
}

var control = []string{"if", "for", "while", "switch", "try", "do", "throw"}

// call returns what a call of a function or method returns.
func (c *cursor) call(f, of any, name string, args []any) any {
	if f, ok := f.(*function); ok && !c.dry {
		return f.call(args)
	} else if c.dry {
		return unknown(name)
	}
	list, isList := of.([]any)
	owner, _ := of.(Unknown)
	switch {
	case isList:
		return c.method(list, name, args)
	case of == nil && name == "require" && len(args) > 0:
		from, _ := args[0].(string)
		return c.load(from).value("default")
	case (name == "get" || name == "getenv") && len(args) == 2: // of a setting and its default, in Python
		return args[1]
	case name == "resolve" || name == "join" || name == "fileURLToPath":
		return joined(args)
	case owner.Name == "Object" && name == "assign":
		o := &Object{}
		for _, a := range args {
			o.merge(a)
		}
		return o
	case owner.Name == "Object" && name == "freeze" && len(args) > 0:
		return args[0]
	case wrapper.MatchString(name):
		return wrapped(args)
	}
	return Unknown{name, args}
}

var wrapper = regexp.MustCompile(`^(define|with)[A-Z]`)

// wrapped returns the object among the arguments of a function such as defineConfig, else the first of them.
func wrapped(args []any) any {
	for _, v := range args {
		if f, ok := v.(*function); ok {
			v = f.call(nil)
		}
		if o, ok := v.(*Object); ok {
			return o
		}
	}
	return append(args, unknown("wrapper"))[0]
}

// joined returns a path of those parts that are known.
func joined(args []any) any {
	var parts []string
	for _, a := range args {
		if text, ok := a.(string); ok {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		return unknown("path")
	}
	return path.Join(parts...)
}

// method returns what a method of a list returns.
func (c *cursor) method(list []any, name string, args []any) any {
	c.steps -= len(list)
	var first any
	if len(args) > 0 {
		first = args[0]
	}
	switch name {
	case "concat":
		return flat(append([]any{list}, args...))
	case "flat":
		return flat(list)
	case "filter":
		if name, ok := first.(Unknown); ok && name.Name == "Boolean" {
			return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return !truthy(v) && !isUnknown(v) })
		}
	case "map", "flatMap":
		f, ok := first.(*function)
		if !ok {
			break
		}
		mapped := make([]any, len(list))
		for i, v := range list {
			mapped[i] = f.call([]any{v, float64(i)})
		}
		if name == "flatMap" {
			return flat(mapped)
		}
		return mapped
	}
	return unknown(name)
}

func flat(list []any) any {
	var all []any
	for _, v := range list {
		if len(all) > maxValues {
			return unknown("too long")
		}
		if inner, ok := v.([]any); ok {
			all = append(all, inner...)
		} else {
			all = append(all, v)
		}
	}
	return all
}
