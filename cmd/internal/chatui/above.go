package chatui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// above is the queue of rows that move up into the terminal's scrollback, in order. The library makes room for rows by
// scrolling. If the rows and the view do not fit on the screen together, it scrolls the view itself into the
// scrollback. Therefore only as many rows are printed at a time as there is room for, and only after the screen shows
// the view without the earlier ones. Rows that wait are shown in the view.
type above struct {
	queue []string
	// going is the number of rows that are being printed. busy is set until the screen shows the view without them.
	going int
	busy  bool
	tall  int // the greatest height of the view since the last printing
}

// Messages to the program's loop.
type (
	printed struct{}
	flushed struct{}
)

// frame is longer than the library needs to show a view.
const frame = 25 * time.Millisecond

func (a *above) show(rows ...string) { a.queue = append(a.queue, rows...) }

// print prints the next rows on a screen of the given height.
func (a *above) print(screen int) tea.Cmd {
	if a.busy || len(a.queue) == 0 {
		return nil
	}
	a.busy, a.going = true, min(len(a.queue), max(screen-a.tall, 1))
	text := strings.Join(a.queue[:a.going], "\n")
	if text == "" {
		text = " " // the library does not print an empty text
	}
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
}

// printed removes the printed rows from the view.
func (a *above) printed() tea.Cmd {
	a.queue, a.going, a.tall = a.queue[a.going:], 0, 0
	return tea.Tick(frame, func(time.Time) tea.Msg { return flushed{} })
}

func (a *above) flushed() { a.busy = false }
