package surface

import (
	"cmp"
	"strings"
)

// export reads the statement whose keyword is at token i, with the attributes that begin at start, and gives the
// token after it.
func (j *jsScope) export(start, i, to, depth int) int {
	j.module = true
	next := i + 1
	switch j.str(next) {
	case "default":
		return j.exportDefault(start, next+1, to)
	case "=":
		j.explicit = true
		return j.exportValue(next+1, to)
	case "as":
		return i + 3
	case "import":
		j.exports = append(j.exports, jsExport{name: j.str(next + 1), kind: Module, sig: j.signature(i,
			j.valueEnd(next, to)), at: next + 1})
		return next + 1
	case "type":
		if j.isOneOf(next+1, "{", "*") {
			next++
		}
	}
	switch j.str(next) {
	case "*":
		return j.exportAll(next)
	case "{":
		j.explicit = true
		return j.exportList(next)
	}
	if end := j.declare(jsDecl{from: start, exported: true}, next, to); end > next {
		return end
	}
	return next
}

func (j *jsScope) exportDefault(start, i, to int) int {
	j.explicit = true
	before := len(j.decls)
	end := j.declare(jsDecl{from: start, exported: true}, i, to)
	if end > i {
		for k := before; k < len(j.decls); k++ {
			j.decls[k].as = cmp.Or(j.decls[k].name, "default")
		}
		return end
	}
	return j.exportValue(i, to)
}

// exportValue exports a value as the default, or as the whole module.
func (j *jsScope) exportValue(i, to int) int {
	v := j.value(i, to)
	switch {
	case j.isWord(i) && v.end == i+1:
		j.exports = append(j.exports, jsExport{local: j.str(i), name: j.str(i), kind: guess(j.str(i)),
			sig: "export default " + j.str(i), at: i})
	default:
		d := jsDecl{name: "default", kind: Constant, from: i, at: i, body: v.body, exported: true}
		d.sig = "default " + j.signature(i, max(v.sig, min(v.end, i+1)))
		if v.kind != "" {
			d.kind = v.kind
		}
		if name := j.ownName(i); name != "" {
			d.name, d.sig = name, strings.TrimPrefix(d.sig, "default ")
		}
		j.decls = append(j.decls, d)
	}
	return v.end
}

// ownName is that of a function or class expression.
func (j *jsScope) ownName(i int) string {
	if j.is(i, "async") {
		i++
	}
	if !j.isOneOf(i, "function", "class") {
		return ""
	}
	if i++; j.is(i, "*") {
		i++
	}
	if !j.isWord(i) || j.is(i, "extends") {
		return ""
	}
	return j.str(i)
}

// exportAll reads "* from 'x'" and "* as name from 'x'".
func (j *jsScope) exportAll(i int) int {
	e := jsExport{kind: Module, at: i}
	next := i + 1
	if j.is(next, "as") {
		e.name = j.unquoted(next + 1)
		next += 2
	}
	if !j.is(next, "from") || j.at(next+1).kind != literalToken {
		return next
	}
	e.from = j.unquoted(next + 1)
	e.name = cmp.Or(e.name, e.from)
	e.sig = "export " + j.signature(i, next+2)
	j.exports = append(j.exports, e)
	return next + 2
}

// unquoted is a name, or a text without its quotes.
func (j *jsScope) unquoted(i int) string { return strings.Trim(j.str(i), "\"'`") }

func (j *jsScope) exportList(i int) int {
	from, to := j.inside(i)
	end := j.skip(i)
	module := ""
	if j.is(end, "from") && j.at(end+1).kind == literalToken {
		module = j.str(end + 1)
		end += 2
	}
	for k := from; k < to; k++ {
		last := j.until(k, to, ",")
		j.exportItem(k, last, module)
		k = last
	}
	return end
}

// exportItem reads "a", "a as b" and "type a".
func (j *jsScope) exportItem(i, end int, module string) {
	e := jsExport{from: module, at: i}
	if j.is(i, "type") && i+1 < end && (!j.is(i+1, "as") || i+3 == end) {
		e.kind = Type
		i++
	}
	if i >= end {
		return
	}
	e.local = j.unquoted(i)
	e.name = e.local
	if j.is(i+1, "as") && i+2 < end {
		e.name = j.unquoted(i + 2)
	}
	if e.kind == "" {
		e.kind = guess(e.name)
	}
	e.sig = "export { " + j.signature(i, end) + " }"
	if module != "" {
		e.sig += " from " + module
	}
	j.exports = append(j.exports, e)
}
