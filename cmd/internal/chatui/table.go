package chatui

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
)

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
