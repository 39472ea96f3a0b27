package lines

import (
	"cmp"
	"html"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
)

// declare reads a line of the block in: a list of exports, or what the first rule that matches declares.
func (r *reader) declare(number, column int, text string, in *block) {
	if r.exports(number, text) {
		return
	}
	rules := r.Inside
	if in.rule.Through {
		rules = r.Outside
	}
	for _, rule := range rules {
		m := rule.Pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := group(rule.Pattern, m, "name")
		if !slices.Contains(keywords, name) {
			r.found(declaration{number, column, text, text[:len(m[0])], name, group(rule.Pattern, m, "owner"), rule}, *in)
		}
		return
	}
}

// declaration is a line that declares something. head is its text up to the end of the pattern's match.
type declaration struct {
	number, column          int
	text, head, name, owner string
	Rule
}

// found takes a declaration: it adds the symbol, and opens a block if members may follow.
func (r *reader) found(d declaration, in block) {
	switch {
	case d.Alias:
		r.exported(d.number, d.owner, d.name, true)
		return
	case d.Closes:
		r.last, r.lastDoc = d, r.doc.String()
		return
	}
	between := cmp.Or(in.rule.Between, ".") // Ruby: A::B, A#method, and A.method for all of "class << self"
	if d.Between != "" && !d.Opens && between != "." {
		between = d.Between
	}
	full := qualify(in.name, between, qualify(d.owner, between, d.name))
	public := r.isPublic(d, in)
	if d.Kind == "" { // Rust's impl is as public as its type
		_, apart := r.apart[full]
		public = public && !apart
	}
	r.add(surface.Symbol{Name: full, Kind: d.Kind, Line: d.number, Signature: r.signature(d)}, d, public)
	if !d.Opens {
		return
	}
	b := block{indent: d.column, column: -1, name: full, rule: d.Rule, hidden: !public, braced: strings.HasSuffix(d.text, "{"),
		labeled: r.Label != nil && r.Block && strings.HasPrefix(d.head, "class")}
	if d.name == "" { // such as Python's if: what is in it belongs to the block around it
		b.name = in.name
		b.rule.Through = in.rule.Through
	}
	if d.Kind == "" && match(r.Public, d.head) != nil {
		b.rule.Free = true
	}
	r.blocks = append(r.blocks, b)
}

func group(p *regexp.Regexp, m []string, name string) string {
	if i := p.SubexpIndex(name); i > 0 {
		return m[i]
	}
	return ""
}

// internal matches the marks of declarations that are not for others.
var internal = regexp.MustCompile(`@internal|@private|@api private|@hidden|:nodoc:|doc\(hidden\)|doc false|@impl |cfg\(test\)|\.(?:setter|deleter)\b|@(?:typing\.)?overload`)

// isPublic reports whether others may use a declaration, by its head, annotations, comment and block.
func (r *reader) isPublic(d declaration, in block) bool {
	switch {
	case in.hidden, in.labeled && d.Kind != "", match(r.Hidden, d.head) != nil,
		internal.MatchString(r.asides), internal.MatchString(d.text), internal.MatchString(r.doc.String()),
		!strings.Contains(r.asides, d.Needs):
		return false
	case d.Always, in.rule.Free, d.Kind == "", r.Public == nil:
		return true
	}
	return r.Public.MatchString(d.head) || r.Exports != nil && in.rule.Kind == surface.Type
}

// add keeps a symbol; of several with the same name, the first.
func (r *reader) add(s surface.Symbol, d declaration, public bool) {
	s.Doc = summary(r.doc.String())
	if s.Doc == "" && (!r.all || d.Documented) {
		public = false
	}
	if s.Kind == surface.Method && strings.Contains(r.asides, "property") {
		s.Kind = surface.Variable
	}
	r.waiting = -1
	switch i, known := r.at[s.Name]; {
	case s.Kind == "":
	case !public:
		if r.Exports != nil {
			r.apart[s.Name] = s
		}
	case known:
		r.symbols[i].Doc = cmp.Or(r.symbols[i].Doc, s.Doc)
	default:
		r.at[s.Name] = len(r.symbols)
		r.symbols = append(r.symbols, s)
		if s.Kind != surface.Constant {
			r.waiting = len(r.symbols) - 1
		}
	}
}

// exports reads a list of exported names. Their declarations may follow later.
func (r *reader) exports(number int, text string) bool {
	m := match(r.Exports, text)
	if m == nil {
		return false
	}
	origin := strings.Contains(text, " from ")
	r.items(number, m[1], !origin)
	open, column, from := depth(text), -1, r.next
	for open > 0 && r.next < len(r.lines) && r.next-from < longestList {
		line, _, _ := strings.Cut(r.lines[r.next], "//")
		pos, rest := indentation(line)
		r.next++
		open += depth(rest)
		if column < 0 {
			column = pos
		}
		if pos == column && rest != "" && strings.IndexByte("}])", rest[0]) < 0 {
			if i := strings.IndexAny(rest, "("); i >= 0 {
				rest = rest[:i]
			}
			r.items(number, rest, !origin)
		}
	}
	return true
}

// items reads the names of a list: "a, b as c, d: e" of scripts, "a::{self, B}" of Rust.
func (r *reader) items(number int, list string, here bool) {
	list, _, _ = strings.Cut(list, " from ")
	for item := range strings.FieldsFuncSeq(list, func(c rune) bool { return strings.ContainsRune(",{};", c) }) {
		item = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(item), "type "))
		local, name, renamed := strings.Cut(item, " as ")
		if before, after, keyed := strings.Cut(item, ": "); keyed {
			local, name = after, before
		} else if !renamed {
			local = item[strings.LastIndexByte(item, ':')+1:]
			name = local
		}
		if name != "" && name == identifier(name) && !slices.Contains(keywords, name) {
			r.exported(number, local, name, here)
		}
	}
}

// keywords may occur where a name is expected.
var keywords = []string{"self", "super", "crate", "default", "extends", "if", "for", "while", "switch", "return", "catch"}

// renamedMark precedes the name that an exported symbol has within the file.
const renamedMark = "\x00"

// exported adds a name of a list of exports, with a kind guessed from its capitals. here: this file may declare it.
func (r *reader) exported(number int, local, name string, here bool) {
	s := surface.Symbol{Name: name, Kind: surface.Function, Line: number, Signature: name}
	switch {
	case len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name:
		s.Kind = surface.Constant
	case unicode.IsUpper(rune(name[0])):
		s.Kind = surface.Type
	}
	if _, known := r.at[name]; known {
		return
	}
	if here && local != name {
		s.Doc = renamedMark + local // until the end, when all declarations are known
	}
	r.at[name] = len(r.symbols)
	r.symbols = append(r.symbols, s)
}

// finish returns the symbols. An exported name takes the declaration in the file.
func (r *reader) finish() []surface.Symbol {
	names := slices.Sorted(maps.Keys(r.apart))
	for i, s := range r.symbols {
		local, renamed := strings.CutPrefix(s.Doc, renamedMark)
		if !renamed {
			local = s.Name
		}
		if renamed {
			r.symbols[i].Doc = ""
		}
		own, ok := r.apart[local]
		if !ok || s.Signature != s.Name {
			continue
		}
		own.Name = s.Name
		r.symbols[i] = own
		index, _ := slices.BinarySearch(names, local+".")
		for ; index < len(names) && strings.HasPrefix(names[index], local+".") && len(r.symbols) < surface.MaxSymbols; index++ {
			member := r.apart[names[index]]
			if rest := names[index][len(local)+1:]; !strings.HasPrefix(rest, "_") {
				member.Name = s.Name + "." + rest
				r.symbols = append(r.symbols, member)
			}
		}
	}
	return r.symbols
}

// signature returns the head of a declaration on one line, up to the beginning of its body or value. It reads the
// lines over which the head extends.
func (r *reader) signature(d declaration) string {
	ends := r.Ends
	if d.Kind == surface.Constant || d.Kind == surface.Variable || strings.Contains(d.head, "type ") {
		ends = nil
	}
	whole, from := d.text, r.next
	end := r.headEnd(whole, ends)
	for r.goesOn(d, whole, end) && r.next-from < longestHead && len(whole) < longestLine {
		line := r.lines[r.next]
		if r.Comment != "" {
			line, _, _ = strings.Cut(line, " "+r.Comment)
		}
		r.tail = strings.TrimSpace(line)
		whole += " " + r.tail
		r.next++
		end = r.headEnd(whole, ends)
	}
	if end < 0 {
		end = len(whole)
	}
	return strings.TrimSuffix(joined(lead.ReplaceAllString(whole[:end], "")), " =")
}

// goesOn reports whether a head ends on a later line: its brackets are open, or its block has not begun and the next
// line is indented further.
func (r *reader) goesOn(d declaration, whole string, end int) bool {
	if r.next >= len(r.lines) || end >= 0 && (!d.Opens || !r.Block || end < len(whole)) {
		return false
	}
	column, rest := indentation(r.lines[r.next])
	return rest != "" && (column > d.column || end < 0 && strings.IndexByte(")]}", rest[0]) >= 0) &&
		!prose.StartsWithAny(rest, "//", "/*")
}

var lead = regexp.MustCompile(`^export (?:default )?(?:declare )?`)

// headEnd returns the end of the head, or -1 if it continues.
func (r *reader) headEnd(s string, ends []string) int {
	open := 0
	for i, c := range unquoted(s, "\"") {
		switch {
		case open == 0 && (c == '{' && i > 0 || c == ';'):
			return i
		case c == '(' || c == '[' || c == '{':
			open++
		case c == ')' || c == ']' || c == '}':
			open--
		case open == 0 && i > 0:
			for _, end := range ends {
				if strings.HasPrefix(s[i:], end) {
					return i
				}
			}
		}
		if open == 0 && r.Comment != "" && c == r.Comment[0] && i > 0 && s[i-1] == ' ' && strings.HasPrefix(s[i:], r.Comment) {
			return i
		}
	}
	if open > 0 {
		return -1
	}
	return len(s)
}

// depth returns how many more brackets the text opens than it closes.
func depth(s string) (n int) {
	for _, c := range unquoted(s, "\"") {
		switch c {
		case '(', '[', '{':
			n++
		case ')', ']', '}':
			n--
		}
	}
	return n
}

// match returns what a pattern and its groups match; nothing if the grammar has no such pattern.
func match(p *regexp.Regexp, s string) []string {
	if p == nil {
		return nil
	}
	return p.FindStringSubmatch(s)
}

// identifier returns the identifier at the beginning of s, or "".
func identifier(s string) string {
	if s == "" || '0' <= s[0] && s[0] <= '9' {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeftFunc(s, prose.IsIdent))]
}

// indentation returns the column of the first character that is not blank, and the text from there on.
func indentation(line string) (column int, rest string) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			column++
		case '\t':
			column += 8 - column%8
		case '\f':
			column = 0
		default:
			return column, line[i:]
		}
	}
	return column, ""
}

// joined writes a declaration that spans several lines on one line.
func joined(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, pair := range [][2]string{{"( ", "("}, {", )", ")"}, {" )", ")"}, {"[ ", "["}, {", ]", "]"}, {" ]", "]"}} {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	return s
}

// qualify joins a scope and a name; an empty scope is left out.
func qualify(scope, separator, name string) string {
	if scope == "" || name == "" {
		return name
	}
	return scope + separator + name
}

// unquoted yields the bytes of s outside of quotations, with their indexes. A backslash escapes in a quotation.
func unquoted(s, quotes string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		quote := byte(0)
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case quote != 0 && c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case strings.IndexByte(quotes, c) >= 0:
				quote = c
			case !yield(i, c):
				return
			}
		}
	}
}

// summary returns the first sentence of a comment, without the tags of Javadoc, Doxygen, XML and HTML. It skips text
// for tools and for developers.
func summary(doc string) string {
	if strings.ContainsAny(doc, `@\`) {
		var b strings.Builder
		for line := range strings.Lines(doc) {
			b.WriteString(tagged(line))
		}
		doc = commands.ReplaceAllString(b.String(), "")
	}
	if strings.ContainsAny(doc, "<&") {
		if _, rest, ok := strings.Cut(doc, "<summary>"); ok {
			doc, _, _ = strings.Cut(rest, "</summary>")
		}
		doc = references.ReplaceAllString(doc, "`$1`")
		doc = codeTags.ReplaceAllString(blockTags.ReplaceAllString(doc, "\n\n"), "`")
		doc = html.UnescapeString(inlineTags.ReplaceAllString(doc, ""))
	}
	doc = prose.Summary(typewriter.ReplaceAllString(doc, "$1`$2`"))
	low := strings.ToLower(doc[:min(len(doc), 40)])
	if prose.StartsWithAny(low, "eslint", "@ts-", "prettier", "istanbul", "todo", "fixme", "xxx", "hack", "nolint",
		"noinspection", "clang-format", "swiftlint", "#region", "<reference", "region ", "rubocop") ||
		!strings.ContainsFunc(doc, func(r rune) bool { return r >= 'A' }) {
		return ""
	}
	return doc
}

// tagged returns the text of "@brief text", and nothing for "@module name". Other tags end the text.
func tagged(line string) string {
	text := strings.TrimLeft(line, " \t")
	if text == "" || text[0] != '@' && text[0] != '\\' {
		return line
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	switch name {
	case "description", "desc", "summary", "classdesc", "fileoverview", "overview", "brief", "short", "details":
		return strings.TrimSpace(rest) + "\n"
	case "file", "module", "packageDocumentation", "export", "class", "constructor", "public", "name", "namespace",
		"license", "{", "}", "struct", "union", "enum", "def", "fn", "typedef", "var", "ingroup", "interface", "since":
		return "\n"
	}
	return "@" + text[1:]
}

var (
	commands   = regexp.MustCompile(`[\\@](?:ref|c|p|a|e|b|em|link|copydoc) |\{@inherit[dD]oc\}`)
	references = regexp.MustCompile(`<\w+ (?:cref|name|langword)="(?:\w:)?([^"(]*)[^"]*"\s*/>`)
	typewriter = regexp.MustCompile(`(^|\s)\+([\w.#?!]+)\+`) // RDoc
	blockTags  = regexp.MustCompile(`(?i)</?(?:p|ul|ol|li|pre|table|tr|td|div|dl|dt|dd|blockquote|h\d|hr|br|para|list|item)(?:\s[^>]*)?/?>`)
	codeTags   = regexp.MustCompile(`(?i)</?(?:code|tt|c|kbd|samp)>`)
	inlineTags = regexp.MustCompile(`(?i)</?(?:a|b|i|em|strong|span|small|sup|sub|u|var|img|font|cite|q|see|s)(?:\s[^>]*)?/?>`)
)
