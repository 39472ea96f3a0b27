package literal

import (
	"maps"
	"path"
	"slices"
	"strings"
)

const maxText = 1 << 20

// program is a configuration with the modules that it imports.
type program struct {
	text    func(string) string
	modules map[string]*module
	steps   int // that are left
	depth   int
}

// module is one file.
type module struct {
	*program
	file    string
	toks    []token
	scope   *scope
	exports map[string]any
	python  bool
}

// scope holds what names stand for: values, later or imported.
type scope struct {
	outer *scope
	names map[string]any
}

func (s *scope) inner() *scope { return &scope{s, make(map[string]any)} }

// later is an expression that is evaluated when its value is asked for.
type later struct {
	m      *module
	at     int
	scope  *scope
	member string // of the value, if not ""
}

// imported is what another module exports.
type imported struct {
	m          *module
	from, name string
}

// Read returns what the module exports by default. A function stands for what it returns, and an unknown call for its
// first object. Function text returns the text of a file, or "". A file whose name ends in .json holds one value.
func Read(file string, text func(string) string) any {
	p := &program{text: text, modules: make(map[string]*module), steps: maxSteps}
	v := p.module(file).value("default")
	if f, ok := v.(*function); ok {
		v = f.call(nil)
	}
	for u, ok := v.(Unknown); ok && len(u.Args) > 0; u, ok = v.(Unknown) {
		v = wrapped(u.Args)
	}
	left := maxValues
	return copied(v, &left, 0)
}

// module returns a module, and nil if there is no such file.
func (p *program) module(file string) *module {
	if m, ok := p.modules[file]; ok {
		return m
	}
	text := p.text(file)
	if text == "" || len(text) > maxText {
		return nil
	}
	m := &module{program: p, file: file, toks: scan(text), scope: (*scope)(nil).inner(), exports: make(map[string]any)}
	p.modules[file] = m
	p.steps -= len(m.toks)
	if path.Ext(file) == ".json" {
		m.exports["default"] = later{m: m, scope: m.scope}
		return m
	}
	c := &cursor{module: m, scope: m.scope, dry: true}
	for !c.done() {
		c.statement()
	}
	return m
}

// value returns what the module exports by a name. The name * stands for all, and so does default in a module that
// exports nothing by default.
func (m *module) value(name string) any {
	if m == nil {
		return unknown("module")
	}
	if v, ok := m.exports[name]; ok {
		return m.force(v)
	}
	if name != "*" && name != "default" || len(m.exports) == 0 {
		return unknown(name)
	}
	o := &Object{}
	for _, name := range slices.Sorted(maps.Keys(m.exports)) {
		o.set(name, m.force(m.exports[name]))
	}
	return o
}

// force evaluates what a name stands for.
func (p *program) force(v any) any {
	switch v := v.(type) {
	case later:
		value := (&cursor{module: v.m, at: v.at, scope: v.scope}).expression()
		if v.member == "" {
			return value
		}
		return member(value, v.member)
	case imported: // in a circle, perhaps
		if p.depth > maxDepth {
			return unknown("too deep")
		}
		p.depth++
		defer func() { p.depth-- }()
		return v.m.load(v.from).value(v.name)
	}
	return v
}

var suffixes = strings.Fields(".ts .mts .js .mjs .cjs .cts .json /index.ts /index.mts /index.js /index.mjs")

// load returns a module by its relative path, and nil for modules of packages.
func (m *module) load(from string) *module {
	file := path.Join(path.Dir(m.file), from)
	if !strings.HasPrefix(from, ".") || strings.HasPrefix(file, "..") {
		return nil
	}
	if found := m.program.module(file); found != nil {
		return found
	}
	bare := strings.TrimSuffix(strings.TrimSuffix(file, ".js"), ".mjs")
	for _, suffix := range suffixes {
		if found := m.program.module(bare + suffix); found != nil {
			return found
		}
	}
	return nil
}

// statement reads a statement of the module: an import, an export, or a declaration. It passes over others.
func (c *cursor) statement() {
	switch {
	case c.isWord("import") && !c.isAt(1, "(") && !c.isAt(1, "."):
		c.imports()
	case c.isWord("export"):
		c.at++
		c.export()
	case c.isWord("module") && c.isAt(1, ".") && c.isAt(3, "="):
		c.at += 4
		c.exports["default"] = c.later()
	case c.isWord("exports") && c.isAt(1, ".") && c.isAt(3, "="):
		name := c.peek(2).text
		c.at += 4
		c.exports[name] = c.later()
	default:
		c.declaration()
	}
}

// imports reads an import, without its first word.
func (c *cursor) imports() {
	c.at++
	from := c.at
	for c.peek(0).kind != str && !c.done() && !c.is(";") {
		c.at++
	}
	file := c.peek(0).text
	for name, as := range names(c.toks[from:c.at]) {
		c.scope.names[as] = imported{c.module, file, name}
	}
}

// export reads what follows the word export.
func (c *cursor) export() {
	switch {
	case c.isWord("default"):
		c.at++
		c.exports["default"] = c.later()
	case c.is("{"):
		from := c.at
		c.skipPair()
		for name, as := range names(c.toks[from:c.at]) {
			if c.isWord("from") {
				c.exports[as] = imported{c.module, c.peek(1).text, name}
			} else if v, ok := c.scope.names[name]; ok {
				c.exports[as] = v
			}
		}
	default:
		if c.isWord("async") {
			c.at++
		}
		for _, name := range c.declaration() {
			c.exports[name] = c.scope.names[name]
		}
	}
}

// names returns the names of an import or export: "a, * as b, {c, d as e}" has default as a, * as b, c as c, d as e.
func names(toks []token) map[string]string {
	found, braces := make(map[string]string), false
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		name := t.text
		braces = braces || name == "{"
		if !braces && t.kind == word {
			name = "default"
		}
		as := t.text
		if i+2 < len(toks) && (toks[i+1].text == "as" || toks[i+1].text == ":") {
			i += 2
			as = toks[i].text
		}
		if (t.kind == word || as != t.text) && as != "from" && as != "type" {
			found[name] = as
		}
	}
	return found
}
