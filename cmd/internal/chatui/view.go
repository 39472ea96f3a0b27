package chatui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// View shows the rows that wait to move up, what still changes, and the editor.
func (u *ui) View() tea.View {
	if u.leaving {
		return tea.NewView(u.shown(strings.Join(u.queue, "\n")))
	}
	bottom, x, y := u.bottom()
	room := max(u.rows*2/3-len(bottom), 1) // leave room for rows that move up
	var top []string
	if u.turn != nil {
		top = paint(u.turn.live(time.Now(), room, terminal.Spinner(u.ticks, u.ASCII)), u.Colored)
	}
	if waiting := u.queue; len(waiting)+len(top) <= room {
		top = append(slices.Clone(waiting), top...)
	} else if n := room - len(top); n > 0 {
		top = append(slices.Clone(waiting[len(waiting)-n:]), top...)
	}
	rows := append(top, bottom...)
	u.tall = max(u.tall, len(rows))
	v := tea.NewView(u.shown(strings.Join(rows, "\n")))
	v.Cursor = tea.NewCursor(x, len(top)+y)
	return v
}

// bottom returns the rows where the user writes, and the position of the cursor in them.
func (u *ui) bottom() (rows []string, x, y int) {
	rows = []string{""}
	masked := false
	if u.form != nil {
		question := u.form.lines(u.Redact, u.width())
		question = question[max(0, len(question)-u.rows/2):]
		rows, masked = append(rows, paint(question, u.Colored)...), u.form.kind == messages.InputSecret
	}
	text, x, y := u.writing().rows(u.width()-2, max(1, min(6, u.rows/4)), masked)
	y += len(rows)
	for i, row := range text {
		mark := "  "
		if i == 0 {
			mark = piece{"> ", faint}.paint(u.Colored)
		}
		rows = append(rows, mark+row)
	}
	return append(rows, line{{u.footer(), faint}}.fit(u.width()).paint(u.Colored)), x + 2, y
}

// footer returns the line below the input: a note, else the keys that work now.
func (u *ui) footer() string {
	switch {
	case u.note != "":
		return u.note
	case u.ready:
		return u.hints("your message goes out after the answer", "Ctrl-C clears it")
	case u.form != nil:
		return u.hints("Enter answers", "Esc declines", "Ctrl-C cancels")
	case u.turn != nil:
		return u.hints("Esc stops", "Ctrl-O shows thoughts")
	}
	return u.hints("/help", "Ctrl-D leaves", "Alt-Enter breaks a line", u.context(), oneLine(u.Redact(u.About)))
}

// context returns the model that answered last, and how much of its context is used.
func (u *ui) context() string {
	if u.model != "" && u.window > 0 {
		return fmt.Sprintf("%s, %d %% of context", oneLine(u.model), u.used*100/int64(u.window))
	}
	return oneLine(u.model)
}

// hints joins as many hints as fit.
func (u *ui) hints(all ...string) string {
	row := all[0]
	for _, hint := range all[1:] {
		if hint == "" {
			continue
		}
		if longer := row + " · " + hint; terminal.Width(longer) <= u.width() {
			row = longer
		}
	}
	return row
}

// writing returns the editor that gets the keys: the message's or, while a question is open, the answer's.
func (u *ui) writing() *editor {
	if u.form != nil {
		return &u.reply
	}
	return &u.editor
}

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

// shown returns the text in the characters of the terminal.
func (o *Options) shown(text string) string {
	if o.ASCII {
		return terminal.ASCII(text)
	}
	return text
}

// print prints the next rows.
func (u *ui) print() tea.Cmd {
	if u.busy || len(u.queue) == 0 {
		return nil
	}
	u.busy, u.going = true, min(len(u.queue), max(u.rows-u.tall, 1))
	text := cmp.Or(u.shown(strings.Join(u.queue[:u.going], "\n")), " ") // the library does not print an empty text
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printed{} })
}

// printed removes the printed rows from the view.
func (a *above) printed() tea.Cmd {
	a.queue, a.going, a.tall = a.queue[a.going:], 0, 0
	return tea.Tick(frame, func(time.Time) tea.Msg { return flushed{} })
}

func (a *above) flushed() { a.busy = false }
