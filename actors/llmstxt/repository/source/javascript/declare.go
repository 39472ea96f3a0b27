package javascript

import (
	"cmp"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// declare reads a declaration into d, and gives the token after it; i where none begins.
func (j *jsScope) declare(d jsDecl, i, to int) int {
	at := i
	for j.IsOneOf(at, "declare", "abstract", "async") && j.IsWord(at+1) && !j.Breaks(at+1) {
		d.isDeclared = d.isDeclared || j.Is(at, "declare")
		at++
	}
	for d.head = i; d.head < at && j.Is(d.head, "declare"); {
		d.head++
	}
	d.at = at
	next := j.IsWord(at+1) && !j.Breaks(at+1)
	switch j.Str(at) {
	case "function":
		return j.function(d, to)
	case "class", "enum":
		return j.header(d, at+1, to)
	case "interface":
		if d.isDeclared = true; next {
			return j.header(d, at+1, to)
		}
	case "type":
		if next {
			return j.alias(d, to)
		}
	case "namespace", "module", "global":
		return j.moduleDecl(d, to)
	case "const", "let", "var":
		if j.Is(at, "const") && j.Is(at+1, "enum") {
			return j.header(d, at+2, to)
		}
		return j.variables(d, at, to)
	}
	return i
}

func (j *jsScope) function(d jsDecl, to int) int {
	name := d.at + 1
	if j.Is(name, "*") {
		name++
	}
	if j.IsWord(name) {
		d.name = j.Str(name)
	}
	end := j.heading(d.at+1, to)
	j.declared(d, surface.Function, end)
	return j.SkipBody(end)
}

// heading is the token after the parameters and the type of what is returned.
func (j *jsScope) heading(i, to int) int {
	i = j.Seek(i, to, brace.Search{Name: "heading", Texts: []string{"(", "{", ";"}, Next: func(i int) int {
		return max(j.Angles(i), i+1)
	}})
	if i == to || !j.Is(i, "(") {
		return i
	}
	if i = j.Skip(i); j.Is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	return min(i, to)
}

// header reads what stands before the body of a class, interface or enum. The name is at token "name"; a class may
// have none.
func (j *jsScope) header(d jsDecl, name, to int) int {
	isClass := j.Is(d.at, "class")
	if isClass && (!j.IsWord(name) || j.IsOneOf(name, "extends", "implements")) {
		name = d.at
	} else {
		d.name = j.Str(name)
	}
	i := j.UntilTyped(name+1, to, "{", ";")
	if isClass && j.Is(i, "{") {
		d.body = i
	}
	j.declared(d, surface.Type, i)
	return j.Skip(i)
}

func (j *jsScope) alias(d jsDecl, to int) int {
	i := j.Angles(d.at + 2)
	if !j.Is(i, "=") {
		return d.at
	}
	end := j.typeEnd(i+1, to)
	d.name, d.isDeclared = j.Str(d.at+1), true
	j.declared(d, surface.Type, end)
	return end
}

// moduleDecl reads a namespace, or what is declared of another module.
func (j *jsScope) moduleDecl(d jsDecl, to int) int {
	i := d.at + 1
	switch {
	case j.Is(d.at, "global") && j.Is(i, "{"):
		j.namespace(i, "")
		return j.Skip(i)
	case j.At(i).Kind == brace.LiteralToken && j.Is(i+1, "{"):
		j.namespace(i+1, "")
		return j.Skip(i + 1)
	case j.At(i).Kind == brace.LiteralToken:
		return i + 1
	case !j.IsWord(i) || j.Breaks(i):
		return d.at
	}
	i = j.Seek(i, to, brace.Search{Name: "module", Texts: []string{"{", ";"}, Next: func(i int) int { return i + 1 }})
	if i == to || !j.Is(i, "{") {
		return d.at
	}
	d.name, d.body, d.isDeclared = j.Signature(d.at+1, i), i, true
	j.declared(d, surface.Module, i)
	return j.Skip(i)
}

// variables reads "const a = 1, { b, c: d } = x".
func (j *jsScope) variables(d jsDecl, at, to int) int {
	if !j.IsWord(at+1) && j.At(at+1).Kind != brace.OpenToken {
		return at
	}
	i := at + 1
	for first := true; i < to; first = false {
		if !first {
			d.from, d.at = i, i
		}
		i = j.variable(d, j.Str(at), i, to)
		if !j.Is(i, ",") {
			break
		}
		i++
	}
	return i
}

func (j *jsScope) variable(d jsDecl, keyword string, i, to int) int {
	name := i
	i = j.Skip(i)
	if j.Is(i, "!") {
		i++
	}
	if j.Is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	head := i
	value := jsValue{end: i}
	if j.Is(i, "=") {
		value = j.value(i+1, to)
	}
	d.kind = surface.Variable
	if keyword == "const" {
		d.kind = surface.Constant
	}
	d.kind, d.body = cmp.Or(value.kind, d.kind), value.body
	d.sig = keyword + " " + j.Signature(name, max(head, value.sig))
	if j.IsWord(name) {
		d.name = j.Str(name)
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
	from, to := j.Inside(i)
	for i := from; i < to; i++ {
		isLast := j.IsOneOf(i+1, ",", "}", "]", "=")
		if j.IsWord(i) && isLast && !j.Is(i-1, "=") {
			d.name, d.at, d.sig = j.Str(i), i, keyword+" "+j.Str(i)
			j.keep(d)
		}
		if j.Is(i, "=") {
			i = j.Until(i+1, to, ",") - 1
		}
	}
}

// jsValue is what stands behind "=".
type jsValue struct {
	kind     surface.Kind // "" for neither a function nor a class
	body     int          // of a class
	sig      int          // the signature runs up to this token; 0 for up to "="
	end      int          // the token after the value
	exported []string     // it is "exports.name = value"; "" for module.exports
	first    int          // the value's own first token
}

func (j *jsScope) value(i, to int) jsValue {
	var v jsValue
	for range 8 {
		name, next := j.exportsTarget(i)
		if next == i || !j.Is(next, "=") {
			break
		}
		v.exported = append(v.exported, name)
		i = next + 1
	}
	v.first = i
	if v.sig = j.functionEnd(i, to); v.sig > i {
		v.kind = surface.Function
	} else if j.Is(i, "class") {
		v.kind, v.body = surface.Type, j.Until(i, to, "{", ";")
		v.sig = v.body
	} else {
		v.sig = 0
	}
	v.end = j.valueEnd(i, to)
	if v.kind == "" && j.holdsFunction(i, v.end) {
		v.kind = surface.Function
		return v
	}
	if v.kind == "" && j.isShort(i, v.end) {
		v.sig = v.end
	}
	return v
}

// holdsFunction tells a function that is cast, "(() => 1) as F", or bound, "f.bind(x)".
func (j *jsScope) holdsFunction(i, end int) bool {
	if j.Is(i, "(") && j.functionEnd(i+1, j.Skip(i)) > i+1 {
		return true
	}
	for ; i < end; i = j.Skip(i) {
		if j.Is(i, ".") && j.Is(i+1, "bind") && j.Is(i+2, "(") && j.Skip(i+2) == end {
			return true
		}
	}
	return false
}

// isShort tells values that say something on a line: a name, a number, a call.
func (j *jsScope) isShort(i, end int) bool {
	last := j.At(end - 1)
	if end <= i || last.Last != j.At(i).Line || last.Stop-j.At(i).Start > 80 {
		return false
	}
	for ; i < end; i++ {
		if j.Is(i, "{") {
			return false
		}
	}
	return true
}

// functionEnd is the token before the body of the function that begins at i; i where none does.
func (j *jsScope) functionEnd(i, to int) int {
	start := i
	if j.Is(i, "async") && !j.Breaks(i+1) {
		i++
	}
	switch {
	case j.Is(i, "function"):
		return j.heading(i+1, to)
	case j.IsWord(i) && j.Is(i+1, "=>"):
		return i + 1
	}
	i = j.Angles(i)
	if !j.Is(i, "(") {
		return start
	}
	i = j.Skip(i)
	if j.Is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	if j.Is(i, "=>") && i <= to {
		return i
	}
	return start
}

// valueEnd is the token after the expression that begins at i.
func (j *jsScope) valueEnd(i, to int) int {
	if i >= to || j.IsOneOf(i, ",", ";") || j.At(i).Kind == brace.CloseToken {
		return min(i, to)
	}
	return j.Seek(j.Skip(i), to, brace.Search{Name: "value", Texts: []string{",", ";"}, Next: func(i int) int {
		if j.At(i).Kind == brace.CloseToken || j.Breaks(i) && !j.continues(i) {
			return i
		}
		return j.Skip(i)
	}})
}

// continues tells whether the line that token i begins goes on with the statement of the line before.
func (j *jsScope) continues(i int) bool {
	switch before := j.At(i - 1); before.Kind {
	case brace.PunctToken:
		if !j.IsOneOf(i-1, "!", "+", "-") || j.At(i-2).Stop != before.Start {
			return true
		}
	case brace.WordToken:
		if isOperatorWord(j.Str(i-1)) && !j.Is(i-2, ".") {
			return true
		}
	}
	switch j.At(i).Kind {
	case brace.PunctToken:
		return !j.IsOneOf(i, "@", "#")
	case brace.OpenToken, brace.LiteralToken:
		return !j.Is(i, "{") && j.At(i).Kind == brace.OpenToken || j.Is(i-1, ")") || j.Is(i-1, "=>")
	}
	return j.IsOneOf(i, "in", "instanceof", "as", "satisfies", "extends", "implements")
}
