package kotlin

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/repository/source/language"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// Language is Kotlin.
var Language = language.Language{Name: "Kotlin", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Family: "jvm", Ecosystems: []string{"maven", "gradle"},
	Tests: []string{"import org.junit", "import org.testng"}, Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Nested: true, Backticks: true, Literal: kotlinLiteral, Attrs: kotlinAnnotation, Repeats: true,
		Docs: brace.DocStyle{Text: func(text string) string { return brace.BracketLinks(brace.Javadoc(text)) }}}
	k := &kotlinFile{File: d.Read(ctx, text, 0)}
	k.members(0, len(k.Tokens), "", 0)
	doc := k.FileDoc(func(i int) bool { return k.IsOneOf(k.Attributes(i), "package", "import") })
	return surface.Outline{Doc: doc, Symbols: k.Symbols}
}

func kotlinLiteral(l *brace.Lexer) int {
	switch c := l.Text[l.Pos]; c {
	case '"':
		if l.At(1) == '"' && l.At(2) == '"' {
			end := l.TextBlock("${", '}', false)
			for end < len(l.Text) && l.Text[end] == '"' {
				end++
			}
			return end
		}
		return l.LiteralEnd(1, brace.Quoted{Quote: `"`, Hole: "${", Until: '}', Escapes: true})
	case '\'':
		return l.PlainQuote(c)
	}
	return 0
}

type kotlinFile struct{ *brace.File }

// kotlinAnnotation passes over @name(...), @file:name and @[name name].
func kotlinAnnotation(s *brace.File, i int) int {
	if !s.Is(i, "@") {
		return i
	}
	if s.IsWord(i+1) && s.Is(i+2, ":") {
		i += 2
	}
	if s.Is(i+1, "[") {
		return s.Skip(i + 1)
	}
	if !s.IsWord(i + 1) {
		return i
	}
	i += 2
	for s.Is(i, ".") && s.IsWord(i+1) {
		i += 2
	}
	i = s.Angles(i)
	if s.Is(i, "(") && s.At(i).Start == s.At(i-1).Stop {
		i = s.Skip(i)
	}
	return i
}

// members reads declarations by their keywords: the expressions between them have none outside of braces.
func (k *kotlinFile) members(from, to int, owner string, depth int) {
	if depth > brace.DeepestScope {
		return
	}
	k.EachStatement(from, to, k.begins, func(i int) int { return k.member(i, to, owner, depth) })
}

func (k *kotlinFile) begins(i int) bool {
	return k.Breaks(i) || k.IsOneOf(i-1, ";", "}", ")") || k.At(i-1).Kind != brace.PunctToken && k.Is(i, "@")
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
	i := k.Attributes(start)
	for k.isModifier(i) {
		item.public = item.public && !k.IsOneOf(i, "private", "internal")
		item.isEnum = item.isEnum || k.Is(i, "enum")
		i = k.Attributes(i + 1)
	}
	item.at = i
	switch k.Str(i) {
	case "class", "interface", "object":
		return k.class(item, to)
	case "fun":
		if k.Is(i+1, "interface") {
			item.at++
			return k.class(item, to)
		}
		return k.function(item, to)
	case "val", "var":
		return k.property(item, to)
	case "typealias":
		end := k.lineEnd(i+1, to)
		if k.Is(end, "=") {
			end = k.lineEnd(end+1, to)
		}
		if item.public {
			k.Declare(surface.Qualify(owner, ".", k.Name(i+1)), surface.Type, start, end)
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
	switch k.Str(i) {
	case "public", "private", "protected", "internal", "open", "abstract", "final", "sealed", "data", "inline",
		"value",
		"enum", "annotation", "companion", "override", "suspend", "operator", "infix", "inner", "lateinit", "const",
		"external", "tailrec", "expect", "actual", "noinline", "crossinline", "vararg", "reified":
		return k.IsWord(i+1) || k.Is(i+1, "@")
	}
	return false
}

// lineEnd is the token after what began before token i and ends with its line, or at a brace or "=".
func (k *kotlinFile) lineEnd(i, to int) int {
	return k.StatementEnd("line", i, to, k.continues, "{", ";", "=")
}

func (k *kotlinFile) continues(i int) bool {
	if k.IsOneOf(i-1, ":", ",", ".", "->", "by", "where", "<", "&") {
		return true
	}
	return k.IsOneOf(i, ":", ",", ".", "->", "where", "by", ">", "(") || k.Is(i, "constructor")
}

func (k *kotlinFile) class(item kotlinItem, to int) int {
	name := item.at + 1
	full := item.owner
	isCompanion := k.Is(item.at-1, "companion")
	if k.IsWord(name) && !k.Breaks(name) && !isCompanion {
		full = surface.Qualify(item.owner, ".", k.Name(name))
	} else if !isCompanion {
		return name
	}
	end := k.header(name, to)
	if item.public && !isCompanion {
		k.Declare(full, surface.Type, item.start, end)
	}
	if !k.Is(end, "{") {
		return end
	}
	if item.public {
		from, last := k.Inside(end)
		if item.isEnum {
			from = k.Until(from, last, ";")
		}
		k.members(from, last, full, item.depth+1)
	}
	return k.Skip(end)
}

// header is the token after the head of a class: its "{", or where the next declaration begins.
func (k *kotlinFile) header(i, to int) int {
	goesOn := func(i int) bool { return k.continues(i) || k.isModifierOfConstructor(i) }
	return k.StatementEnd("header", i, to, goesOn, "{", ";")
}

func (k *kotlinFile) isModifierOfConstructor(i int) bool {
	for range 8 {
		i = k.Attributes(i)
		if k.Is(i, "constructor") {
			return true
		}
		if !k.IsOneOf(i, "private", "internal", "protected", "public") {
			return false
		}
		i++
	}
	return false
}

func (k *kotlinFile) function(item kotlinItem, to int) int {
	i := k.Angles(item.at + 1)
	open := i
	for open < to && !(k.Is(open, "(") && k.IsWord(open-1)) {
		if next := k.Angles(open); next > open {
			open = next
		} else if open = k.Skip(open); k.IsOneOf(open, "{", "=") {
			return open
		}
	}
	end := k.lineEnd(k.Skip(open), to)
	if item.public && open > i {
		receiver := k.receiver(i, open-1)
		name := surface.Qualify(receiver, ".", k.Name(open-1))
		kind := surface.Function
		if item.owner != "" {
			name, kind = surface.Qualify(item.owner, ".", name), surface.Method
		} else if receiver != "" {
			kind = surface.Method
		}
		k.Declare(name, kind, item.start, end)
	}
	return end
}

// receiver is the type that an extension extends, without its arguments.
func (k *kotlinFile) receiver(from, name int) string {
	receiver := ""
	for i := from; i < name-1; {
		if k.IsWord(i) {
			receiver = k.Name(i)
		}
		if next := k.Angles(i); next > i {
			i = next
		} else {
			i = k.Skip(i)
		}
	}
	return receiver
}

func (k *kotlinFile) property(item kotlinItem, to int) int {
	i := k.Angles(item.at + 1)
	name := i
	for i < to && !k.Breaks(i+1) && !k.IsOneOf(i+1, ":", "=", "by", "{", ";") && k.At(i+1).Kind != brace.CloseToken {
		if next := k.Angles(i); next > i {
			i = next - 1
		}
		if i++; k.IsWord(i) {
			name = i
		}
	}
	end := k.lineEnd(name+1, to)
	kind := surface.Variable
	shown := k.Until(name, end, "by", "get", "set")
	if k.Is(item.at-1, "const") {
		kind = surface.Constant
		if k.Is(end, "=") {
			shown = end + 2
		}
	}
	if item.public && k.IsWord(name) {
		k.Declare(surface.Qualify(item.owner, ".", surface.Qualify(k.receiver(k.Angles(item.at+1), name), ".",
			k.Name(name))), kind,
			item.start, shown)
	}
	return end
}

func (k *kotlinFile) constructor(item kotlinItem, to int) int {
	if !k.Is(item.at+1, "(") || item.owner == "" {
		return item.at + 1
	}
	end := k.Skip(item.at + 1)
	if item.public {
		own := item.owner[strings.LastIndexByte(item.owner, '.')+1:]
		k.Declare(item.owner+"."+own, surface.Method, item.start, end)
	}
	return min(end, to)
}
