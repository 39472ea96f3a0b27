package chatui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	phrases "github.com/seed889630bf/lastword/internal/words"
)

// Command is a slash command of the user, available between turns.
type Command struct {
	Name, About string
	// Run executes the command. shown is displayed. about, if not empty, becomes the text at the bottom.
	Run func(ctx context.Context, argument string) (shown, about string, err error)
}

// commanded is the outcome of a command.
type commanded struct {
	shown, about string
	err          error
}

// own returns the commands of the screen itself. They take precedence over those in Options.
func (u *ui) own() []Command {
	return []Command{{Name: "help", About: "list the commands and the keys"}, {Name: "copy", About: "copy the last answer"},
		{Name: "quit", About: "leave; Ctrl-D does the same"}}
}

func (u *ui) commandNames() (names []string) {
	for _, c := range append(u.own(), u.Commands...) {
		names = append(names, "/"+c.Name)
	}
	return names
}

// runCommand executes the line. If it is not a command, it stays in the editor for correction, and is not sent to the model.
func (u *ui) runCommand(line string) tea.Cmd {
	name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch name {
	case "/help":
		u.show(paint(u.help(), u.Colored)...)
	case "/quit":
		return u.leave()
	case "/copy":
		u.note = "there is no answer to copy"
		if u.answer != "" {
			u.note = "copied, if the terminal allows it"
			u.editor.clear()
			return tea.SetClipboard(u.answer)
		}
	default:
		for _, c := range u.Commands {
			if name == "/"+c.Name {
				u.editor.take()
				return func() tea.Msg {
					shown, about, err := c.Run(u.ctx, strings.TrimSpace(argument))
					return commanded{shown, about, err}
				}
			}
		}
		u.note = fmt.Sprintf("there is no %s%s A space before it sends it", oneLine(name), strings.TrimSuffix(phrases.Meant(name, u.commandNames()), "?")+".")
		return nil
	}
	u.editor.take()
	return nil
}

// commanded shows the outcome of a command as Markdown.
func (u *ui) commanded(m commanded) {
	if m.err != nil {
		u.fail(m.err)
		return
	}
	if m.about != "" {
		u.About = m.about
	}
	u.show(append([]string{""}, paint(markdown(clean(u.Redact(m.shown)), u.width()), u.Colored)...)...)
}

func (u *ui) help() []line {
	rows := []line{nil}
	for _, c := range append(u.own(), u.Commands...) {
		rows = append(rows, line{{fmt.Sprintf("  %-10s", "/"+c.Name), bold}, {c.About, plain}})
	}
	return append(rows, wrap([]piece{{"  Enter sends, Alt-Enter breaks the line, Tab completes a command, Up goes back, Esc or Ctrl-C stops a turn, " +
		"Ctrl-O shows thoughts, Ctrl-L draws anew.", faint}}, u.width())...)
}

// complete completes the name of a command.
func (u *ui) complete() {
	input := u.editor.value()
	if !strings.HasPrefix(input, "/") || strings.Contains(input, " ") {
		return
	}
	var like []string
	for _, name := range u.commandNames() {
		if strings.HasPrefix(name, input) {
			like = append(like, name)
		}
	}
	if len(like) == 1 {
		u.editor.set(like[0] + " ")
		return
	}
	u.note = strings.Join(like, "  ")
}

// keep stores the last answer, for /copy.
func (u *ui) keep() {
	for _, item := range u.turn.player.Answers() {
		u.answer = u.Redact(item.Text())
	}
}
