package chatui

import (
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdownParser parses what models write: Markdown with tables, task lists and struck text.
var markdownParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
})

// markdown renders a Markdown text in columns, with an empty line between blocks.
func markdown(source string, columns int) []line {
	m := page{source: []byte(source)}
	return m.blocks(markdownParser().Parse(text.NewReader(m.source)), columns, false)
}

// page renders the nodes of one text.
type page struct{ source []byte }

// blocks renders the children of a node.
func (m *page) blocks(parent ast.Node, columns int, tight bool) (out []line) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		rendered := m.block(n, columns)
		if len(rendered) == 0 {
			continue
		}
		if len(out) > 0 && !tight {
			out = append(out, nil)
		}
		out = append(out, rendered...)
	}
	return out
}

// block renders a block in a number of columns.
func (m *page) block(n ast.Node, columns int) []line {
	switch n := n.(type) {
	case *ast.Heading:
		return wrap(m.inline(n, bold), columns)
	case *ast.Paragraph, *ast.TextBlock:
		return wrap(m.inline(n, plain), columns)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return m.verbatim(n, code, columns)
	case *ast.HTMLBlock:
		return m.verbatim(n, faint, columns)
	case *ast.Blockquote:
		return prefixed(m.blocks(n, columns-2, false), piece{"│ ", faint}, piece{"│ ", faint})
	case *ast.List:
		return m.list(n, columns)
	case *ast.ThematicBreak:
		return []line{{{strings.Repeat("─", min(columns, 40)), faint}}}
	case *east.Table:
		return m.table(n, columns)
	case *ast.LinkReferenceDefinition:
		return nil
	}
	return m.blocks(n, columns, false)
}

// verbatim renders the lines of a block unchanged, except that it breaks lines that are too long.
func (m *page) verbatim(n ast.Node, l look, columns int) (out []line) {
	const indent = "  "
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		row := strings.TrimRight(string(segment.Value(m.source)), "\r\n")
		w := wrapper{columns: max(columns-len(indent), 1)}
		w.put(piece{row, l})
		w.flush()
		out = append(out, w.lines...)
	}
	return prefixed(out, piece{text: indent}, piece{text: indent})
}

// prefixed puts first before the first line and rest before the others.
func prefixed(lines []line, first, rest piece) []line {
	for i := range lines {
		p := rest
		if i == 0 {
			p = first
		}
		lines[i] = append(line{p}, lines[i]...)
	}
	return lines
}

// list renders a list. Lists that are not tight have a blank line between their items.
func (m *page) list(n *ast.List, columns int) (out []line) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		width := len([]rune(mark))
		body := m.blocks(item, columns-width, n.IsTight)
		if len(body) == 0 {
			body = []line{nil}
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, nil)
		}
		out = append(out, prefixed(body, piece{text: mark}, piece{text: strings.Repeat(" ", width)})...)
	}
	return out
}

// inline returns the pieces of text below a node.
func (m *page) inline(parent ast.Node, l look) (out []piece) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, m.span(n, l)...)
	}
	return out
}

// span renders a piece of text, in the look of the text around it.
func (m *page) span(n ast.Node, l look) []piece {
	switch n := n.(type) {
	case *ast.Text:
		words := string(n.Value(m.source))
		if !n.IsRaw() {
			words = unescaped(words)
		}
		switch {
		case n.HardLineBreak():
			words += "\n"
		case n.SoftLineBreak():
			words += " "
		}
		return []piece{{words, l}}
	case *ast.String:
		return []piece{{string(n.Value), l}}
	case *ast.CodeSpan:
		return m.inline(n, l.and(code))
	case *ast.Emphasis:
		if n.Level > 1 {
			return m.inline(n, l.and(bold))
		}
		return m.inline(n, l.and(italic))
	case *east.Strikethrough:
		return m.inline(n, l.and(struck))
	case *east.TaskCheckBox:
		if n.IsChecked {
			return []piece{{"[x] ", l}}
		}
		return []piece{{"[ ] ", l}}
	case *ast.Link:
		return m.link(m.inline(n, l.and(under)), string(n.Destination), l)
	case *ast.Image:
		return m.link(append([]piece{{"image: ", l}}, m.inline(n, l)...), string(n.Destination), l)
	case *ast.AutoLink:
		return []piece{{string(n.Label(m.source)), l.and(under)}}
	case *ast.RawHTML:
		return []piece{{string(n.Segments.Value(m.source)), l}}
	}
	return m.inline(n, l)
}

// link adds the address to the text of a link, so that nobody follows an address that they cannot see.
func (m *page) link(words []piece, address string, l look) []piece {
	said, address := "", clean(address)
	for _, p := range words {
		said += p.text
	}
	if said == address || address == "" {
		return words
	}
	return append(words, piece{" (" + address + ")", l.and(faint)})
}

// unescaped removes backslashes before punctuation, and replaces character entities.
func unescaped(words string) string {
	return clean(string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(words))))))
}

// settled returns how many bytes of a growing text are in blocks that cannot change any more. These blocks end before a
// line that follows an empty line, is not indented, and is outside of fences.
func settled(text string) int {
	end, pos, fence, indented, empty := 0, 0, "", false, false
	for row := range strings.Lines(text) {
		if !strings.HasSuffix(row, "\n") { // an incomplete line may become a fence, but not part of an earlier block
			if empty && fence == "" && strings.TrimLeft(row, " \t") == row {
				end = pos
			}
			break
		}
		words := strings.TrimRight(row, " \t\r\n")
		bare := strings.TrimLeft(words, " \t")
		inside := len(bare) < len(words)
		if fence != "" && indented && !inside && bare != "" {
			fence = "" // the list that contains the fence has ended
		}
		switch mark := fenceOf(bare); {
		case fence == "" && empty && bare != "" && !inside:
			end = pos
			fence, indented = mark, inside
		case fence == "":
			fence, indented = mark, inside
		case strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]) == "":
			fence = ""
		}
		empty = bare == ""
		pos += len(row)
	}
	return end
}

// fenceOf returns the backquotes or tildes with which a fence begins, or "".
func fenceOf(bare string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(bare) - len(strings.TrimLeft(bare, mark))
		if n >= 3 && (mark == "~" || !strings.Contains(bare[n:], "`")) {
			return bare[:n]
		}
	}
	return ""
}

// table renders a table. If it is too wide, the widest columns are narrowed.
func (m *page) table(n *east.Table, columns int) (out []line) {
	var rows [][][]piece
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		l := plain
		if r.Kind() == east.KindTableHeader {
			l = bold
		}
		var row [][]piece
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, m.inline(c, l))
		}
		rows = append(rows, row)
	}
	widths := columnWidths(rows, columns)
	for i, row := range rows {
		out = append(out, tableRow(row, widths, n.Alignments)...)
		if i == 0 {
			var rule line
			for c, w := range widths {
				if c > 0 {
					rule = append(rule, piece{"─┼─", faint})
				}
				rule = append(rule, piece{strings.Repeat("─", w), faint})
			}
			out = append(out, rule)
		}
	}
	return out
}

// between is the number of columns between two cells.
const between = 3

// columnWidths returns the widths of the columns of a table.
func columnWidths(rows [][][]piece, columns int) (widths []int) {
	for _, row := range rows {
		for c, cell := range row {
			if c == len(widths) {
				widths = append(widths, 1)
			}
			widths[c] = max(widths[c], line(cell).width())
		}
	}
	total := func() (n int) {
		for _, w := range widths {
			n += w + between
		}
		return n - between
	}
	for total() > columns {
		widest := 0
		for c := range widths {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= 4 {
			break
		}
		widths[widest]--
	}
	return widths
}

// tableRow renders a row, which is as high as its highest cell.
func tableRow(cells [][]piece, widths []int, align []east.Alignment) (out []line) {
	wrapped, height := make([][]line, len(widths)), 1
	for c := range widths {
		if c < len(cells) {
			wrapped[c] = wrap(cells[c], widths[c])
		}
		height = max(height, len(wrapped[c]))
	}
	for y := range height {
		var row line
		for c, w := range widths {
			if c > 0 {
				row = append(row, piece{" │ ", faint})
			}
			var cell line
			if y < len(wrapped[c]) {
				cell = wrapped[c][y]
			}
			space := max(w-cell.width(), 0)
			left := 0
			switch {
			case c >= len(align):
			case align[c] == east.AlignRight:
				left = space
			case align[c] == east.AlignCenter:
				left = space / 2
			}
			row = append(row, piece{text: strings.Repeat(" ", left)})
			row = append(row, cell...)
			row = append(row, piece{text: strings.Repeat(" ", space-left)})
		}
		out = append(out, row)
	}
	return out
}
