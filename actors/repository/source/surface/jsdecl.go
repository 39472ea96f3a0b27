package surface

import (
	"cmp"
	"slices"
)

// declaration reads the one that begins at token i, whose attributes and keywords such as export begin at start. It
// gives i where none begins.
func (j *jsScope) declaration(start, i, to int) int {
	return j.declare(jsDecl{from: start}, i, to)
}

// declare reads a declaration into d, and gives the token after it; i where none begins.
func (j *jsScope) declare(d jsDecl, i, to int) int {
	at := i
	for j.isOneOf(at, "declare", "abstract", "async") && j.isWord(at+1) && !j.breaks(at+1) {
		d.declared = d.declared || j.is(at, "declare")
		at++
	}
	sig := i
	for sig < at && j.is(sig, "declare") {
		sig++
	}
	d.at = at
	next := j.isWord(at+1) && !j.breaks(at+1)
	switch j.str(at) {
	case "function":
		return j.function(d, sig, at, to)
	case "class":
		return j.classDecl(d, sig, at, to)
	case "interface":
		d.declared = true
		if next {
			return j.header(d, Type, sig, at+1, to, false)
		}
	case "enum":
		return j.header(d, Type, sig, at+1, to, false)
	case "type":
		if next {
			return j.alias(d, sig, at, to)
		}
	case "namespace", "module", "global":
		return j.moduleDecl(d, sig, at, to)
	case "const", "let", "var":
		if j.is(at, "const") && j.is(at+1, "enum") {
			return j.header(d, Type, sig, at+2, to, false)
		}
		return j.variables(d, at, to)
	}
	return i
}

func (j *jsScope) function(d jsDecl, sig, at, to int) int {
	name := at + 1
	if j.is(name, "*") {
		name++
	}
	if j.isWord(name) {
		d.name = j.str(name)
	}
	end := j.heading(at+1, to)
	d.kind = Function
	d.sig = j.signature(sig, end)
	j.keep(d)
	if j.is(end, "{") {
		return j.skip(end)
	}
	return end
}

// heading is the token after the parameters and the type of what is returned.
func (j *jsScope) heading(i, to int) int {
	i = j.seek(i, to, search{name: "heading", texts: []string{"(", "{", ";"}, next: func(i int) int {
		return max(j.angles(i), i+1)
	}})
	if i == to || !j.is(i, "(") {
		return i
	}
	if i = j.skip(i); j.is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	return min(i, to)
}

func (j *jsScope) classDecl(d jsDecl, sig, at, to int) int {
	name := at + 1
	if !j.isWord(name) || j.isOneOf(name, "extends", "implements") {
		name = at
	}
	return j.header(d, Type, sig, name, to, true)
}

// header reads what stands before the body of a class, interface or enum. The name is at token "name", unless that is
// the keyword.
func (j *jsScope) header(d jsDecl, kind Kind, sig, name, to int, members bool) int {
	if !j.isOneOf(name, "class") {
		d.name = j.str(name)
	}
	i := j.untilTyped(name+1, to, "{", ";")
	d.kind = kind
	d.sig = j.signature(sig, i)
	if members && j.is(i, "{") {
		d.body = i
	}
	j.keep(d)
	return j.skip(i)
}

func (j *jsScope) alias(d jsDecl, sig, at, to int) int {
	d.name, d.kind, d.declared = j.str(at+1), Type, true
	i := at + 2
	i = j.angles(i)
	if !j.is(i, "=") {
		return at
	}
	end := j.typeEnd(i+1, to)
	d.sig = j.signature(sig, end)
	j.keep(d)
	return end
}

// moduleDecl reads a namespace, or what is declared of another module.
func (j *jsScope) moduleDecl(d jsDecl, sig, at, to int) int {
	i := at + 1
	if j.at(i).kind == literalToken || j.is(at, "global") && j.is(i, "{") {
		if j.is(at, "global") {
			i--
		}
		if !j.is(i+1, "{") {
			return i + 1
		}
		j.namespace(i+1, "")
		return j.skip(i + 1)
	}
	if !j.isWord(i) || j.breaks(i) {
		return at
	}
	i = j.seek(i, to, search{name: "module", texts: []string{"{", ";"}, next: func(i int) int { return i + 1 }})
	if i == to || !j.is(i, "{") {
		return at
	}
	d.name, d.kind, d.body, d.declared = j.signature(at+1, i), Module, i, true
	d.sig = j.signature(sig, i)
	j.keep(d)
	return j.skip(i)
}

// variables reads "const a = 1, { b, c: d } = x".
func (j *jsScope) variables(d jsDecl, at, to int) int {
	if !j.isWord(at+1) && j.at(at+1).kind != openToken {
		return at
	}
	i := at + 1
	for first := true; i < to; first = false {
		if !first {
			d.from, d.at = i, i
		}
		i = j.variable(d, j.str(at), i, to)
		if !j.is(i, ",") {
			break
		}
		i++
	}
	return i
}

func (j *jsScope) variable(d jsDecl, keyword string, i, to int) int {
	name := i
	i = j.skip(i)
	if j.is(i, "!") {
		i++
	}
	if j.is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	head := i
	value := jsValue{end: i}
	if j.is(i, "=") {
		value = j.value(i+1, to)
	}
	d.kind = Variable
	if keyword == "const" {
		d.kind = Constant
	}
	if value.kind != "" {
		d.kind, d.body = value.kind, value.body
	}
	d.sig = keyword + " " + j.signature(name, max(head, value.sig))
	if j.isWord(name) {
		d.name = j.str(name)
		j.keep(d)
		for _, as := range value.exported {
			j.exports = append(j.exports, jsExport{local: d.name, name: cmp.Or(as, d.name), kind: d.kind, sig: d.sig,
				at: name})
		}
	} else {
		j.pattern(d, keyword, name)
	}
	return max(value.end, i)
}

// pattern keeps the names of { a, b: c, ...d }.
func (j *jsScope) pattern(d jsDecl, keyword string, i int) {
	from, to := j.inside(i)
	for i := from; i < to; i++ {
		isLast := j.isOneOf(i+1, ",", "}", "]", "=")
		if j.isWord(i) && isLast && !j.is(i-1, "=") {
			d.name, d.at, d.sig = j.str(i), i, keyword+" "+j.str(i)
			j.keep(d)
		}
		if j.is(i, "=") {
			i = j.until(i+1, to, ",") - 1
		}
	}
}

// jsValue is what stands behind "=".
type jsValue struct {
	kind     Kind     // "" for neither a function nor a class
	body     int      // of a class
	sig      int      // the signature runs up to this token; 0 for up to "="
	end      int      // the token after the value
	exported []string // it is "exports.name = value"; "" for module.exports
	first    int      // the value's own first token
}

func (j *jsScope) value(i, to int) jsValue {
	var v jsValue
	for range 8 {
		name, next := j.exportsTarget(i)
		if next == i || !j.is(next, "=") {
			break
		}
		v.exported = append(v.exported, name)
		i = next + 1
	}
	v.first = i
	if v.sig = j.functionEnd(i, to); v.sig > i {
		v.kind = Function
	} else if j.is(i, "class") {
		v.kind, v.body = Type, j.until(i, to, "{", ";")
		v.sig = v.body
	} else {
		v.sig = 0
	}
	v.end = j.valueEnd(i, to)
	if v.kind == "" && j.isShort(i, v.end) {
		v.sig = v.end
	}
	return v
}

// isShort tells values that say something on a line: a name, a number, a call.
func (j *jsScope) isShort(i, end int) bool {
	last := j.at(end - 1)
	if end <= i || last.last != j.at(i).line || last.stop-j.at(i).start > 80 {
		return false
	}
	for ; i < end; i++ {
		if j.is(i, "{") {
			return false
		}
	}
	return true
}

// functionEnd is the token before the body of the function that begins at i; i where none does.
func (j *jsScope) functionEnd(i, to int) int {
	start := i
	if j.is(i, "async") && !j.breaks(i+1) {
		i++
	}
	switch {
	case j.is(i, "function"):
		return j.heading(i+1, to)
	case j.isWord(i) && j.is(i+1, "=>"):
		return i + 1
	}
	i = j.angles(i)
	if !j.is(i, "(") {
		return start
	}
	i = j.skip(i)
	if j.is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	if j.is(i, "=>") && i <= to {
		return i
	}
	return start
}

// valueEnd is the token after the expression that begins at i.
func (j *jsScope) valueEnd(i, to int) int {
	if i >= to || j.isOneOf(i, ",", ";") || j.at(i).kind == closeToken {
		return min(i, to)
	}
	return j.seek(j.skip(i), to, search{name: "value", texts: []string{",", ";"}, next: func(i int) int {
		if j.at(i).kind == closeToken || j.breaks(i) && !j.continues(i) {
			return i
		}
		return j.skip(i)
	}})
}

// continues tells whether the line that token i begins goes on with the statement of the line before.
func (j *jsScope) continues(i int) bool {
	switch before := j.at(i - 1); before.kind {
	case punctToken:
		if !j.isOneOf(i-1, "!", "+", "-") || j.at(i-2).stop != before.start {
			return true
		}
	case wordToken:
		if isOperatorWord(j.str(i-1)) && !j.is(i-2, ".") {
			return true
		}
	}
	switch j.at(i).kind {
	case punctToken:
		return !j.isOneOf(i, "@", "#")
	case openToken, literalToken:
		return !j.is(i, "{") && j.at(i).kind == openToken || j.is(i-1, ")") || j.is(i-1, "=>")
	}
	return slices.Contains([]string{"in", "instanceof", "as", "satisfies", "extends", "implements"}, j.str(i))
}
