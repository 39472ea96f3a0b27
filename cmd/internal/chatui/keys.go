package chatui

import (
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"
)

// twice is the time within which a second Ctrl-C leaves the program.
const twice = 2 * time.Second

// press handles a key: first the keys that work everywhere, then the keys of the text editor.
func (u *ui) press(k tea.KeyPressMsg) tea.Cmd {
	u.note = ""
	switch k.String() {
	case "ctrl+c":
		return u.interrupt()
	case "ctrl+d":
		if u.writing().empty() {
			return u.leave()
		}
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+o":
		u.showThoughts()
		return nil
	case "esc":
		if u.form != nil {
			return u.answers(json.RawMessage("null"))
		}
		return u.stop()
	case "tab":
		if u.form == nil {
			u.complete()
		}
		return nil
	case "enter":
		if u.form == nil {
			return u.send()
		}
	}
	if u.form != nil && u.form.rest != "" && k.String() == "enter" {
		u.reply = editor{}
		u.show(paint(u.form.next(u.Redact, u.width()), u.Colored)...)
		return nil
	}
	if u.form != nil && u.form.press(k.String(), &u.reply) {
		return u.answers(u.form.value())
	}
	u.writing().press(k)
	return nil
}

func (u *ui) leave() tea.Cmd {
	u.leaving = true
	return tea.Quit
}

// interrupt clears the text being written, or else cancels the turn. The second time in a row, it leaves.
func (u *ui) interrupt() tea.Cmd {
	before := u.interrupted
	u.interrupted = time.Now()
	switch {
	case !u.writing().empty():
		u.writing().clear()
		u.ready = false
		return nil
	case u.interrupted.Sub(before) < twice:
		return u.leave()
	case u.run != nil:
		return u.stop()
	}
	u.note = "Ctrl-C again, or Ctrl-D, leaves"
	return nil
}

// stop cancels the turn.
func (u *ui) stop() tea.Cmd {
	if u.run == nil {
		return nil
	}
	run, ctx := u.run, u.ctx
	u.note = "canceling; Ctrl-C leaves"
	return func() tea.Msg { return answered{run.Cancel(ctx, "canceled by the user")} }
}

// answers passes the answer to the current question to the run.
func (u *ui) answers(value json.RawMessage) tea.Cmd {
	run, ctx, request := u.run, u.ctx, u.form.request
	u.form, u.given = nil, request
	return func() tea.Msg { return answered{run.Answer(ctx, request, value)} }
}

// showThoughts shows the thoughts of this turn or, between turns, of the last one.
func (u *ui) showThoughts() {
	thoughts := u.thoughts
	if u.turn != nil {
		thoughts = u.turn.thoughts()
	}
	if len(thoughts) == 0 {
		u.note = "there are no thoughts"
		return
	}
	u.show(paint(thoughts, u.Colored)...)
}
