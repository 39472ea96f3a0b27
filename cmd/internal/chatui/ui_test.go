package chatui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/seed889630bf/lastword/messages"
)

// Rows go up in their order, each once, and never more than the screen has room for beside the view: the library would
// scroll the view itself into the scrollback.
func TestRowsGoUpAsFarAsTheyFit(t *testing.T) {
	for _, rows := range []int{8, 20, 24, 60} {
		u := &ui{Options: Options{Redact: same}, columns: 80, rows: rows}
		var want, got []string
		for n := range 200 {
			for i := range n % 17 {
				row := fmt.Sprintf("row %d of %d", i, n)
				want = append(want, row)
				u.show(row)
			}
			height := strings.Count(u.View().Content, "\n") + 1
			if u.print() == nil {
				continue
			}
			if height+u.going > rows {
				t.Fatalf("%d rows go up beside %d of the view, on a screen of %d", u.going, height, rows)
			}
			got = append(got, u.queue[:u.going]...)
			if u.print() != nil {
				t.Fatal("rows go up before the screen shows the view without the last ones")
			}
			u.printed()
			u.View()
			u.flushed()
		}
		got = append(got, u.queue...)
		if !slices.Equal(got, want) {
			t.Errorf("on %d rows %d of %d rows went up, or in another order", rows, len(got), len(want))
		}
	}
}

type endlessRun struct{}

func (endlessRun) Follow(context.Context) iter.Seq2[[]messages.Event, error] {
	return func(func([]messages.Event, error) bool) {}
}
func (endlessRun) Cancel(context.Context, string) error                  { return nil }
func (endlessRun) Answer(context.Context, string, json.RawMessage) error { return nil }

// A message that is sent while an answer comes goes out after it, unless Ctrl-C takes it back.
func TestMessageWhileTheAnswerComes(t *testing.T) {
	u := &ui{ctx: t.Context(), columns: 80, rows: 24, Options: Options{Redact: same,
		Start: func(context.Context, string) (Run, error) { return endlessRun{}, nil }}}
	say := func(text string) {
		u.editor.insert(text)
		u.send()
	}
	say("first")
	u.begin(started{run: endlessRun{}})
	say("second")
	if u.editor.value() != "second" || !strings.Contains(u.footer(), "after the answer") {
		t.Errorf("%q waits, and the footer says %q", u.editor.value(), u.footer())
	}
	u.end(nil)
	if !u.editor.empty() || u.turn == nil {
		t.Error("the message does not go out")
	}
	u.begin(started{run: endlessRun{}})
	say("third")
	u.interrupt()
	u.end(errors.New("no such luck"))
	if u.turn != nil || !strings.Contains(strings.Join(u.queue, "\n"), "no such luck") {
		t.Errorf("a message that was taken back goes out; above stands %q", u.queue)
	}
}

// What begins with a slash is a command, or is asked about: it is never sent.
func TestCommands(t *testing.T) {
	u := &ui{ctx: t.Context(), columns: 80, rows: 24, Options: Options{Redact: same, About: "here",
		Commands: []Command{{Name: "model", About: "take another model", Run: func(_ context.Context, name string) (string, string, error) {
			return "It is **" + name + "**.", name, nil
		}}},
		Start: func(context.Context, string) (Run, error) { t.Error("it is sent"); return nil, nil }}}
	write := func(text string) tea.Cmd {
		u.editor.insert(text)
		return u.press(tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	if write("/modle x"); u.editor.value() != "/modle x" || !strings.Contains(u.note, "did you mean /model. A space before it sends it") {
		t.Errorf("%q stays, and the note says %q", u.editor.value(), u.note)
	}
	u.editor.clear()
	u.editor.insert("/mo")
	u.press(tea.KeyPressMsg{Code: tea.KeyTab})
	u.commanded(write("big")().(commanded))
	if shown := strings.Join(u.queue, "\n"); u.About != "big" || !strings.Contains(shown, "It is ") {
		t.Errorf("%q is at the bottom, above stands %q", u.About, shown)
	}
	write("/help")
	if shown := strings.Join(u.queue, "\n"); !strings.Contains(shown, "take another model") || !strings.Contains(shown, "/quit") {
		t.Errorf("/help shows %q", shown)
	}
	if write("/quit"); !u.leaving {
		t.Error("/quit does not leave")
	}
}
