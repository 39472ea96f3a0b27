package terminaltest

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Terminal is as much of a terminal as the display needs: it interprets what is written to it and fails on everything
// else, so that nothing that a run says can steer it.
type Terminal struct {
	t             *testing.T
	mu            sync.Mutex
	width         func(r rune) int // in columns
	columns, rows int
	lines         [][]rune // of the screen and of what scrolled away; a wide character is followed by a 0
	top, x, y     int      // y counts from the first line of all
	Hidden        bool
	Writes        int
	Wraps         bool   // as it must where others than the display write
	rest          string // of what was written: not yet a whole character or control
}

func New(t *testing.T, columns, rows int, width func(r rune) int) *Terminal {
	return &Terminal{t: t, width: width, columns: columns, rows: rows, lines: [][]rune{nil}}
}

func (v *Terminal) Size() (columns, rows int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.columns, v.rows
}

func (v *Terminal) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Writes++
	for v.rest += string(p); v.next(); {
	}
	return len(p), nil
}

// next takes a whole character or control off the rest.
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

// Resize wraps the lines anew, as most terminals do.
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

// Text is all that was written and still stands, with the lines that scrolled away.
func (v *Terminal) Text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, line := range v.lines {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
