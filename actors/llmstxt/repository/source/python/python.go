package python

import (
	"cmp"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Python.
var Language = language.Language{Name: "Python", Outline: outline, Imports: imports, Code: withoutDocstrings,
	Note: note, Folders: folders, Family: "python", Ecosystems: []string{"pypi"},
	Tests: []string{"import pytest", "import unittest", "from unittest"}}

func outline(ctx context.Context, text []byte) surface.Outline {
	p := pyModule{reader: pyReader{text: string(text), number: 1}, at: map[string]int{}, waiting: -1}
	p.Outside.symbol = -1
	for clock := (surface.Clock{Context: ctx}); ; {
		line, ok := p.reader.next()
		if !ok || clock.Over() {
			return p.outline()
		}
		p.line(line)
	}
}

// pySymbol is a symbol with what decides whether it is public.
type pySymbol struct {
	surface.Symbol
	weak   bool     // public only if __all__ says so; gives way to a definition
	facade bool     // public only if the module defines nothing itself
	made   bool     // a class whose signature has that of its __init__
	fields []string // of a class, in case that it has no __init__
}

// pyScope is a block.
type pyScope struct {
	hidden bool   // a function's body, or nothing that others see
	class  string // "Outer.Inner."; "" outside classes
	symbol int    // of the class, else -1
}

type pyModule struct {
	reader pyReader
	surface.Blocks[pyScope]
	symbols    []pySymbol
	at         map[string]int  // where a name is in symbols
	all        map[string]bool // nil if __all__ does not tell
	decorators []string
	remarks    surface.Remarks
	comment    string // the block of comments above the line
	waiting    int    // the symbol whose docstring may come next, else -1
}

func (p *pyModule) line(line pyLine) {
	if line.text[0] == '#' {
		if line.number > 1 || !strings.HasPrefix(line.text, "#!") {
			p.remarks.Add(line.number, strings.TrimLeft(line.text, "#"))
		}
		return
	}
	if above := p.remarks.Above(line.number); p.decorators == nil {
		p.comment = above
	}
	p.Enter(line.indent - 1)
	isDoc := isPyString(line.text)
	if i := p.waiting; i >= 0 && isDoc && p.symbols[i].Doc == "" {
		p.symbols[i].Doc = surface.Summary(pyDoc(line.text))
	}
	p.waiting = -1
	if p.Block().hidden || isDoc {
		p.decorators, p.comment = nil, ""
		return
	}
	if line.text[0] == '@' {
		p.decorators = append(p.decorators, line.text[1:])
		return
	}
	p.statement(line)
	p.decorators, p.comment = nil, ""
}

func (p *pyModule) statement(line pyLine) {
	text := line.text
	if rest, ok := surface.AfterKeyword(text, "async"); ok {
		text = rest
	}
	switch keyword := surface.Identifier(text); keyword {
	case "def":
		p.function(line)
	case "class":
		p.class(line)
	case "if", "elif", "else", "try", "except", "finally", "with", "for", "while", "match", "case":
		inner := *p.Block()
		inner.hidden = keyword == "if" && strings.Contains(text, "__name__") && strings.Contains(text, "__main__")
		p.Open(line.indent, inner)
	case "from", "import":
		if p.Block().class == "" {
			p.imported(line)
		}
	default:
		p.assignment(line)
	}
}

func (p *pyModule) function(line pyLine) {
	scope := *p.Block()
	header, body := pyHeader(line.text)
	_, after, _ := strings.Cut(header, "def")
	name := surface.Identifier(strings.TrimLeft(after, " "))
	p.Open(line.indent, pyScope{hidden: true, symbol: -1})
	switch {
	case name == "" || p.decorated(".setter") || p.decorated(".deleter") || p.decorated(".getter"):
	case name == "__init__" && scope.symbol >= 0:
		p.construct(scope.symbol, header)
	case scope.class != "" && name[0] == '_':
	default:
		s := surface.Symbol{Name: scope.class + name, Kind: surface.Function, Line: line.number}
		if scope.class != "" {
			s.Kind = surface.Method
		}
		if p.decorated("property") {
			s.Kind = surface.Variable
		}
		s.Signature = p.shownDecorators() + header
		if isPyString(body) {
			s.Doc = surface.Summary(pyDoc(body))
		}
		p.waiting = p.add(pySymbol{Symbol: s, weak: p.decorated("overload")})
	}
}

// construct gives a class the signature by which it is called.
func (p *pyModule) construct(class int, header string) {
	c := &p.symbols[class]
	if !c.made {
		c.Signature += ": " + strings.TrimSuffix(header, " -> None")
		c.made = true
	}
	if c.Doc == "" {
		p.waiting = class
	}
}

func (p *pyModule) class(line pyLine) {
	scope := *p.Block()
	header, _ := pyHeader(line.text)
	name := surface.Identifier(strings.TrimLeft(strings.TrimPrefix(header, "class"), " "))
	if name == "" || scope.class != "" && name[0] == '_' {
		p.Open(line.indent, pyScope{hidden: true, symbol: -1})
		return
	}
	s := surface.Symbol{Name: scope.class + name, Kind: surface.Type, Line: line.number,
		Signature: p.shownDecorators() + header}
	p.waiting = p.add(pySymbol{Symbol: s})
	p.Open(line.indent, pyScope{class: s.Name + ".", symbol: p.waiting})
}

// add gives the place of a symbol. The first definition of a name counts; it takes the place of an import or an
// overload.
func (p *pyModule) add(s pySymbol) int {
	i, ok := p.at[s.Name]
	if !ok {
		p.at[s.Name] = len(p.symbols)
		p.symbols = append(p.symbols, s)
		return len(p.symbols) - 1
	}
	if old := &p.symbols[i]; old.weak && !s.weak {
		s.Doc = cmp.Or(old.Doc, s.Doc)
		*old = s
	}
	return i
}

// decorated tells whether one of the decorators ends in a word.
func (p *pyModule) decorated(with string) bool {
	for _, d := range p.decorators {
		name, _, _ := strings.Cut(d, "(")
		if strings.HasSuffix(strings.TrimSpace(name), with) {
			return true
		}
	}
	return false
}

// shownDecorators are those that change how a symbol is used.
func (p *pyModule) shownDecorators() string {
	var b strings.Builder
	for _, d := range p.decorators {
		name, _, _ := strings.Cut(surface.Joined(pyCode(d)), "(")
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "property", "cached_property", "abstractproperty", "classmethod", "staticmethod", "dataclass",
			"contextmanager", "asynccontextmanager":
			b.WriteString("@" + name + " ")
		}
	}
	return b.String()
}
