package chatui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// above is what goes up into the scrollback, in its order. The library makes room for rows by scrolling the screen: if
// they and the view do not fit on it together, it scrolls the view itself into the scrollback. So rows go up as many
// at a time as there is room for, after the screen shows the view without the ones before. Rows that wait are shown in
// the view.
type above struct {
	queue []string
	// going is how many rows of the queue are being printed; busy holds until the screen shows the view without them.
	going int
	busy  bool
	tall  int // the most rows of the view since it is without the printed ones
}

// Messages of the program's loop.
type (
	printed struct{}
	flushed struct{}
)

// frame is longer than the library takes to show a view.
const frame = 25 * time.Millisecond

func (a *above) show(rows ...string) { a.queue = append(a.queue, rows...) }

// print prints the next rows on a screen with so many.
func (a *above) print(screen int) tea.Cmd {
	if a.busy || len(a.queue) == 0 {
		return nil
	}
	a.busy, a.going = true, min(len(a.queue), max(screen-a.tall, 1))
	text := strings.Join(a.queue[:a.going], "\n")
	if text == "" {
		text = " " // the library prints no empty text
	}
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
}

// printed takes the printed rows out of the view.
func (a *above) printed() tea.Cmd {
	a.queue, a.going, a.tall = a.queue[a.going:], 0, 0
	return tea.Tick(frame, func(time.Time) tea.Msg { return flushed{} })
}

func (a *above) flushed() { a.busy = false }
