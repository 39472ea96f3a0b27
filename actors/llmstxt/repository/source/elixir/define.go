package elixir

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// attribute heeds documentation, which comes before what it is about.
func (e *elixirFile) attribute(number int, line, document string) {
	name := surface.Identifier(line)
	value := strings.TrimSpace(line[len(name):])
	document = cmp.Or(document, elixirString(value))
	switch name {
	case "moduledoc":
		e.moduleDoc(value, document)
	case "doc":
		e.pending.hidden = e.pending.hidden || value == "false"
		e.pending.text = cmp.Or(document, e.pending.text)
	case "deprecated":
		e.pending.deprecated = document
	case "impl":
		e.pending.callback = value != "false"
	case "callback", "macrocallback":
		e.callback(number, name, value)
	}
}

// elixirString is the value of a string on one line, "" if it is none.
func elixirString(s string) string {
	s = strings.TrimLeft(s, "~sS(")
	if len(s) < 2 || s[0] != '"' {
		return ""
	}
	return strings.ReplaceAll(strings.Trim(s, `")`), `\"`, `"`)
}

func (e *elixirFile) moduleDoc(value, document string) {
	scope := e.Block()
	if value == "false" {
		scope.hidden = true
	}
	i := scope.symbol
	if i < 0 || i >= len(e.symbols) {
		return
	}
	if scope.hidden {
		e.symbols = append(e.symbols[:i], e.symbols[i+1:]...)
		scope.symbol = -1
		return
	}
	e.symbols[i].Doc = surface.Summary(document)
	e.doc = cmp.Or(e.doc, document)
}

func (e *elixirFile) module(number, column int, keyword, rest string) {
	name := strings.TrimRight(surface.ConstantPath(rest, "."), ".")
	outer := e.Block()
	if name == "" || outer.hidden && outer.module == "" {
		e.Open(column, hiddenScope)
		return
	}
	name = surface.Qualify(outer.module, ".", name)
	kind := surface.Module
	if keyword == "defprotocol" {
		kind = surface.Type
	}
	e.pending = elixirDoc{}
	if !strings.HasSuffix(rest, "do") {
		return
	}
	scope := elixirScope{module: name, symbol: -1}
	if !e.at[name] {
		scope.symbol = len(e.symbols)
		e.symbol(number, name, kind, keyword+" "+name)
	}
	e.Open(column, scope)
}

func (e *elixirFile) define(number, column int, keyword, rest string) {
	name := surface.MethodName(rest)
	after := rest[len(name):]
	arguments := ""
	if strings.HasPrefix(after, "(") {
		arguments, after = e.bracketed(after)
	}
	hasBody := e.body(after)
	kind := surface.Function
	if keyword == "defmacro" || keyword == "defguard" {
		kind = surface.Macro
	}
	if !strings.HasSuffix(keyword, "p") && name != "" && isElixirHead(after) {
		path := surface.Qualify(e.Block().module, ".", name) + "/" + strconv.Itoa(arity(arguments))
		e.add(number, path, kind, keyword+" "+name+arguments)
	} else {
		e.pending = elixirDoc{}
	}
	if hasBody {
		e.Open(column, hiddenScope)
	}
}

// isElixirHead tells what may follow the head of a function from the rest of an operator's definition.
func isElixirHead(after string) bool {
	after = strings.TrimSpace(after)
	return after == "" || after[0] == ',' || after[0] == '#' || strings.HasPrefix(after, "do") ||
		strings.HasPrefix(after, "when")
}

// A guard does not reach over more lines than this.
const elixirGuardLines = 12

// body tells whether a definition has a body up to an "end", given what follows its arguments.
func (e *elixirFile) body(after string) bool {
	after = strings.TrimSpace(after)
	guarded := strings.HasPrefix(after, "when") || after == "" && e.goesOn()
	for n := 0; guarded && n < elixirGuardLines; n++ {
		if strings.HasSuffix(after, "do") || strings.Contains(after, "do:") || e.Next >= len(e.All) {
			break
		}
		after = strings.TrimSpace(e.Take())
	}
	return after == "do" || strings.HasSuffix(after, " do")
}

func (e *elixirFile) goesOn() bool {
	if e.Next >= len(e.All) {
		return false
	}
	next := strings.TrimSpace(e.All[e.Next])
	return next == "do" || strings.HasPrefix(next, "when ")
}

// bracketed splits s after the bracket that closes its first one, on a later line perhaps; those lines are taken.
func (e *elixirFile) bracketed(s string) (list, after string) {
	return e.List(s, func(line string) (string, bool) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			return "", true
		}
		return line, !strings.HasPrefix(line, "def") && line != "end"
	})
}

// arity counts the arguments of a list in brackets.
func arity(list string) int {
	if len(list) < 3 {
		return 0
	}
	depth, count := 0, 1
	for _, c := range surface.Unquoted(list, `"`) {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 1 {
				count++
			}
		}
	}
	return count
}

func (e *elixirFile) structure(number int, keyword, rest string) {
	if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "(") {
		rest, _ = e.bracketed(rest)
	}
	rest = e.continued(rest)
	scope := e.Block()
	if scope.module == "" {
		return
	}
	e.pending = elixirDoc{}
	if name := "%" + scope.module + "{}"; !scope.hidden && !e.at[name] {
		e.symbol(number, name, surface.Type, keyword+" "+surface.Joined(rest))
	}
}

// symbol keeps the first declaration of a name.
func (e *elixirFile) symbol(number int, name string, kind surface.Kind, signature string) {
	e.at[name] = true
	e.symbols = append(e.symbols, surface.Symbol{Name: name, Kind: kind, Signature: signature, Line: number})
}

func (e *elixirFile) callback(number int, keyword, value string) {
	name := surface.MethodName(value)
	after := value[len(name):]
	if name == "" || !strings.HasPrefix(after, "(") {
		return
	}
	arguments, after := e.bracketed(after)
	path := surface.Qualify(e.Block().module, ".", name) + "/" + strconv.Itoa(arity(arguments))
	e.add(number, path, surface.Function, "@"+keyword+" "+name+arguments+e.continued(after))
}

// A line does not go on over more than this.
const elixirGoesOn = 60

// continued adds the lines that a line goes on over because it ends in the middle of something.
func (e *elixirFile) continued(s string) string {
	for n := 0; n < elixirGoesOn && e.Next < len(e.All); n++ {
		if !strings.HasSuffix(s, ",") && !strings.HasSuffix(s, "::") && !strings.HasSuffix(s, "|") {
			break
		}
		s += " " + strings.TrimSpace(e.Take())
	}
	return s
}
