package surface

import "context"

func java(ctx context.Context, text []byte) Outline {
	d := dialect{docs: docStyle{text: javadoc}, attrs: decorator, repeats: true, literal: func(l *lexer) int {
		c := l.text[l.pos]
		if c == '"' && l.at(1) == '"' && l.at(2) == '"' {
			return l.textBlock("", 0, true)
		}
		return l.plainQuote(c)
	}}
	j := &javaFile{source: d.source(ctx, text, 0)}
	j.members(0, len(j.tokens), javaScope{isFile: true})
	return Outline{Doc: j.fileDoc(j.isPreamble), Symbols: j.symbols}
}

type javaFile struct{ *source }

// isPreamble tells what a file's own comment may stand before.
func (j *javaFile) isPreamble(i int) bool {
	return j.isOneOf(j.attributes(i), "package", "import", "module", "open")
}

// javaScope is what a member is a member of.
type javaScope struct {
	name     string // of the type, with those around it
	own      string // its last part, which constructors repeat
	isFile   bool
	implicit bool // members are public unless they say otherwise
	depth    int
}

func (j *javaFile) members(from, to int, in javaScope) {
	for i := from; i < to && !j.full(); {
		i = max(j.member(i, to, in), i+1)
	}
}

// modifiers reads what precedes a member's type.
func (j *javaFile) modifiers(i int, in javaScope) (next int, public, isConstant bool) {
	public = in.implicit
	static, final := in.implicit, in.implicit
	for {
		i = j.attributes(i)
		switch j.str(i) {
		case "public", "protected":
			public = true
		case "private":
			public = false
		case "static":
			static = true
		case "final":
			final = true
		case "abstract", "default", "synchronized", "native", "strictfp", "transient", "volatile":
		case "sealed", "non":
			if j.is(i, "non") {
				i += 2
			}
			if !j.isWord(i + 1) {
				return i, public, static && final
			}
		default:
			return i, public, static && final
		}
		i++
	}
}

func (j *javaFile) member(start, to int, in javaScope) int {
	i, public, isConstant := j.modifiers(start, in)
	switch {
	case j.is(i, "{"), j.is(i, ";"):
		return j.skip(i)
	case j.isOneOf(i, "package", "import") && in.isFile:
		return j.until(i, to, ";") + 1
	case j.isType(i):
		return j.typeDecl(start, i, to, in, public)
	case in.isFile:
		return j.skip(i)
	}
	return j.method(start, i, to, in, public, isConstant)
}

// isType tells whether a type is declared at token i; record is a name, too.
func (j *javaFile) isType(i int) bool {
	switch j.str(i) {
	case "class", "interface", "enum":
		return j.isWord(i + 1)
	case "record":
		return j.isWord(i+1) && j.isOneOf(i+2, "(", "<")
	case "@":
		return j.is(i+1, "interface")
	}
	return false
}

func (j *javaFile) typeDecl(start, i, to int, in javaScope, public bool) int {
	inner := javaScope{implicit: j.isOneOf(i, "interface", "@"), depth: in.depth + 1}
	isEnum := j.is(i, "enum")
	name := i + 1
	if j.is(i, "@") {
		name++
	}
	body := j.untilTyped(name, to, "{", ";")
	inner.own = j.str(name)
	inner.name = qualify(in.name, ".", inner.own)
	if !public || inner.depth > deepestScope {
		return j.skip(body)
	}
	j.declare(inner.name, Type, start, body)
	from, end := j.inside(body)
	if isEnum {
		from = j.until(from, end, ";")
	}
	if j.is(body, "{") {
		j.members(from, end, inner)
	}
	return j.skip(body)
}

// method reads a method, a constructor or fields; their types begin at token i.
func (j *javaFile) method(start, i, to int, in javaScope, public, isConstant bool) int {
	if j.is(i, "<") {
		i = j.angles(i)
	}
	stop := j.untilTyped(i, to, "(", "=", ";", "{", ",", "}")
	if !j.is(stop, "(") {
		return j.fields(start, stop, to, in, public, isConstant)
	}
	end := j.until(stop, to, "{", ";", "default")
	if j.is(end, "default") {
		end = j.until(end, to, ";")
	}
	if name := stop - 1; public && j.isWord(name) {
		j.declare(in.name+"."+j.str(name), Method, start, end)
	}
	return j.skip(end)
}

func (j *javaFile) fields(start, stop, to int, in javaScope, public, isConstant bool) int {
	kind := Variable
	if isConstant {
		kind = Constant
	}
	if j.is(stop, "{") {
		return j.skip(stop)
	}
	doc, head := "", ""
	for before := start; ; {
		name := stop - 1
		for name > before && !j.isWord(name) {
			name--
		}
		if before == start && public {
			doc, head = j.doc(start), j.signature(start, name)
		}
		before = stop
		end := j.untilTyped(stop, to, ",", ";")
		shown := stop
		if isConstant && end == stop+2 && j.at(end-1).kind != openToken {
			shown = end
		}
		if public && j.isWord(name) {
			j.add(Symbol{Name: in.name + "." + j.str(name), Kind: kind, Doc: doc, Line: int(j.at(name).line),
				Signature: head + " " + j.signature(name, shown)})
		}
		if !j.is(end, ",") {
			return end + 1
		}
		stop = j.untilTyped(end+1, to, "=", ",", ";")
	}
}
