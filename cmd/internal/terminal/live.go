package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// frame is how long a frame is in sight at least.
const frame = 100 * time.Millisecond

// live shows a run as a block of a terminal that is redrawn in place.
type live struct {
	style style
	size  func() (columns, rows int) // of the terminal, as it is now

	mu     sync.Mutex
	screen screen
	board  progressView
	tick   int
	timer  *time.Timer
	paused bool
	over   bool
	// onSuspend, which may be nil, has a function called at the next Ctrl-Z, until it is forgotten.
	onSuspend func(f func()) (forget func())
	forget    func()
}

func newLive(out io.Writer, l style, size func() (columns, rows int)) *live {
	return &live{style: l, size: size, screen: screen{out: out}}
}

// Show takes what the run came to; it is drawn when the next frame is due.
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

func (l *live) arm() {
	if l.onSuspend != nil {
		l.forget = l.onSuspend(l.suspend)
	}
}

func (l *live) disarm() {
	if l.forget != nil {
		l.forget()
	}
}

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

// draw gives the cursor back when it panics; the panic goes on.
func (l *live) draw() {
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

// suspend stops the program with the terminal as others expect it, and begins a new block when the program goes on.
func (l *live) suspend() {
	l.pause()
	suspend()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused = false; !l.over {
		l.screen.restart()
		l.arm()
		l.timer.Reset(frame)
	}
}

func (l *live) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	l.disarm()
	l.screen.leave()
}

// End draws a last time.
func (l *live) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && !l.over {
		l.draw()
	}
	l.close()
}

// Leave gives the terminal back as it is, whatever happens next; asking again is fine.
func (l *live) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}

func (l *live) close() {
	l.over = true
	l.disarm()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.screen.leave()
}

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
