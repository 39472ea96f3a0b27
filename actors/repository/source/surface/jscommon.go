package surface

import "cmp"

// commonJS reads the statements that export by assignment: module.exports = x, exports.a = x,
// Object.defineProperty(exports, "a", ...), and those that give an object its methods. It gives i where the statement
// is another one.
func (j *jsScope) commonJS(i, to int) int {
	if j.is(i, "Object") && j.is(i+2, "defineProperty") && j.is(i+3, "(") {
		return j.defineProperty(i + 3)
	}
	name, next := j.exportsTarget(i)
	if next == i {
		return j.member(i, to)
	}
	if !j.is(next, "=") {
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
	if j.is(i, "module") && j.is(i+1, ".") && j.is(i+2, "exports") {
		next = i + 3
	} else if j.is(i, "exports") {
		next = i + 1
	} else {
		return "", i
	}
	if j.is(next, ".") && j.isWord(next+1) {
		return j.str(next + 1), next + 2
	}
	return "", next
}

// assigned exports the value by the name; "" stands for the whole module.
func (j *jsScope) assigned(name string, at int, v jsValue) {
	j.explicit = true
	i := v.first
	switch {
	case j.is(i, "void"), name == "__esModule", j.is(i, "exports"):
	case j.is(i, "require") && j.is(i+1, "(") && v.end == j.skip(i+1):
		j.required(name, at, i)
	case name == "" && j.is(i, "{"):
		j.object(i)
	case j.isWord(i) && v.end == i+1:
		j.exports = append(j.exports, jsExport{local: j.str(i), name: cmp.Or(name, j.str(i)), kind: guess(cmp.Or(name,
			j.str(i))), sig: j.signature(at, v.end), at: at})
	default:
		j.assignedValue(name, at, v)
	}
}

func (j *jsScope) assignedValue(name string, at int, v jsValue) {
	d := jsDecl{kind: v.kind, from: at, at: at, body: v.body, exported: true}
	d.name = cmp.Or(name, j.ownName(v.first), "default")
	d.sig = j.signature(at, v.first)
	if d.kind == "" {
		d.kind = Variable
	}
	if v.sig > v.first {
		d.sig = j.signature(at, v.sig)
	}
	j.keep(d)
}

// required exports another module, as a whole or by a name.
func (j *jsScope) required(name string, at, i int) {
	if j.at(i+2).kind != literalToken {
		return
	}
	j.exports = append(j.exports, jsExport{name: cmp.Or(name, j.unquoted(i+2)), from: j.unquoted(i + 2), kind: Module,
		sig: j.signature(at, j.skip(i+1)), at: at})
}

func (j *jsScope) defineProperty(i int) int {
	if j.is(i+1, "exports") && j.is(i+2, ",") && j.at(i+3).kind == literalToken && !j.is(i+3, `"__esModule"`) {
		name := j.unquoted(i + 3)
		if name != "__esModule" {
			j.exports = append(j.exports, jsExport{local: name, name: name, kind: guess(name), at: i + 3})
		}
	}
	return j.skip(i)
}

// object exports the properties of an object literal.
func (j *jsScope) object(i int) {
	from, to := j.inside(i)
	for k := from; k < to; k++ {
		end := j.until(k, to, ",")
		j.property(k, end)
		k = end
	}
}

func (j *jsScope) property(i, end int) {
	name := i
	for name+1 < end && j.isOneOf(name, "async", "get", "set", "*") && (j.isWord(name+1) || j.is(name+1, "*")) {
		name++
	}
	if !j.isWord(name) && j.at(name).kind != literalToken {
		return
	}
	e := jsExport{name: j.unquoted(name), kind: Variable, at: i, sig: j.unquoted(name)}
	switch {
	case name+1 == end:
		e.local = e.name
	case j.is(name+1, "("):
		e.kind, e.sig = Function, j.signature(i, j.heading(name+1, end))
	case j.is(name+1, ":") && name+3 == end && j.isWord(name+2):
		e.local = j.str(name + 2)
	case j.is(name+1, ":"):
		if stop := j.functionEnd(name+2, end); stop > name+2 {
			e.kind, e.sig = Function, j.signature(i, stop)
		}
	}
	j.exports = append(j.exports, e)
}

// member reads "object.name = function" and "object.prototype.name = function".
func (j *jsScope) member(i, to int) int {
	name := i + 2
	if j.is(name, "prototype") {
		name += 2
	}
	if !j.is(i+1, ".") || !j.is(name-1, ".") || !j.isWord(name) || !j.is(name+1, "=") {
		return i
	}
	v := j.value(name+2, to)
	if v.kind == Function {
		object := j.str(i)
		j.members[object] = append(j.members[object], jsMember{name: j.str(name), sig: j.signature(i, v.sig), at: i})
	}
	return v.end
}
