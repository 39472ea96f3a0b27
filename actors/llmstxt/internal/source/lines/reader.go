package lines

import (
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

const (
	deepest      = 50      // depth of nested blocks
	longestLine  = 2 << 10 // bytes of a line that may declare something
	longestHead  = 24      // lines of a declaration
	longestList  = 120     // lines of a list of exports
	longestDoc   = 8 << 10
	mostUnended  = 20 // number of texts without an end after which no more ends are searched
	everyNthLine = 64 // how often the context is checked
)

// block is the declaration that encloses a line: it is above the line and indented less.
type block struct {
	indent  int // of the declaration
	column  int // of the first declaration in it; -1 before that
	name    string
	rule    Rule
	hidden  bool // nothing in it is public
	labeled bool // what follows a label is not public
	inner   bool // a brace is open in its column
	braced  bool // the line ends with "{", so its content may be in the same column
}

// reader reads the lines of a text in order, each once. It is used for one text.
type reader struct {
	*Grammar
	ctx     context.Context
	lines   []string
	next    int // index of the next line, which is the number of the last one
	all     bool
	asked   int // line at which the context was last checked
	unended int

	blocks  []block
	symbols []surface.Symbol
	at      map[string]int            // index of a name in symbols
	apart   map[string]surface.Symbol // declarations that are not public
	doc     strings.Builder           // the comment above the line
	marked  bool                      // it is a doc comment, and an empty line may follow it
	asides  string                    // lines between the comment and the declaration
	tail    string                    // last line of the latest declaration
	last    declaration               // a declaration whose name follows its members
	lastDoc string
	waiting int // index of the symbol whose documentation may follow, or -1
}

// bodies matches function bodies.
var bodies = lazyregexp.New(`\)\s*\{`)

// more reports whether to read on. It checks the context only after some lines.
func (r *reader) more() bool {
	if r.next-r.asked >= everyNthLine {
		r.asked = r.next
		if r.ctx.Err() != nil {
			return false
		}
	}
	return r.next < len(r.lines) && len(r.symbols) < surface.MaxSymbols
}

// line reads the next line, with the lines of a comment, text or head that begins on it.
func (r *reader) line() {
	line := r.lines[r.next]
	r.next++
	number := r.next
	column, text := indentation(line)
	switch {
	case text == "":
		if !r.marked {
			r.doc.Reset()
		}
		r.marked, r.asides = false, ""
		return
	case r.Block && strings.HasPrefix(text, "/*"):
		r.comment(text)
		return
	case r.Comment != "" && strings.HasPrefix(text, r.Comment):
		if number > 1 || !strings.HasPrefix(text, "#!") {
			r.remark(text)
		}
		return
	}
	begun := r.skipTexts(text[:min(len(text), longestLine)])
	switch {
	case r.documents(text, begun), len(text) > longestLine, strings.HasPrefix(text, "where"), r.label(column, text):
		return
	case strings.IndexByte("{})]", text[0]) >= 0:
		r.brace(number, column, text)
		return
	}
	if match(r.Aside, text) != nil {
		if r.Plain && text[0] == '#' { // a comment above a directive is about the directive
			r.doc.Reset()
		}
		if len(r.asides) < longestLine {
			r.asides += text + " "
		}
		return
	}
	if inside := r.enter(column); inside != nil {
		n := len(r.blocks)
		r.tail = text
		r.declare(number, column, text, inside)
		if strings.HasSuffix(r.tail, "{") && (len(r.blocks) == n || !r.blocks[n].rule.Through) {
			r.blocks[n-1].inner = true
		}
	}
	r.doc.Reset()
	r.asides = ""
}

// comment reads a comment of several lines. It skips what follows it on its last line.
func (r *reader) comment(text string) {
	r.doc.Reset()
	r.marked = strings.HasPrefix(text, "/**") || strings.HasPrefix(text, "/*!")
	text = text[2:]
	for {
		before, _, ended := strings.Cut(text, "*/")
		if r.doc.Len() < longestDoc && (r.marked || r.Plain) {
			line := strings.TrimLeft(strings.TrimLeft(strings.TrimRight(before, " \t*"), " \t"), "*!<")
			r.doc.WriteString(strings.TrimPrefix(line, " ") + "\n")
		}
		if ended || r.next >= len(r.lines) {
			return
		}
		text = r.lines[r.next]
		r.next++
	}
}

// remark reads a comment of one line. A doc comment replaces other comments above it.
func (r *reader) remark(text string) {
	if r.Block && !r.Plain && (!strings.HasPrefix(text, "///") || strings.HasPrefix(text, "////")) {
		return
	}
	text = strings.TrimLeft(strings.TrimLeft(text, r.Comment[:1]), "!<:")
	if r.doc.Len() < longestDoc {
		r.doc.WriteString(strings.TrimPrefix(text, " ") + "\n")
	}
}

// skipTexts skips a text that begins on this line and ends on a later one, and returns its content.
func (r *reader) skipTexts(text string) (begun string) {
	if r.Here != nil {
		for _, tag := range r.Here.FindAllStringSubmatch(text, 2) {
			if end := r.endOf(tag[1]); end >= 0 {
				r.next = end + 1
			}
		}
	}
	mark := r.open(text)
	if mark == "" || r.unended >= mostUnended {
		return ""
	}
	for i := r.next; i < len(r.lines); i++ {
		if mark == "/*" && strings.Contains(r.lines[i], "*/") || mark != "/*" && strings.Count(r.lines[i], mark)%2 == 1 {
			from := r.next
			r.next = i + 1
			last, _, _ := strings.Cut(r.lines[i], mark)
			return strings.Join(r.lines[from:min(i, from+80)], "\n") + "\n" + last
		}
		if mark == "`" && plainly.MatchString(r.lines[i]) {
			return "" // it was part of a pattern
		}
	}
	r.unended++
	return ""
}

// plainly matches lines of a script that hardly occur within a text.
var plainly = lazyregexp.New(`^(export |module\.exports|exports\.|import |class |function )`)

// endOf returns the index of the line that ends a text with a tag, or -1.
func (r *reader) endOf(tag string) int {
	if r.unended < mostUnended {
		for i := r.next; i < len(r.lines); i++ {
			line := strings.TrimLeft(r.lines[i], " \t")
			if rest, ok := strings.CutPrefix(line, tag); ok && (rest == "" || !prose.IsIdent(rune(rest[0]))) {
				return i
			}
		}
		r.unended++
	}
	return -1
}

// open returns the mark of a text or comment that begins on the line and does not end there; "" if there is none.
func (r *reader) open(text string) string {
	if !strings.ContainsAny(text, "\"'`/") {
		return ""
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case r.Block && strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return "/*"
			}
			i += end + 3
		case r.Comment != "" && strings.HasPrefix(text[i:], r.Comment) && (i == 0 || text[i-1] == ' '):
			return ""
		case c == '"' || c == '\'' || c == '`':
			mark := r.markAt(text[i:])
			end := closing(text[i+len(mark):], mark)
			switch {
			case end >= 0:
				i += len(mark) + end + len(mark) - 1
			case slices.Contains(r.Texts, mark):
				return mark
			}
		}
	}
	return ""
}

// markAt returns the mark of a long text, or the quote, that s begins with.
func (r *reader) markAt(s string) string {
	for _, mark := range r.Texts {
		if strings.HasPrefix(s, mark) {
			return mark
		}
	}
	return s[:1]
}

// closing returns the index of the next mark without a backslash, or -1.
func closing(s, mark string) int {
	for i := 0; i+len(mark) <= len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i:i+len(mark)] == mark:
			return i
		}
	}
	return -1
}

// documents reads a text that documents what is above or below it.
func (r *reader) documents(text, begun string) bool {
	m := match(r.Docs, text)
	if m == nil {
		r.waiting = -1
		return false
	}
	rest := text[len(m[0]):]
	if i := strings.IndexByte(rest, m[0][len(m[0])-1]); i >= 0 && begun == "" {
		rest = rest[:i]
	}
	doc := rest + "\n" + begun
	if m[1] == "" {
		r.doc.Reset()
		r.doc.WriteString(doc)
	} else if r.waiting >= 0 && r.symbols[r.waiting].Doc == "" {
		r.symbols[r.waiting].Doc = summary(doc)
	}
	r.waiting = -1
	return true
}

// label reads a line that says whether the following lines are public.
func (r *reader) label(column int, text string) bool {
	m := match(r.Label, text)
	if m == nil {
		return false
	}
	for n := len(r.blocks) - 1; n > 0 && r.blocks[n].indent > column; n-- {
		r.blocks = r.blocks[:n]
	}
	b := &r.blocks[len(r.blocks)-1]
	b.labeled = m[1] != "" && !strings.HasPrefix(m[1], "public") && m[1] != "module_function"
	return true
}

// enter leaves the blocks that do not enclose a line of the column. It returns the block in which the line may
// declare something, or nil inside a body.
func (r *reader) enter(column int) *block {
	r.leave(column)
	b := &r.blocks[len(r.blocks)-1]
	if b.column < 0 || column < b.column { // continuation lines of a head are indented further
		b.column = column
	}
	if b.column != column || len(r.blocks) > deepest {
		return nil
	}
	return b
}

// leave leaves the blocks that do not enclose a line of the column.
func (r *reader) leave(column int) {
	for n := len(r.blocks) - 1; n > 0 && r.blocks[n].indent >= column && !r.blocks[n].holds(column); n-- {
		r.blocks = r.blocks[:n]
	}
}

// holds reports whether the column belongs to a namespace whose members are not indented.
func (b *block) holds(column int) bool {
	return b.rule.Through && b.braced && b.column <= b.indent && column == b.indent
}

// brace reads a closing line: of a type whose name comes last, or of a namespace that says so.
func (r *reader) brace(number, column int, text string) {
	r.leave(column)
	switch b := &r.blocks[len(r.blocks)-1]; {
	case !b.holds(column):
	case text[0] == '{':
		b.inner = true
	case b.inner && !strings.Contains(text, "namespace"):
		b.inner = false
	case !strings.HasPrefix(text, "};"): // it closes a type
		r.blocks = r.blocks[:len(r.blocks)-1]
	}
	if r.last.number == 0 || r.last.column != column || text[0] != '}' {
		return
	}
	if m := match(r.Last, text); m != nil {
		d := r.last
		d.name, d.Kind = m[1], surface.Type
		r.doc.Reset()
		r.doc.WriteString(r.lastDoc)
		in := r.enter(column)
		if in == nil {
			return
		}
		r.add(surface.Symbol{Name: d.name, Kind: d.Kind, Line: number, Signature: strings.TrimRight(d.text, " {") + " " + d.name}, d,
			r.isPublic(d, *in))
		r.doc.Reset()
	}
	r.last.number = 0
}
