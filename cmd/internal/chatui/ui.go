package chatui

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed889630bf/lastword/messages"
)

// Run is a turn that was started.
type Run interface {
	// Follow yields the run's events until its end, in batches.
	Follow(ctx context.Context) iter.Seq2[[]messages.Event, error]
	Cancel(ctx context.Context, reason string) error
	Answer(ctx context.Context, request string, value json.RawMessage) error
}

// Options configure a conversation.
type Options struct {
	// Start starts a turn.
	Start func(ctx context.Context, message string) (Run, error)
	// Redact removes secrets from everything that is shown.
	Redact func(string) string
	// About is shown at the bottom: the server and the conversation. Opening is shown at the start.
	About, Opening string
	// Commands are the slash commands in addition to help, copy and quit.
	Commands []Command
	// Window returns the size of the model's context in tokens, or 0 if unknown.
	Window func(ctx context.Context, model string) int
	// Said holds the user's earlier messages, for the history. Shown is shown at the start.
	Said  []string
	Shown string
	// Colored and ASCII describe the terminal.
	Colored, ASCII bool
	Env            []string
}

// Talk runs the conversation until the user leaves or ctx ends. in and out must be a terminal.
func Talk(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	u := &ui{Options: o, ctx: ctx, columns: 80, rows: 24}
	u.editor.history = o.Said
	program := tea.NewProgram(u, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(o.Env),
		tea.WithoutSignalHandler())
	u.tell = program.Send
	_, err := program.Run()
	if u.run != nil {
		_ = u.run.Cancel(context.WithoutCancel(ctx), "the user left")
	}
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	return err
}

// ui is the bubbletea model of the conversation. Only the program's loop uses it.
type ui struct {
	Options
	ctx           context.Context
	tell          func(tea.Msg)
	columns, rows int
	editor, reply editor
	run           Run // nil between turns
	turn          *turn
	form          *form
	given         string // the question whose answer is being sent to the run
	above
	thoughts    []line // of the last turn
	ticks       int
	interrupted time.Time // time of the last Ctrl-C
	note        string
	ready       bool // the written message is sent at the end of the turn
	leaving     bool
	answer      string // the last one
	model       string // the model that answered last; used and window are in tokens
	used        int64
	window      int
}

// Messages to the program's loop.
type (
	started struct {
		run Run
		err error
	}
	happened struct{ events []messages.Event }
	over     struct{ err error }
	tick     struct{}
	answered struct{ err error }
	windowed struct{ tokens int }
)

// Init shows the opening and an earlier conversation.
func (u *ui) Init() tea.Cmd {
	if u.Opening != "" {
		u.show(paint(wrap([]piece{{clean(u.Redact(u.Opening)), faint}}, u.width()), u.Colored)...)
	}
	if u.Shown == "" {
		return u.print()
	}
	u.show(paint(markdown(clean(u.Redact(u.Shown)), u.columns), u.Colored)...)
	return u.print()
}

// Update handles a message of bubbletea: input, or news of the turn. It runs on one goroutine, so the ui needs no lock.
func (u *ui) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Cmd
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		u.columns, u.rows = max(m.Width, 10), max(m.Height, 8)
		if u.turn != nil {
			u.turn.columns = u.width()
		}
		u.present()
	case tea.PasteMsg:
		u.writing().insert(m.Content)
	case tea.KeyPressMsg:
		next = u.press(m)
	case started:
		next = u.begin(m)
	case happened:
		next = u.see(m.events)
	case windowed:
		u.window = m.tokens
	case commanded:
		u.commanded(m)
	case over:
		next = u.end(m.err)
	case answered:
		if m.err != nil {
			u.given = ""
			u.fail(m.err)
			u.ask()
		}
	case printed:
		next = u.printed()
	case flushed:
		u.flushed()
	case tick:
		if u.ticks++; u.turn != nil {
			next = ticking()
		}
	}
	return u, tea.Batch(next, u.print())
}

// width leaves one column free, in case a character is wider than expected.
func (u *ui) width() int { return min(u.columns-1, 118) }

func ticking() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg { return tick{} })
}

// send starts a turn with the user's message.
func (u *ui) send() tea.Cmd {
	if strings.TrimSpace(u.editor.value()) == "" {
		return nil
	}
	if u.ready = u.turn != nil; u.ready {
		return nil
	}
	if input := u.editor.value(); strings.HasPrefix(input, "/") && !strings.Contains(strings.TrimSpace(input), "\n") {
		return u.runCommand(input)
	}
	message := u.editor.take()
	u.turn = newTurn(u.Redact, u.width())
	said := prefixed(wrap([]piece{{clean(message), bold}}, u.width()-2), piece{"> ", faint}, piece{text: "  "})
	u.show(append([]string{""}, paint(said, u.Colored)...)...)
	start, ctx := u.Start, u.ctx
	return tea.Batch(ticking(), func() tea.Msg {
		run, err := start(ctx, message)
		return started{run, err}
	})
}

// begin follows a turn that has started.
func (u *ui) begin(m started) tea.Cmd {
	if m.err != nil {
		u.fail(m.err)
		u.turn, u.ready = nil, false
		return nil
	}
	u.run = m.run
	ctx, tell := u.ctx, u.tell
	return func() tea.Msg {
		for events, err := range m.run.Follow(ctx) {
			if err != nil {
				return over{err}
			}
			tell(happened{events})
		}
		return over{}
	}
}

// see shows events of the turn. If another model has answered, it asks for the size of that model's context.
func (u *ui) see(events []messages.Event) (next tea.Cmd) {
	for _, e := range events {
		if err := u.turn.see(e); err != nil {
			u.fail(err)
			return nil
		}
		if b, ok := e.Body.(messages.LLMCompleted); ok && b.Usage != nil && !b.Usage.Estimated {
			prompt, completion := b.Usage.Tokens()
			u.used = prompt + completion
			if b.Model != u.model && u.Window != nil {
				window, ctx := u.Window, u.ctx
				next = func() tea.Msg { return windowed{window(ctx, b.Model)} }
			}
			u.model = b.Model
		}
	}
	u.show(paint(u.turn.up, u.Colored)...)
	u.turn.up = nil
	u.ask()
	return next
}

// ask shows the question that waits for an answer.
func (u *ui) ask() {
	if u.turn == nil {
		return
	}
	switch q := u.turn.question(); {
	case q == nil || q.Request == u.given:
		u.form = nil
	case u.form == nil || u.form.request != q.Request:
		u.form, u.reply = newForm(*q), editor{}
		u.present()
	}
}

// present moves a question up if it is too long for the bottom.
func (u *ui) present() {
	if f := u.form; f != nil && !f.above && len(f.lines(u.Redact, u.width())) > u.rows/2 {
		u.show(paint(f.next(u.Redact, u.width()), u.Colored)...)
	}
}

// end ends the turn, and sends a message that the user has written meanwhile.
func (u *ui) end(err error) tea.Cmd {
	if err != nil && u.ctx.Err() == nil {
		u.fail(err)
	}
	u.thoughts = u.turn.thoughts()
	u.keep()
	u.run, u.turn, u.form, u.given, u.note = nil, nil, nil, "", ""
	if u.ready {
		return u.send()
	}
	return nil
}

func (u *ui) fail(err error) {
	rows := wrap([]piece{{clean(u.Redact(err.Error())), bad}}, u.width())
	u.show(append([]string{""}, paint(rows, u.Colored)...)...)
}
