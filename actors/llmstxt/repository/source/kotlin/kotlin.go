package kotlin

import (
	"context"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Kotlin.
var Language = language.Language{Name: "Kotlin", Outline: outline, Imports: language.Dotted,
	Code: language.WithoutComments, Note: language.ClassNote, Family: "jvm", Ecosystems: []string{"maven", "gradle"},
	Tests: []string{"import org.junit", "import org.testng"}, Classes: true}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Nested: true, Backticks: true, Literal: kotlinLiteral, Attrs: brace.Decorator, Repeats: true,
		Docs: brace.DocStyle{Text: kdoc}}
	k := &kotlinFile{File: d.Read(ctx, text, 0)}
	k.members(0, brace.Scope{To: len(k.Tokens)})
	return surface.Outline{Symbols: k.Symbols}
}

var kdocName = regexp.MustCompile(`\[([A-Za-z]\w*)\]`)

// kdoc also sets in backticks the parameters that KDoc has in brackets.
func kdoc(text string) string {
	return kdocName.ReplaceAllString(surface.Inline(brace.Javadoc(text)), "`$1`")
}

func kotlinLiteral(l *brace.Lexer) int {
	switch c := l.Text[l.Pos]; c {
	case '"':
		if l.At(1) == '"' && l.At(2) == '"' {
			end := l.LiteralEnd(3, brace.Quoted{Quote: `"""`, Hole: "${", Until: '}', Lines: true})
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

// members reads declarations by their keywords: the expressions between them have none outside of braces.
func (k *kotlinFile) members(from int, in brace.Scope) {
	k.EachStatement(from, in.To, k.begins, func(i int) int { return k.member(k.begin(i, in)) })
}

func (k *kotlinFile) begins(i int) bool {
	return k.Breaks(i) || k.IsOneOf(i-1, ";", "}", ")") || k.At(i-1).Kind != brace.PunctToken && k.Is(i, "@")
}

// begin reads the modifiers of a member.
func (k *kotlinFile) begin(start int, in brace.Scope) brace.Item {
	item := brace.Item{In: in, Start: start, At: k.Attributes(start), Public: true}
	for ; k.isModifier(item.At); item.At = k.Attributes(item.At + 1) {
		item.Public = item.Public && !k.IsOneOf(item.At, "private", "internal")
	}
	return item
}

func (k *kotlinFile) member(item brace.Item) int {
	i, to := item.At, item.In.To
	switch k.Str(i) {
	case "class", "interface", "object":
		return k.class(item)
	case "fun":
		if k.Is(i+1, "interface") {
			item.At++
			return k.class(item)
		}
		return k.function(item)
	case "val", "var":
		return k.property(item)
	case "typealias":
		end := k.lineEnd(i+1, to)
		if k.Is(end, "=") {
			end = k.lineEnd(end+1, to)
		}
		k.Found(item, k.Name(i+1), surface.Type, end)
		return end
	case "constructor":
		return k.constructor(item)
	case "package", "import":
		return k.lineEnd(i+1, to)
	}
	return i
}

func (k *kotlinFile) isModifier(i int) bool {
	switch k.Str(i) {
	case "public", "private", "protected", "internal", "open", "abstract", "final", "sealed", "data", "inline",
		"value", "enum", "annotation", "companion", "override", "suspend", "operator", "infix", "inner", "lateinit",
		"const", "external", "tailrec", "expect", "actual", "noinline", "crossinline", "vararg", "reified":
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
	return k.IsOneOf(i, ":", ",", ".", "->", "where", "by", ">", "(")
}

func (k *kotlinFile) class(item brace.Item) int {
	name, isCompanion := item.At+1, k.Is(item.At-1, "companion")
	if !isCompanion && (!k.IsWord(name) || k.Breaks(name)) {
		return name
	}
	end := k.header(name, item.In.To)
	if !isCompanion {
		k.Found(item, k.Name(name), surface.Type, end)
	}
	if !k.Is(end, "{") {
		return end
	}
	if item.Public {
		from, inner := k.Body(item, k.Name(name), end)
		if isCompanion {
			inner.Name = item.In.Name
		}
		if k.Is(item.At-1, "enum") {
			from = k.Until(from, inner.To, ";")
		}
		k.members(from, inner)
	}
	return k.Skip(end)
}

// header is the token after the head of a class: its "{", or where the next declaration begins.
func (k *kotlinFile) header(i, to int) int {
	goesOn := func(i int) bool {
		first := k.Attributes(i)
		return k.continues(i) || k.Is(first, "constructor") || k.isModifier(first) && k.Is(first+1, "constructor")
	}
	return k.StatementEnd("header", i, to, goesOn, "{", ";")
}

func (k *kotlinFile) function(item brace.Item) int {
	i, to := k.Angles(item.At+1), item.In.To
	open := i
	for open < to && !(k.Is(open, "(") && k.IsWord(open-1)) {
		if open = k.SkipTyped(open); k.IsOneOf(open, "{", "=") {
			return open
		}
	}
	end := k.lineEnd(k.Skip(open), to)
	if open > i {
		receiver := k.receiver(i, open-1)
		kind := surface.Function
		if item.In.Name != "" || receiver != "" {
			kind = surface.Method
		}
		k.Found(item, surface.Qualify(receiver, ".", k.Name(open-1)), kind, end)
	}
	return end
}

// receiver is the type that an extension extends, without its arguments.
func (k *kotlinFile) receiver(from, name int) string {
	receiver := ""
	for i := from; i < name-1; i = k.SkipTyped(i) {
		if k.IsWord(i) {
			receiver = k.Name(i)
		}
	}
	return receiver
}

func (k *kotlinFile) property(item brace.Item) int {
	i, to := k.Angles(item.At+1), item.In.To
	first, name := i, i
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
	if k.Is(item.At-1, "const") {
		kind = surface.Constant
		if k.Is(end, "=") {
			shown = end + 2
		}
	}
	if k.IsWord(name) {
		k.Found(item, surface.Qualify(k.receiver(first, name), ".", k.Name(name)), kind, shown)
	}
	return end
}

func (k *kotlinFile) constructor(item brace.Item) int {
	if !k.Is(item.At+1, "(") || item.In.Name == "" {
		return item.At + 1
	}
	end := k.Skip(item.At + 1)
	k.Found(item, item.In.Name[strings.LastIndexByte(item.In.Name, '.')+1:], surface.Method, end)
	return min(end, item.In.To)
}
