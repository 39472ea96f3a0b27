package surface

import (
	"context"
	"strings"
)

func kotlin(ctx context.Context, text []byte) Outline {
	d := dialect{nested: true, backticks: true, literal: kotlinLiteral, attrs: kotlinAnnotation, repeats: true,
		docs: docStyle{text: func(text string) string { return bracketLinks(javadoc(text)) }}}
	k := &kotlinFile{source: d.source(ctx, text, 0)}
	k.members(0, len(k.tokens), "", 0)
	doc := k.fileDoc(func(i int) bool { return k.isOneOf(k.attributes(i), "package", "import") })
	return Outline{Doc: doc, Symbols: k.symbols}
}

func kotlinLiteral(l *lexer) int {
	switch c := l.text[l.pos]; c {
	case '"':
		if l.at(1) == '"' && l.at(2) == '"' {
			end := l.textBlock("${", '}', false)
			for end < len(l.text) && l.text[end] == '"' {
				end++
			}
			return end
		}
		return l.literalEnd(1, quoted{quote: `"`, hole: "${", until: '}', escapes: true})
	case '\'':
		return l.plainQuote(c)
	}
	return 0
}

type kotlinFile struct{ *source }

// kotlinAnnotation passes over @name(...), @file:name and @[name name].
func kotlinAnnotation(s *source, i int) int {
	if !s.is(i, "@") {
		return i
	}
	if s.isWord(i+1) && s.is(i+2, ":") {
		i += 2
	}
	if s.is(i+1, "[") {
		return s.skip(i + 1)
	}
	if !s.isWord(i + 1) {
		return i
	}
	i += 2
	for s.is(i, ".") && s.isWord(i+1) {
		i += 2
	}
	i = s.angles(i)
	if s.is(i, "(") && s.at(i).start == s.at(i-1).stop {
		i = s.skip(i)
	}
	return i
}

// members reads declarations by their keywords: the expressions between them have none outside of braces.
func (k *kotlinFile) members(from, to int, owner string, depth int) {
	if depth > deepestScope {
		return
	}
	for i := from; i < to && !k.full(); {
		next := i
		if k.begins(i, from) {
			next = k.member(i, to, owner, depth)
		}
		i = max(next, k.skip(i))
	}
}

func (k *kotlinFile) begins(i, from int) bool {
	return i == from || k.breaks(i) || k.isOneOf(i-1, ";", "}", ")") || k.at(i-1).kind != punctToken && k.is(i, "@")
}

// kotlinItem is a declaration in its scope.
type kotlinItem struct {
	start  int
	at     int // its keyword
	public bool
	isEnum bool
	owner  string
	depth  int
}

func (k *kotlinFile) member(start, to int, owner string, depth int) int {
	item := kotlinItem{start: start, public: true, owner: owner, depth: depth}
	i := k.attributes(start)
	for k.isModifier(i) {
		item.public = item.public && !k.isOneOf(i, "private", "internal")
		item.isEnum = item.isEnum || k.is(i, "enum")
		i = k.attributes(i + 1)
	}
	item.at = i
	switch k.str(i) {
	case "class", "interface", "object":
		return k.class(item, to)
	case "fun":
		if k.is(i+1, "interface") {
			item.at++
			return k.class(item, to)
		}
		return k.function(item, to)
	case "val", "var":
		return k.property(item, to)
	case "typealias":
		end := k.lineEnd(i+1, to)
		if k.is(end, "=") {
			end = k.lineEnd(end+1, to)
		}
		if item.public {
			k.declare(qualify(owner, ".", k.name(i+1)), Type, start, end)
		}
		return end
	case "constructor":
		return k.constructor(item, to)
	case "package", "import":
		return k.lineEnd(i+1, to)
	}
	return i
}

func (k *kotlinFile) isModifier(i int) bool {
	switch k.str(i) {
	case "public", "private", "protected", "internal", "open", "abstract", "final", "sealed", "data", "inline", "value",
		"enum", "annotation", "companion", "override", "suspend", "operator", "infix", "inner", "lateinit", "const",
		"external", "tailrec", "expect", "actual", "noinline", "crossinline", "vararg", "reified":
		return k.isWord(i+1) || k.is(i+1, "@")
	}
	return false
}

// lineEnd is the token after what began before token i and ends with its line, or at a brace or "=".
func (k *kotlinFile) lineEnd(i, to int) int {
	return k.statementEnd("line", i, to, k.continues, "{", ";", "=")
}

func (k *kotlinFile) continues(i int) bool {
	if k.isOneOf(i-1, ":", ",", ".", "->", "by", "where", "<", "&") {
		return true
	}
	return k.isOneOf(i, ":", ",", ".", "->", "where", "by", ">", "(") || k.is(i, "constructor")
}

func (k *kotlinFile) class(item kotlinItem, to int) int {
	name := item.at + 1
	full := item.owner
	isCompanion := k.is(item.at-1, "companion")
	if k.isWord(name) && !k.breaks(name) && !isCompanion {
		full = qualify(item.owner, ".", k.name(name))
	} else if !isCompanion {
		return name
	}
	end := k.header(name, to)
	if item.public && !isCompanion {
		k.declare(full, Type, item.start, end)
	}
	if !k.is(end, "{") {
		return end
	}
	if item.public {
		from, last := k.inside(end)
		if item.isEnum {
			from = k.until(from, last, ";")
		}
		k.members(from, last, full, item.depth+1)
	}
	return k.skip(end)
}

// header is the token after the head of a class: its "{", or where the next declaration begins.
func (k *kotlinFile) header(i, to int) int {
	goesOn := func(i int) bool { return k.continues(i) || k.isModifierOfConstructor(i) }
	return k.statementEnd("header", i, to, goesOn, "{", ";")
}

func (k *kotlinFile) isModifierOfConstructor(i int) bool {
	for range 8 {
		i = k.attributes(i)
		if k.is(i, "constructor") {
			return true
		}
		if !k.isOneOf(i, "private", "internal", "protected", "public") {
			return false
		}
		i++
	}
	return false
}

func (k *kotlinFile) function(item kotlinItem, to int) int {
	i := k.angles(item.at + 1)
	open := i
	for open < to && !(k.is(open, "(") && k.isWord(open-1)) {
		if next := k.angles(open); next > open {
			open = next
		} else if open = k.skip(open); k.isOneOf(open, "{", "=") {
			return open
		}
	}
	end := k.lineEnd(k.skip(open), to)
	if item.public && open > i {
		receiver := k.receiver(i, open-1)
		name := qualify(receiver, ".", k.name(open-1))
		kind := Function
		if item.owner != "" {
			name, kind = qualify(item.owner, ".", name), Method
		} else if receiver != "" {
			kind = Method
		}
		k.declare(name, kind, item.start, end)
	}
	return end
}

// receiver is the type that an extension extends, without its arguments.
func (k *kotlinFile) receiver(from, name int) string {
	receiver := ""
	for i := from; i < name-1; {
		if k.isWord(i) {
			receiver = k.name(i)
		}
		if next := k.angles(i); next > i {
			i = next
		} else {
			i = k.skip(i)
		}
	}
	return receiver
}

func (k *kotlinFile) property(item kotlinItem, to int) int {
	i := k.angles(item.at + 1)
	name := i
	for i < to && !k.breaks(i+1) && !k.isOneOf(i+1, ":", "=", "by", "{", ";") && k.at(i+1).kind != closeToken {
		if next := k.angles(i); next > i {
			i = next - 1
		}
		if i++; k.isWord(i) {
			name = i
		}
	}
	end := k.lineEnd(name+1, to)
	kind := Variable
	shown := k.until(name, end, "by", "get", "set")
	if k.is(item.at-1, "const") {
		kind = Constant
		if k.is(end, "=") {
			shown = end + 2
		}
	}
	if item.public && k.isWord(name) {
		k.declare(qualify(item.owner, ".", qualify(k.receiver(k.angles(item.at+1), name), ".", k.name(name))), kind,
			item.start, shown)
	}
	return end
}

func (k *kotlinFile) constructor(item kotlinItem, to int) int {
	if !k.is(item.at+1, "(") || item.owner == "" {
		return item.at + 1
	}
	end := k.skip(item.at + 1)
	if item.public {
		own := item.owner[strings.LastIndexByte(item.owner, '.')+1:]
		k.declare(item.owner+"."+own, Method, item.start, end)
	}
	return min(end, to)
}
