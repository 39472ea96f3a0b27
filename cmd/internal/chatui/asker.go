package chatui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/muesli/cancelreader"

	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// Asker puts the questions of runs to the user. On a terminal it asks in place; elsewhere, and in the background, it prints
// the command that answers.
type Asker struct {
	In             io.Reader
	Out            io.Writer
	Redact         func(string) string
	InPlace        bool // the terminal may be redrawn
	Colored, ASCII bool
	Env            []string
	// Command is what follows "lastword runs answer RUN REQUEST VALUE" in that command, for example --server URL.
	Command string
}

// errElsewhere means that somebody else must answer.
var errElsewhere = errors.New("somebody answered the question elsewhere")

// Ask returns the answer. It asks until ctx ends, because somebody else has answered or nobody will.
func (a Asker) Ask(ctx context.Context, run messages.RunID, in messages.InputRequired) (json.RawMessage, error) {
	q := messages.Input{Request: in.Request, Prompt: in.Prompt, Schema: in.Schema, Kind: in.InputKind, TimeoutMS: in.TimeoutMS}
	show := func(text string) { fmt.Fprintln(a.Out, text) }
	switch {
	case !terminal.Holds(a.In):
		f := newForm(q)
		for f.at = 0; f.at < len(f.fields); f.at++ {
			rows := f.lines(a.Redact, 118)
			for _, row := range rows[min(f.at, 1):] { // print the prompt only once
				show(row.text())
			}
			f.above = true
		}
		show(fmt.Sprintf("  lastword runs answer %s %s %s%s", run, Quoted(in.Request), f.example(), a.Command))
		return nil, errElsewhere
	case a.InPlace:
		return a.inPlace(ctx, q)
	}
	keys, err := cancelreader.NewReader(a.in())
	if err != nil {
		return nil, err
	}
	defer keys.Close()
	defer context.AfterFunc(ctx, func() { keys.Cancel() })()
	lines := bufio.NewReader(keys)
	value, err := Ask(q, a.Redact, show, func() (string, error) {
		fmt.Fprint(a.Out, "> ")
		return lines.ReadString('\n')
	})
	if errors.Is(err, io.EOF) {
		return json.RawMessage("null"), nil
	}
	return value, err
}

func (a Asker) in() io.Reader { return terminal.Unwrap(a.In).(io.Reader) }

// inPlace asks below what the terminal shows, and leaves the question and the answer there.
func (a Asker) inPlace(ctx context.Context, q messages.Input) (json.RawMessage, error) {
	u := &question{ui: ui{Options: Options{Redact: a.Redact, Colored: a.Colored, ASCII: a.ASCII}, ctx: ctx, columns: 80, rows: 24, form: newForm(q)}}
	_, err := tea.NewProgram(u, tea.WithContext(ctx), tea.WithInput(a.in()), tea.WithOutput(terminal.Unwrap(a.Out).(io.Writer)),
		tea.WithEnvironment(a.Env), tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case u.value == nil && err == nil:
		err = errors.New("nobody answered")
	}
	return u.value, err
}

// question is a bubbletea model that asks one question, without a conversation around it.
type question struct {
	ui
	value json.RawMessage // set when it is answered
}

func (u *question) Init() tea.Cmd {
	u.present()
	return u.print()
}

// Update leaves when the question is answered. Ctrl-C interrupts the whole process, as it does outside of raw mode.
func (u *question) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	key, ok := message.(tea.KeyPressMsg)
	switch k := key.String(); {
	case !ok:
		_, next := u.ui.Update(message)
		return u, next
	case k == "ctrl+c" || k == "ctrl+d" && u.reply.empty():
		u.leaving = true
		interrupt() // what the terminal would do if it were not in raw mode
		return u, tea.Quit
	case k == "esc":
		u.value = json.RawMessage("null")
	case k == "enter" && u.form.rest != "":
		u.show(paint(u.form.next(u.Redact, u.width()), u.Colored)...)
	case u.form.press(k, &u.reply):
		u.value = u.form.value()
	default:
		u.reply.press(key)
	}
	if u.value != nil {
		return u, tea.Quit
	}
	return u, u.print()
}

// View shows the form or, at the end, one line with the question and its answer, which stays on the terminal.
func (u *question) View() tea.View {
	if u.value == nil && !u.leaving {
		return u.ui.View()
	}
	words := "not answered"
	if u.value != nil {
		words = oneLine(said(messages.Input{Value: u.value, Kind: u.form.kind}))
	}
	row := line{{"? ", warned}, {oneLine(u.Redact(u.form.prompt)), plain}}.fit(u.width() - terminal.Width(words) - 3)
	return tea.NewView(u.shown(append(row, piece{" → " + words, faint}).paint(u.Colored)) + "\n")
}
