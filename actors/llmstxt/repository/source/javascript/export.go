package javascript

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// export reads the statement whose keyword is at token i, with the attributes that begin at start, and gives the
// token after it.
func (j *jsScope) export(start, i, to int) int {
	j.module = true
	next := i + 1
	switch j.Str(next) {
	case "default":
		return j.exportDefault(start, next+1, to)
	case "=":
		j.explicit = true
		return j.exportValue(next+1, to)
	case "type":
		if j.IsOneOf(next+1, "{", "*") {
			next++
		}
	}
	switch j.Str(next) {
	case "*":
		return j.exportAll(next)
	case "{":
		j.explicit = true
		return j.exportList(next)
	}
	return j.declare(jsDecl{from: start, exported: true}, next, to)
}

func (j *jsScope) exportDefault(start, i, to int) int {
	j.explicit = true
	if end := j.declare(jsDecl{from: start, exported: true, as: "default"}, i, to); end > i {
		return end
	}
	return j.exportValue(i, to)
}

// exportValue exports a value as the default, or as the whole module.
func (j *jsScope) exportValue(i, to int) int {
	v := j.value(i, to)
	if j.IsWord(i) && v.end == i+1 {
		j.exportName(j.Str(i), j.Str(i), "export default "+j.Str(i), i)
		return v.end
	}
	j.decls = append(j.decls, jsDecl{name: "default", kind: cmp.Or(v.kind, surface.Constant), from: i, at: i,
		body: v.body, sig: "default " + j.Signature(i, max(v.sig, min(v.end, i+1))), exported: true})
	return v.end
}

// exportName exports what a local name stands for.
func (j *jsScope) exportName(local, name, sig string, at int) {
	j.exports = append(j.exports, jsExport{local: local, name: name, kind: brace.Guess(name), sig: sig, at: at})
}

// ownName is that of a function or class expression.
func (j *jsScope) ownName(i int) string {
	if !j.IsOneOf(i, "function", "class") || !j.IsWord(i+1) || j.Is(i+1, "extends") {
		return ""
	}
	return j.Str(i + 1)
}

// exportAll reads "* from 'x'" and "* as name from 'x'".
func (j *jsScope) exportAll(i int) int {
	e := jsExport{kind: surface.Module, at: i}
	next := i + 1
	if j.Is(next, "as") {
		e.name = j.unquoted(next + 1)
		next += 2
	}
	if !j.Is(next, "from") || j.At(next+1).Kind != brace.LiteralToken {
		return next
	}
	e.from = j.unquoted(next + 1)
	e.name = cmp.Or(e.name, e.from)
	e.sig = "export " + j.Signature(i, next+2)
	j.exports = append(j.exports, e)
	return next + 2
}

// unquoted is a name, or a text without its quotes.
func (j *jsScope) unquoted(i int) string { return strings.Trim(j.Str(i), "\"'`") }

func (j *jsScope) exportList(i int) int {
	from, to := j.Inside(i)
	end := j.Skip(i)
	module := ""
	if j.Is(end, "from") && j.At(end+1).Kind == brace.LiteralToken {
		module = j.Str(end + 1)
		end += 2
	}
	j.EachPart(from, to, func(i, end int) { j.exportItem(i, end, module) })
	return end
}

// exportItem reads "a", "a as b" and "type a".
func (j *jsScope) exportItem(i, end int, module string) {
	e := jsExport{from: module, at: i}
	if j.Is(i, "type") && i+1 < end && (!j.Is(i+1, "as") || i+3 == end) {
		e.kind = surface.Type
		i++
	}
	e.local = j.unquoted(i)
	e.name = e.local
	if j.Is(i+1, "as") && i+2 < end {
		e.name = j.unquoted(i + 2)
	}
	e.kind = cmp.Or(e.kind, brace.Guess(e.name))
	e.sig = "export { " + j.Signature(i, end) + " }"
	if module != "" {
		e.sig += " from " + module
	}
	j.exports = append(j.exports, e)
}
