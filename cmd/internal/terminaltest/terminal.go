package terminaltest

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Terminal interprets those control sequences that the display needs. It fails the test on all others, because nothing
// that a run says may control the terminal. It is safe for concurrent use.
type Terminal struct {
	t             *testing.T
	mu            sync.Mutex
	width         func(r rune) int // width of a character in columns
	columns, rows int
	lines         [][]rune // the screen and what has scrolled away; a wide character is followed by a 0
	top, x, y     int      // y counts from the very first line
	Hidden        bool
	Writes        int
	Wraps         bool   // wrap long lines; needed if others than the display write
	rest          string // an incomplete character or control sequence
}

func New(t *testing.T, columns, rows int, width func(r rune) int) *Terminal {
	return &Terminal{t: t, width: width, columns: columns, rows: rows, lines: [][]rune{nil}}
}

func (v *Terminal) Size() (columns, rows int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.columns, v.rows
}

// Write shows what a display writes. It keeps a character or sequence that is not complete for the next call.
func (v *Terminal) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Writes++
	for v.rest += string(p); v.next(); {
	}
	return len(p), nil
}

// next consumes a complete character or control sequence.
func (v *Terminal) next() bool {
	after, control := strings.CutPrefix(v.rest, "\x1b[")
	switch end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' }); {
	case control && end < 0, v.rest == "\x1b", !utf8.FullRuneInString(v.rest):
		return false
	case control:
		v.control(after[:end], after[end])
		v.rest = after[end+1:]
	default:
		r, n := utf8.DecodeRuneInString(v.rest)
		v.put(r)
		v.rest = v.rest[n:]
	}
	return true
}

// control obeys an escape sequence. It fails the test for those that lastword should not write.
func (v *Terminal) control(arguments string, what byte) {
	switch n, _ := strconv.Atoi(arguments); {
	case what == 'A':
		v.y = max(v.top, v.y-n)
	case what == 'K' && arguments == "":
		v.lines[v.y] = v.lines[v.y][:min(v.x, len(v.lines[v.y]))]
	case what == 'J' && arguments == "":
		v.lines = v.lines[:v.y+1]
		v.control("", 'K')
	case arguments == "?25" && (what == 'l' || what == 'h'):
		if v.Hidden == (what == 'l') {
			v.t.Errorf("the cursor is hidden (%t) already", v.Hidden)
		}
		v.Hidden = what == 'l'
	case what == 'm':
	default:
		v.t.Errorf("the terminal is told CSI %q %c", arguments, what)
	}
}

// put writes a character, and wraps lines as terminals do.
func (v *Terminal) put(r rune) {
	switch width := v.width(r); {
	case r == '\r':
		v.x = 0
	case r == '\n':
		v.newline()
	case r < ' ' || r == 0x7f:
		v.t.Errorf("the terminal is told %q", r)
	case width == 0:
	default:
		if v.x+width > v.columns {
			if !v.Wraps {
				v.t.Errorf("a line does not fit: %q", string(v.lines[v.y]))
			}
			v.x = 0
			v.newline()
		}
		line := v.lines[v.y]
		for len(line) < v.x+width {
			line = append(line, ' ')
		}
		line[v.x] = r
		if width == 2 {
			line[v.x+1] = 0
		}
		v.lines[v.y], v.x = line, v.x+width
	}
}

func (v *Terminal) newline() {
	if v.y++; v.y == len(v.lines) {
		v.lines = append(v.lines, nil)
	}
	v.top = max(v.top, v.y-v.rows+1)
}

// Resize wraps the lines again, as most terminals do.
func (v *Terminal) Resize(columns, rows int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.columns, v.rows = columns, rows
	var lines [][]rune
	for i, line := range v.lines {
		if i == v.y {
			v.y = len(lines)
		}
		for len(line) > columns {
			lines, line = append(lines, line[:columns:columns]), line[columns:]
		}
		lines = append(lines, line)
	}
	v.lines, v.top = lines, max(0, v.y-rows+1)
}

// Text returns everything that is visible or has scrolled away.
func (v *Terminal) Text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, line := range v.lines {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
