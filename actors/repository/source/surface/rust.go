package surface

import (
	"context"
	"strings"
)

func rust(ctx context.Context, text []byte) Outline {
	d := dialect{nested: true, literal: rustLiteral, docs: docStyle{inner: true}, attrs: rustAttribute}
	r := &rustFile{source: d.source(ctx, text, 0), private: map[string]bool{}}
	r.hide(0, len(r.tokens))
	r.items(0, len(r.tokens), "")
	return Outline{Doc: r.moduleDoc(), Symbols: r.symbols}
}

func rustLiteral(l *lexer) int {
	switch c := l.text[l.pos]; c {
	case '"':
		return rustString(l, 0)
	case 'b', 'c', 'r':
		ahead := 1
		if c != 'r' && l.at(1) == 'r' {
			ahead = 2
		}
		if hashes := l.run(ahead, '#'); (c == 'r' || ahead == 2) && l.at(ahead+hashes) == '"' {
			end := `"` + strings.Repeat("#", hashes)
			return l.literalEnd(ahead+hashes+1, quoted{quote: end, lines: true})
		}
		if c != 'r' && l.at(1) == '"' {
			return rustString(l, 1)
		}
		if c == 'b' && l.at(1) == '\'' {
			return l.literalEnd(2, quoted{quote: "'", escapes: true})
		}
	case '\'':
		return character(l)
	}
	return 0
}

func rustString(l *lexer, ahead int) int {
	return l.literalEnd(ahead+1, quoted{quote: `"`, lines: true, escapes: true})
}

// character tells 'c' from the lifetime 'c, which is a token, too.
func character(l *lexer) int {
	if l.at(1) == '\\' {
		return l.literalEnd(1, quoted{quote: "'", escapes: true})
	}
	size := 1
	for size < 4 && l.at(1+size)&0xC0 == 0x80 {
		size++
	}
	if l.at(1+size) == '\'' {
		return l.pos + size + 2
	}
	end := l.pos + 1
	for end < len(l.text) && isWordByte(l.text[end]) {
		end++
	}
	return end
}

type rustFile struct {
	*source
	private map[string]bool // types of this file that others cannot name
}

// rustAttribute passes over #[...] and #![...].
func rustAttribute(s *source, i int) int {
	if !s.is(i, "#") {
		return i
	}
	next := i + 1
	if s.is(next, "!") {
		next++
	}
	if !s.is(next, "[") {
		return i
	}
	return s.skip(next)
}

// moduleDoc is the text of the //! comments that the file begins with; others may stand before them.
func (r *rustFile) moduleDoc() string {
	var inner []note
	first := int32(r.innerAttributes())
	for _, n := range r.notes {
		if r.form(n) == innerForm && n.tokens <= first {
			inner = append(inner, n)
		}
	}
	return docText(r.comments(inner))
}

// innerAttributes is the first token after #![...].
func (r *rustFile) innerAttributes() int {
	i := 0
	for r.is(i, "#") && r.is(i+1, "!") && r.is(i+2, "[") {
		i = r.skip(i + 2)
	}
	return i
}

// hide notes the types that are declared without pub, whose methods are nobody else's.
func (r *rustFile) hide(from, to int) {
	for i := from; i < to; i = r.skip(i) {
		if r.isOneOf(i, "struct", "enum", "union") && r.isWord(i+1) && !r.is(i-1, "pub") {
			r.private[r.rustName(i+1)] = true
		}
	}
}

// rustName is an identifier, also one that is written r#type.
func (r *rustFile) rustName(i int) string {
	if r.is(i, "r") && r.is(i+1, "#") && r.at(i+2).start == r.at(i+1).stop {
		return r.str(i + 2)
	}
	return r.str(i)
}

// items reads the items of a module whose path is prefix.
func (r *rustFile) items(from, to int, prefix string) {
	for i := from; i < to && !r.full(); {
		i = max(r.item(i, to, prefix), i+1)
	}
}

// rustItem is the beginning of an item.
type rustItem struct {
	start, vis int // its first token, and the one after its attributes
	public     bool
	attributes string // their text
}

func (r *rustFile) begin(i int) (item rustItem, next int) {
	item.start = i
	next = r.attributes(i)
	for k := i; k < next; k++ {
		item.attributes += r.str(k)
		if len(item.attributes) > 2000 {
			break
		}
	}
	item.vis = next
	if r.is(next, "pub") {
		next++
		item.public = !r.is(next, "(") || r.isField(next)
		if r.is(next, "(") && !item.public {
			next = r.skip(next)
		}
	}
	if strings.Contains(item.attributes, "doc(hidden)") {
		item.public = false
	}
	return item, next
}

// isField tells the parenthesis of a tuple from that of pub(crate).
func (r *rustFile) isField(i int) bool {
	return !r.isOneOf(i+1, "crate", "super", "self", "in")
}

func (r *rustFile) item(i, to int, prefix string) int {
	item, at := r.begin(i)
	for r.isOneOf(at, "unsafe", "async", "default", "extern", "const", "safe") && !r.is(at+1, "{") &&
		(r.isWord(at+1) || r.at(at+1).kind == literalToken) && !r.isConstant(at) && !r.is(at+1, "crate") {
		if at++; r.at(at).kind == literalToken {
			at++
		}
	}
	switch r.str(at) {
	case "fn":
		return r.function(item, at, to, prefix)
	case "struct", "enum", "union", "trait", "type", "const", "static":
		return r.named(item, at, to, prefix)
	case "mod":
		return r.mod(item, at, to, prefix)
	case "use":
		end := r.until(at, to, ";")
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
	return r.is(i, "const") && !r.isOneOf(i+1, "fn", "unsafe", "async", "extern")
}

// otherItem passes over extern "C" { ... }, whose items it reads, macros that are called, and what is not known.
func (r *rustFile) otherItem(i, to int, prefix string) int {
	if r.is(i, "{") && r.at(i-1).kind == literalToken {
		from, end := r.inside(i)
		r.items(from, end, prefix)
	}
	return r.skip(i)
}

// tail is the token that ends an item's head: "{" or ";".
func (r *rustFile) tail(i, to int) int { return r.untilTyped(i, to, "{", ";") }

func (r *rustFile) function(item rustItem, at, to int, prefix string) int {
	name := r.rustName(at + 1)
	end := r.tail(at, to)
	kind := Function
	if made, ok := r.procMacro(item, name); ok {
		name, kind = made, Macro
	}
	if item.public {
		r.declare(qualify(prefix, "::", name), kind, item.start, end)
	}
	return r.skip(end)
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
	if r.is(name, "mut") {
		name++
	}
	kind, end := Type, 0
	switch r.str(at) {
	case "const", "static":
		if kind = Constant; r.is(at, "static") {
			kind = Variable
		}
		end = r.until(name, to, ";")
	case "type":
		end = r.until(name, to, ";")
	default:
		end = r.tail(name, to)
	}
	if item.public && r.isWord(name) && !r.is(name, "_") {
		r.declare(qualify(prefix, "::", r.rustName(name)), kind, item.start, end)
	}
	return r.skip(end)
}

func (r *rustFile) mod(item rustItem, at, to int, prefix string) int {
	end := r.tail(at, to)
	if !item.public || strings.Contains(item.attributes, "cfg(test)") {
		return r.skip(end)
	}
	name := qualify(prefix, "::", r.rustName(at+1))
	r.declare(name, Module, item.start, end)
	if r.is(end, "{") && strings.Count(name, "::") < deepestScope {
		from, to := r.inside(end)
		r.hide(from, to)
		r.items(from, to, name)
	}
	return r.skip(end)
}

func (r *rustFile) macro(item rustItem, at int) int {
	body := at + 3
	if strings.Contains(item.attributes, "macro_export") && !strings.Contains(item.attributes, "doc(hidden)") {
		r.add(Symbol{Name: r.str(at+2) + "!", Kind: Macro, Signature: "macro_rules! " + r.str(at+2),
			Doc: r.doc(item.start), Line: int(r.at(at).line)})
	}
	return r.skip(body)
}
