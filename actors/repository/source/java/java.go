package java

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/repository/source/language"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// Language is Java.
var Language = language.Language{Name: "Java", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Private: isPrivate, Family: "jvm",
	Ecosystems: []string{"maven", "gradle"}, Tests: []string{"import org.junit", "import org.testng"},
	Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Docs: brace.DocStyle{Text: brace.Javadoc}, Attrs: brace.Decorator, Repeats: true,
		Literal: func(l *brace.Lexer) int {
			c := l.Text[l.Pos]
			if c == '"' && l.At(1) == '"' && l.At(2) == '"' {
				return l.TextBlock("", 0, true)
			}
			return l.PlainQuote(c)
		}}
	j := &javaFile{File: d.Read(ctx, text, 0)}
	j.members(0, len(j.Tokens), javaScope{isFile: true})
	return surface.Outline{Doc: j.FileDoc(j.isPreamble), Symbols: j.Symbols}
}

type javaFile struct{ *brace.File }

// isPreamble tells what a file's own comment may stand before.
func (j *javaFile) isPreamble(i int) bool {
	return j.IsOneOf(j.Attributes(i), "package", "import", "module", "open")
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
	for i := from; i < to && !j.Full(); {
		i = max(j.member(i, to, in), i+1)
	}
}

// modifiers reads what precedes a member's type.
func (j *javaFile) modifiers(i int, in javaScope) (next int, public, isConstant bool) {
	public = in.implicit
	static, final := in.implicit, in.implicit
	for {
		i = j.Attributes(i)
		switch j.Str(i) {
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
			if j.Is(i, "non") {
				i += 2
			}
			if !j.IsWord(i + 1) {
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
	case j.Is(i, "{"), j.Is(i, ";"):
		return j.Skip(i)
	case j.IsOneOf(i, "package", "import") && in.isFile:
		return j.Until(i, to, ";") + 1
	case j.isType(i):
		return j.typeDecl(start, i, to, in, public)
	case in.isFile:
		return j.Skip(i)
	}
	return j.method(start, i, to, in, public, isConstant)
}

// isType tells whether a type is declared at token i; record is a name, too.
func (j *javaFile) isType(i int) bool {
	switch j.Str(i) {
	case "class", "interface", "enum":
		return j.IsWord(i + 1)
	case "record":
		return j.IsWord(i+1) && j.IsOneOf(i+2, "(", "<")
	case "@":
		return j.Is(i+1, "interface")
	}
	return false
}

func (j *javaFile) typeDecl(start, i, to int, in javaScope, public bool) int {
	inner := javaScope{implicit: j.IsOneOf(i, "interface", "@"), depth: in.depth + 1}
	isEnum := j.Is(i, "enum")
	name := i + 1
	if j.Is(i, "@") {
		name++
	}
	body := j.UntilTyped(name, to, "{", ";")
	inner.own = j.Str(name)
	inner.name = surface.Qualify(in.name, ".", inner.own)
	if !public || inner.depth > brace.DeepestScope {
		return j.Skip(body)
	}
	j.Declare(inner.name, surface.Type, start, body)
	from, end := j.Inside(body)
	if isEnum {
		from = j.Until(from, end, ";")
	}
	if j.Is(body, "{") {
		j.members(from, end, inner)
	}
	return j.Skip(body)
}

// method reads a method, a constructor or fields; their types begin at token i.
func (j *javaFile) method(start, i, to int, in javaScope, public, isConstant bool) int {
	if j.Is(i, "<") {
		i = j.Angles(i)
	}
	stop := j.UntilTyped(i, to, "(", "=", ";", "{", ",", "}")
	if !j.Is(stop, "(") {
		return j.fields(start, stop, to, in, public, isConstant)
	}
	end := j.Until(stop, to, "{", ";", "default")
	if j.Is(end, "default") {
		end = j.Until(end, to, ";")
	}
	if name := stop - 1; public && j.IsWord(name) {
		j.Declare(in.name+"."+j.Str(name), surface.Method, start, end)
	}
	return j.Skip(end)
}

func (j *javaFile) fields(start, stop, to int, in javaScope, public, isConstant bool) int {
	kind := surface.Variable
	if isConstant {
		kind = surface.Constant
	}
	if j.Is(stop, "{") {
		return j.Skip(stop)
	}
	doc, head := "", ""
	for before := start; ; {
		name := stop - 1
		for name > before && !j.IsWord(name) {
			name--
		}
		if before == start && public {
			doc, head = j.Doc(start), j.Signature(start, name)
		}
		before = stop
		end := j.UntilTyped(stop, to, ",", ";")
		shown := stop
		if isConstant && end == stop+2 && j.At(end-1).Kind != brace.OpenToken {
			shown = end
		}
		if public && j.IsWord(name) {
			j.Add(surface.Symbol{Name: in.name + "." + j.Str(name), Kind: kind, Doc: doc, Line: int(j.At(name).Line),
				Signature: head + " " + j.Signature(name, shown)})
		}
		if !j.Is(end, ",") {
			return end + 1
		}
		stop = j.UntilTyped(end+1, to, "=", ",", ";")
	}
}

// isPrivate holds where no type is public. A longer file than was read may have one further down.
func isPrivate(text string, whole bool) bool {
	return (whole || strings.Contains(text, "class ")) && !strings.Contains(text, "\npublic ") &&
		!strings.Contains(text, "module ")
}
