package javascript

import (
	"cmp"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// commonJS reads the statements that export by assignment, module.exports = x and exports.a = x, and those that give
// an object its methods. It gives i where the statement is another one.
func (j *jsScope) commonJS(i, to int) int {
	name, next := j.exportsTarget(i)
	if next == i {
		return j.member(i, to)
	}
	if !j.Is(next, "=") {
		return i
	}
	v := j.value(next+1, to)
	for _, n := range append(v.exported, name) {
		j.assigned(n, i, v)
	}
	return v.end
}

// exportsTarget reads exports.a, module.exports.a and module.exports, whose name is "", and gives the token after it;
// i where there is none.
func (j *jsScope) exportsTarget(i int) (name string, next int) {
	next = i
	if j.Is(i, "module") && j.Is(i+1, ".") && j.Is(i+2, "exports") {
		next = i + 3
	} else if j.Is(i, "exports") {
		next = i + 1
	} else {
		return "", i
	}
	if j.Is(next, ".") && j.IsWord(next+1) {
		return j.Str(next + 1), next + 2
	}
	return "", next
}

// assigned exports the value by the name; "" stands for the whole module.
func (j *jsScope) assigned(name string, at int, v jsValue) {
	j.explicit = true
	i := v.first
	switch {
	case j.Is(i, "void"), name == "__esModule", j.Is(i, "exports"):
	case j.Is(i, "require") && j.Is(i+1, "(") && v.end == j.Skip(i+1):
		from := j.unquoted(i + 2)
		j.exports = append(j.exports, jsExport{name: cmp.Or(name, from), from: from, kind: surface.Module,
			sig: j.Signature(at, v.end), at: at})
	case name == "" && j.Is(i, "{"):
		j.object(i)
	case j.IsWord(i) && v.end == i+1:
		j.exportName(j.Str(i), cmp.Or(name, j.Str(i)), j.Signature(at, v.end), at)
	default:
		j.keep(jsDecl{name: cmp.Or(name, j.ownName(i), "default"), kind: cmp.Or(v.kind, surface.Variable),
			sig: j.Signature(at, max(i, v.sig)), from: at, at: at, body: v.body, exported: true})
	}
}

// object exports the properties of an object literal.
func (j *jsScope) object(i int) {
	from, to := j.Inside(i)
	j.EachPart(from, to, j.property)
}

func (j *jsScope) property(i, end int) {
	name := i
	for name+1 < end && j.IsOneOf(name, "async", "get", "set", "*") && (j.IsWord(name+1) || j.Is(name+1, "*")) {
		name++
	}
	if !j.IsWord(name) && j.At(name).Kind != brace.LiteralToken {
		return
	}
	e := jsExport{name: j.unquoted(name), kind: surface.Variable, at: i, sig: j.unquoted(name)}
	switch {
	case name+1 == end:
		e.local = e.name
	case j.Is(name+1, "("):
		e.kind, e.sig = surface.Function, j.Signature(i, j.heading(name+1, end))
	case j.Is(name+1, ":") && name+3 == end && j.IsWord(name+2):
		e.local = j.Str(name + 2)
	case j.Is(name+1, ":"):
		if stop := j.functionEnd(name+2, end); stop > name+2 {
			e.kind, e.sig = surface.Function, j.Signature(i, stop)
		}
	}
	j.exports = append(j.exports, e)
}

// member reads "object.name = function" and "object.prototype.name = function".
func (j *jsScope) member(i, to int) int {
	name := i + 2
	if j.Is(name, "prototype") {
		name += 2
	}
	if !j.Is(i+1, ".") || !j.Is(name-1, ".") || !j.IsWord(name) || !j.Is(name+1, "=") {
		return i
	}
	v := j.value(name+2, to)
	if v.kind == surface.Function {
		object := j.Str(i)
		j.members[object] = append(j.members[object], jsExport{name: j.Str(name), sig: j.Signature(i, v.sig), at: i})
	}
	return v.end
}
