package terminal

import (
	"fmt"
	"io"
	"strings"
)

// screen keeps a block of lines at the end of a terminal. Between two frames the cursor is at the left of the line
// below the block, hidden.
type screen struct {
	out     io.Writer
	widths  []int // of the lines that are shown
	columns int   // that the terminal had
	shown   string
	hidden  bool // the cursor
}

// draw replaces the block, in one write, and in none where it looks the same already. Every line must be narrower than
// the terminal: one that fills it leaves some terminals in doubt where the cursor is.
func (s *screen) draw(lines []string, widths []int, columns int) {
	block := strings.Join(lines, "\n")
	if s.hidden && block == s.shown && columns == s.columns {
		return
	}
	var b strings.Builder
	if !s.hidden {
		b.WriteString("\x1b[?25l")
	}
	if up := s.height(columns); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
	s.widths, s.columns, s.shown, s.hidden = widths, columns, block, true
	io.WriteString(s.out, b.String())
}

// height is how many rows the block takes in a terminal of this width: one that became narrower has wrapped the lines.
func (s *screen) height(columns int) int {
	rows := len(s.widths)
	for _, w := range s.widths {
		rows += max(0, w-1) / columns
	}
	return rows
}

// leave gives the cursor back. What is shown stays.
func (s *screen) leave() {
	if s.hidden {
		s.hidden = false
		io.WriteString(s.out, "\x1b[?25h")
	}
}

// restart leaves the block as it is: the next one begins where the cursor is now.
func (s *screen) restart() { s.widths, s.shown = nil, "" }
