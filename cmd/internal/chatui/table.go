package chatui

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// ruleCell is a cell of the row below the head of a table. The colons say how the column is aligned.
var ruleCell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:?-+:?$`) })

// table returns the cells of a paragraph that is a table, and the cells of the row below its head; or nil.
func (m *page) table(n ast.Node) (rows [][][]piece, alignment []string) {
	if n.Lines().Len() < 2 {
		return nil, nil
	}
	row := func(i int) []string {
		segment := n.Lines().At(i)
		return cellsOf(string(segment.Value(m.source)))
	}
	alignment = row(1)
	for _, cell := range alignment {
		if !ruleCell().MatchString(cell) {
			return nil, nil
		}
	}
	if head := row(0); len(head) != len(alignment) || len(head) < 2 {
		return nil, nil
	}
	for i := range n.Lines().Len() {
		if i == 1 {
			continue
		}
		l := plain
		if i == 0 {
			l = bold
		}
		cells := make([][]piece, len(alignment))
		for c, words := range row(i)[:min(len(row(i)), len(alignment))] {
			inner := page{source: []byte(words)}
			if paragraph := markdownParser().Parse(text.NewReader(inner.source)).FirstChild(); paragraph != nil {
				cells[c] = inner.inline(paragraph, l)
			}
		}
		rows = append(rows, cells)
	}
	return rows, alignment
}

// cellsOf cuts a row of a table at its bars.
func cellsOf(row string) (cells []string) {
	const bar = "\x00" // clean has left none
	row = strings.ReplaceAll(strings.TrimSpace(row), `\|`, bar)
	if !strings.Contains(row, "|") {
		return nil
	}
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	for cell := range strings.SplitSeq(row, "|") {
		cells = append(cells, strings.ReplaceAll(strings.TrimSpace(cell), bar, "|"))
	}
	return cells
}

// setTable sets a table in columns; the widest ones give way until it fits.
func setTable(rows [][][]piece, alignment []string, columns int) (out []line) {
	widths := columnWidths(rows, columns)
	for i, row := range rows {
		out = append(out, tableRow(row, widths, alignment)...)
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

// between is what separates two cells.
const between = 3

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

func tableRow(cells [][]piece, widths []int, alignment []string) (out []line) {
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
			switch rule := alignment[c]; {
			case strings.HasPrefix(rule, ":") && strings.HasSuffix(rule, ":") && len(rule) > 1:
				left = space / 2
			case strings.HasSuffix(rule, ":"):
				left = space
			}
			row = append(row, piece{text: strings.Repeat(" ", left)})
			row = append(row, cell...)
			row = append(row, piece{text: strings.Repeat(" ", space-left)})
		}
		out = append(out, row)
	}
	return out
}
