package java

import (
	"context"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Java.
var Language = language.Language{Name: "Java", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Private: language.Without("\npublic ", "module "), Family: "jvm",
	Ecosystems: []string{"maven", "gradle"}, Tests: []string{"import org.junit", "import org.testng"},
	Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Docs: brace.DocStyle{Text: brace.Javadoc}, Attrs: brace.Decorator, Repeats: true,
		Literal: func(l *brace.Lexer) int {
			c := l.Text[l.Pos]
			if c == '"' && l.At(1) == '"' && l.At(2) == '"' {
				return l.LiteralEnd(3, brace.Quoted{Quote: `"""`, Lines: true, Escapes: true})
			}
			return l.PlainQuote(c)
		}}
	j := &javaFile{File: d.Read(ctx, text, 0)}
	j.members(0, brace.Scope{To: len(j.Tokens), IsFile: true})
	return surface.Outline{Symbols: j.Symbols}
}

type javaFile struct{ *brace.File }

func (j *javaFile) members(from int, in brace.Scope) {
	j.Each(from, in.To, func(i int) int { return j.member(j.begin(i, in)) })
}

// begin reads what precedes a member's type.
func (j *javaFile) begin(start int, in brace.Scope) brace.Item {
	item := brace.Item{In: in, Start: start, At: start, Public: in.Implicit}
	static, final := in.Implicit, in.Implicit
	for ; ; item.At++ {
		item.At, item.Constant = j.Attributes(item.At), static && final
		switch j.Str(item.At) {
		case "public", "protected":
			item.Public = true
		case "private":
			item.Public = false
		case "static":
			static = true
		case "final":
			final = true
		case "abstract", "default", "synchronized", "native", "strictfp", "transient", "volatile", "non", "-", "sealed":
		default:
			return item
		}
	}
}

func (j *javaFile) member(item brace.Item) int {
	switch i := item.At; {
	case j.Is(i, "{"), j.Is(i, ";"):
		return j.Skip(i)
	case j.IsOneOf(i, "package", "import") && item.In.IsFile:
		return j.Until(i, item.In.To, ";") + 1
	case j.isType(i):
		return j.typeDecl(item)
	case item.In.IsFile:
		return j.Skip(i)
	}
	return j.method(item)
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

func (j *javaFile) typeDecl(item brace.Item) int {
	name := item.At + 1
	if j.Is(item.At, "@") {
		name++
	}
	body := j.UntilTyped(name, item.In.To, "{", ";")
	j.Found(item, j.Str(name), surface.Type, body)
	if item.Public && j.Is(body, "{") {
		from, inner := j.Body(item, j.Str(name), body)
		inner.Implicit = j.IsOneOf(item.At, "interface", "@")
		if j.Is(item.At, "enum") {
			from = j.Until(from, inner.To, ";")
		}
		j.members(from, inner)
	}
	return j.Skip(body)
}

// method reads a method, a constructor or fields, from their type on.
func (j *javaFile) method(item brace.Item) int {
	to := item.In.To
	stop := j.UntilTyped(j.Angles(item.At), to, "(", "=", ";", "{", ",", "}")
	if j.Is(stop, "{") {
		return j.Skip(stop)
	}
	if !j.Is(stop, "(") {
		return j.Fields(item, stop, 2)
	}
	end := j.Until(stop, to, "{", ";", "default")
	if j.Is(end, "default") {
		end = j.Until(end, to, ";")
	}
	if j.IsWord(stop - 1) {
		j.Found(item, j.Str(stop-1), surface.Method, end)
	}
	return j.Skip(end)
}
