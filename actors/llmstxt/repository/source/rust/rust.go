package rust

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Rust.
var Language = language.Language{Name: "Rust", Outline: outline, Imports: imports, Note: language.BlockNote,
	Folders: folders, Family: "rust", Ecosystems: []string{"cargo"}}

func outline(ctx context.Context, text []byte) surface.Outline {
	d := brace.Dialect{Nested: true, Literal: rustLiteral, Docs: brace.DocStyle{Inner: true}, Attrs: rustAttribute}
	r := &rustFile{File: d.Read(ctx, text, 0), private: map[string]bool{}}
	r.hide(0, len(r.Tokens))
	r.items(0, len(r.Tokens), "")
	return surface.Outline{Doc: r.moduleDoc(), Symbols: r.Symbols}
}

func rustLiteral(l *brace.Lexer) int {
	switch c := l.Text[l.Pos]; c {
	case '"':
		return rustString(l, 0)
	case 'b', 'c', 'r':
		ahead := 1
		if c != 'r' && l.At(1) == 'r' {
			ahead = 2
		}
		if hashes := l.Run(ahead, '#'); (c == 'r' || ahead == 2) && l.At(ahead+hashes) == '"' {
			end := `"` + strings.Repeat("#", hashes)
			return l.LiteralEnd(ahead+hashes+1, brace.Quoted{Quote: end, Lines: true})
		}
		if c != 'r' && l.At(1) == '"' {
			return rustString(l, 1)
		}
		if c == 'b' && l.At(1) == '\'' {
			return l.LiteralEnd(2, brace.Quoted{Quote: "'", Escapes: true})
		}
	case '\'':
		return character(l)
	}
	return 0
}

func rustString(l *brace.Lexer, ahead int) int {
	return l.LiteralEnd(ahead+1, brace.Quoted{Quote: `"`, Lines: true, Escapes: true})
}

// character tells 'c' from the lifetime 'c, which is a token, too.
func character(l *brace.Lexer) int {
	if l.At(1) == '\\' {
		return l.LiteralEnd(1, brace.Quoted{Quote: "'", Escapes: true})
	}
	size := 1
	for size < 4 && l.At(1+size)&0xC0 == 0x80 {
		size++
	}
	if l.At(1+size) == '\'' {
		return l.Pos + size + 2
	}
	return l.Pos + 1 + brace.WordLength(l.Text[l.Pos+1:])
}

type rustFile struct {
	*brace.File
	private map[string]bool // types of this file that others cannot name
}

// rustAttribute passes over #[...] and #![...].
func rustAttribute(s *brace.File, i int) int {
	if !s.Is(i, "#") {
		return i
	}
	next := i + 1
	if s.Is(next, "!") {
		next++
	}
	if !s.Is(next, "[") {
		return i
	}
	return s.Skip(next)
}

// moduleDoc is the text of the //! comments that the file begins with; others may stand before them.
func (r *rustFile) moduleDoc() string {
	var inner []brace.Note
	for _, n := range r.Notes {
		if r.Form(n) == brace.InnerForm && n.Tokens == 0 {
			inner = append(inner, n)
		}
	}
	return surface.Summary(r.Comments(inner))
}

// hide notes the types that are declared without pub, whose methods are nobody else's.
func (r *rustFile) hide(from, to int) {
	for i := from; i < to; i = r.Skip(i) {
		if r.IsOneOf(i, "struct", "enum", "union") && r.IsWord(i+1) && !r.Is(i-1, "pub") {
			r.private[r.rustName(i+1)] = true
		}
	}
}

// rustName is an identifier, also one that is written r#type.
func (r *rustFile) rustName(i int) string {
	if r.Is(i, "r") && r.Is(i+1, "#") && r.At(i+2).Start == r.At(i+1).Stop {
		return r.Str(i + 2)
	}
	return r.Str(i)
}

// items reads the items of a module whose path is prefix.
func (r *rustFile) items(from, to int, prefix string) {
	r.Each(from, to, func(i int) int { return r.item(i, to, prefix) })
}

// rustItem is the beginning of an item.
type rustItem struct {
	start      int // its first token
	public     bool
	attributes string // their text
}

// begin reads the attributes and modifiers before a keyword.
func (r *rustFile) begin(i int) (item rustItem, keyword int) {
	item.start = i
	next := r.Attributes(i)
	for k := i; k < next; k++ {
		item.attributes += r.Str(k)
		if len(item.attributes) > 2000 {
			break
		}
	}
	if r.Is(next, "pub") {
		next++
		item.public = !r.Is(next, "(") || !r.IsOneOf(next+1, "crate", "super", "self", "in") // or pub (A, B)
		if r.Is(next, "(") && !item.public {
			next = r.Skip(next)
		}
	}
	if strings.Contains(item.attributes, "doc(hidden)") {
		item.public = false
	}
	return item, r.modifiers(next)
}

func (r *rustFile) modifiers(i int) int {
	for r.IsOneOf(i, "unsafe", "async", "default", "extern", "const", "safe") && !r.Is(i+1, "crate") &&
		(r.IsWord(i+1) || r.At(i+1).Kind == brace.LiteralToken) && !r.isConstant(i) {
		if i++; r.At(i).Kind == brace.LiteralToken {
			i++
		}
	}
	return i
}

func (r *rustFile) item(i, to int, prefix string) int {
	item, at := r.begin(i)
	switch r.Str(at) {
	case "fn":
		return r.function(item, at, to, prefix)
	case "struct", "enum", "union", "trait", "type", "const", "static":
		return r.named(item, at, to, prefix)
	case "mod":
		return r.mod(item, at, to, prefix)
	case "use":
		end := r.Until(at, to, ";")
		if item.public {
			r.use(rustUse{start: item.start, prefix: prefix}, at+1, end)
		}
		return end + 1
	case "impl":
		return r.impl(item, at, to, prefix)
	case "macro_rules":
		return r.macro(item, at)
	}
	return r.otherItem(at, to, prefix)
}

// isConstant tells "const NAME" from "const fn".
func (r *rustFile) isConstant(i int) bool {
	return r.Is(i, "const") && !r.IsOneOf(i+1, "fn", "unsafe", "async", "extern")
}

// otherItem passes over extern "C" { ... }, whose items it reads, macros that are called, and what is not known.
func (r *rustFile) otherItem(i, to int, prefix string) int {
	if r.Is(i, "{") && r.At(i-1).Kind == brace.LiteralToken {
		from, end := r.Inside(i)
		r.items(from, end, prefix)
	}
	return r.Skip(i)
}

// tail is the token that ends an item's head: "{" or ";".
func (r *rustFile) tail(i, to int) int { return r.UntilTyped(i, to, "{", ";") }

func (r *rustFile) function(item rustItem, at, to int, prefix string) int {
	name := r.rustName(at + 1)
	end := r.tail(at, to)
	kind := surface.Function
	if made, ok := r.procMacro(item, name); ok {
		name, kind = made, surface.Macro
	}
	if item.public {
		r.Declare(surface.Qualify(prefix, "::", name), kind, item.start, end)
	}
	return r.Skip(end)
}

// procMacro gives the name that users of a procedural macro write.
func (r *rustFile) procMacro(item rustItem, name string) (string, bool) {
	if _, rest, ok := strings.Cut(item.attributes, "#[proc_macro_derive("); ok {
		return rest[:strings.IndexAny(rest+")", ",)")], true
	}
	return name, strings.Contains(item.attributes, "#[proc_macro")
}

func (r *rustFile) named(item rustItem, at, to int, prefix string) int {
	name := at + 1
	if r.Is(name, "mut") {
		name++
	}
	kind, end := surface.Type, 0
	switch r.Str(at) {
	case "const", "static":
		if kind = surface.Constant; r.Is(at, "static") {
			kind = surface.Variable
		}
		end = r.Until(name, to, ";")
	case "type":
		end = r.Until(name, to, ";")
	default:
		end = r.tail(name, to)
	}
	if item.public && r.IsWord(name) && !r.Is(name, "_") {
		r.Declare(surface.Qualify(prefix, "::", r.rustName(name)), kind, item.start, end)
	}
	return r.Skip(end)
}

func (r *rustFile) mod(item rustItem, at, to int, prefix string) int {
	end := r.tail(at, to)
	if !item.public || strings.Contains(item.attributes, "cfg(test)") {
		return r.Skip(end)
	}
	name := surface.Qualify(prefix, "::", r.rustName(at+1))
	r.Declare(name, surface.Module, item.start, end)
	if r.Is(end, "{") && strings.Count(name, "::") < brace.DeepestScope {
		from, to := r.Inside(end)
		r.hide(from, to)
		r.items(from, to, name)
	}
	return r.Skip(end)
}

func (r *rustFile) macro(item rustItem, at int) int {
	body := at + 3
	if strings.Contains(item.attributes, "macro_export") && !strings.Contains(item.attributes, "doc(hidden)") {
		name := r.Str(at + 2)
		r.Keep(name+"!", surface.Macro, "macro_rules! "+name, r.Doc(item.start), at)
	}
	return r.Skip(body)
}
