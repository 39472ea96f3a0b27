package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// frame is the minimum time between two drawings.
const frame = 100 * time.Millisecond

// live shows a run as a block of lines that is redrawn in place. mu guards the fields below it.
type live struct {
	style style
	size  func() (columns, rows int) // current size of the terminal

	mu     sync.Mutex
	screen screen
	board  *board
	tick   int
	timer  *time.Timer
	paused bool
	over   bool
	// onSuspend, if not nil, makes the next Ctrl-Z call f, until forget is called.
	onSuspend func(f func()) (forget func())
	forget    func()
}

func newLive(out io.Writer, l style, size func() (columns, rows int)) *live {
	return &live{style: l, size: size, screen: screen{out: out}, board: newBoard()}
}

// Show records the event. The next frame shows it.
func (l *live) Show(s messages.State, e messages.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.board.apply(s, e)
	if l.timer == nil && !l.over {
		l.draw()
		l.timer = time.AfterFunc(frame, l.beat)
		l.arm()
	}
}

// arm asks to be told before the process is suspended.
func (l *live) arm() {
	if l.onSuspend != nil {
		l.forget = l.onSuspend(l.suspend)
	}
}

// disarm undoes arm.
func (l *live) disarm() {
	if l.forget != nil {
		l.forget()
	}
}

// beat draws the next frame of the animation, and sets the timer for the one after.
func (l *live) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.paused {
		return
	}
	l.tick++
	l.draw()
	l.timer.Reset(frame)
}

// draw draws a frame, unless others have the terminal. If it panics, it makes the cursor visible, and the panic continues.
func (l *live) draw() {
	if inBackground(l.screen.out) {
		return
	}
	drawn := false
	defer func() {
		if !drawn {
			l.screen.leave()
		}
	}()
	columns, rows := l.size()
	columns, rows = max(columns, 2), max(rows, 2)
	spans := l.board.lines(time.Now(), l.tick, rows-1, l.style.ascii)
	lines, widths := make([]string, len(spans)), make([]int, len(spans))
	for i := range spans {
		lines[i], widths[i] = l.style.line(spans[i], columns-1)
	}
	l.screen.draw(lines, widths, columns)
	drawn = true
}

// suspend releases the terminal and stops the process. When the process continues, the display begins a new block.
func (l *live) suspend() {
	l.pause()
	suspend()
	l.goOn()
}

// goOn continues after a pause, in a new block, because the terminal may show other text now.
func (l *live) goOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused = false; !l.over && l.timer != nil {
		l.screen.widths, l.screen.shown = nil, "" // the next block begins at the cursor
		l.arm()
		l.timer.Reset(frame)
	}
}

// pause leaves the terminal to others.
func (l *live) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	l.disarm()
	l.screen.leave()
}

// End draws a last frame.
func (l *live) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && !l.over {
		l.draw()
	}
	l.close()
}

// Leave releases the terminal. It can be called repeatedly.
func (l *live) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}

// close leaves the last frame on the terminal.
func (l *live) close() {
	l.over = true
	l.disarm()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.screen.leave()
}

// screen maintains a block of lines at the end of a terminal. Between two frames the cursor is hidden, at the left of
// the line below the block.
type screen struct {
	out     io.Writer
	widths  []int // widths of the lines that are shown
	columns int   // the terminal's width at that time
	shown   string
	hidden  bool // whether the cursor is hidden
}

// draw replaces the block in one write. It writes nothing if the block is unchanged. Every line must be narrower than
// the terminal, because terminals differ in where the cursor is after a full line.
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

// height returns the number of rows of the block. A terminal that has become narrower has wrapped the lines.
func (s *screen) height(columns int) int {
	rows := len(s.widths)
	for _, w := range s.widths {
		rows += max(0, w-1) / columns
	}
	return rows
}

// leave makes the cursor visible. The block stays.
func (s *screen) leave() {
	if s.hidden {
		s.hidden = false
		io.WriteString(s.out, "\x1b[?25h")
	}
}
