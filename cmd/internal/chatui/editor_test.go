package chatui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/seed889630bf/lastword/internal/fatal"
)

// types presses keys: words between angle brackets are keys, all else is text.
func types(e *editor, keys string) {
	for keys != "" {
		text, rest, _ := strings.Cut(keys, "<")
		for _, r := range text {
			e.press(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		var name string
		name, keys, _ = strings.Cut(rest, ">")
		if name != "" {
			e.press(named[name])
		}
	}
}

var named = map[string]tea.KeyPressMsg{
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "back": {Code: tea.KeyBackspace}, "del": {Code: tea.KeyDelete},
	"new": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "^w": {Code: 'w', Mod: tea.ModCtrl}, "^u": {Code: 'u', Mod: tea.ModCtrl},
	"^k": {Code: 'k', Mod: tea.ModCtrl}, "^a": {Code: 'a', Mod: tea.ModCtrl}, "a-b": {Code: 'b', Mod: tea.ModAlt},
	"a-f": {Code: 'f', Mod: tea.ModAlt}, "^j": {Code: 'j', Mod: tea.ModCtrl},
}

func TestEditor(t *testing.T) {
	for keys, want := range fatal.Table[map[string]string](t, "testdata/keys.json") {
		var e editor
		types(&e, keys)
		if got := string(e.text[:e.at]) + "|" + string(e.text[e.at:]); got != want {
			t.Errorf("%q gives %q, want %q", keys, got, want)
		}
	}
}

// The history is gone through with the arrows, and what was being written comes back.
func TestHistory(t *testing.T) {
	var e editor
	for _, text := range []string{"first", "second", "second", "two\nlines"} {
		e.insert(text)
		if got := e.take(); got != text || !e.empty() {
			t.Fatalf("it takes %q", got)
		}
	}
	for _, c := range []struct{ keys, want string }{
		{"new", "new"}, {"<up>", "two\nlines"}, {"<up><up>", "second"}, {"<up>", "first"}, {"<up>", "first"},
		{"<down>", "second"}, {"<down><down>", "new"}, {"<down>", "new"},
	} {
		if types(&e, c.keys); e.value() != c.want {
			t.Errorf("%q gives %q, want %q", c.keys, e.value(), c.want)
		}
	}
}

// A long text that is pasted shows as a few words, and is whole in the message.
func TestPaste(t *testing.T) {
	var e editor
	long := strings.Repeat("a\tline\n", 300) + "end"
	e.insert("see: ")
	e.insert(strings.ReplaceAll(long, "\n", "\r\n"))
	e.insert(" ok \U000F0000\x1b[2J")
	rows, _, _ := e.rows(40, 6, false)
	if got := strings.Join(rows, "\n"); got != "see: [paste 301 lines] ok " {
		t.Errorf("it shows %q", got)
	}
	if got := e.take(); got != "see: "+long+" ok" {
		t.Errorf("the message is %q", got)
	}
}

func TestEditorRows(t *testing.T) {
	var e editor
	e.insert("one two three\nfour")
	for _, c := range []struct {
		at, columns, most int
		want              string
		x, y              int
	}{
		{18, 40, 6, "one two three/four", 4, 1},
		{0, 40, 6, "one two three/four", 0, 0},
		{18, 8, 6, "one two/ three/four", 4, 2},
		{18, 8, 2, " three/four", 4, 1},
		{0, 8, 2, "one two/ three", 0, 0},
	} {
		e.at = c.at
		rows, x, y := e.rows(c.columns, c.most, false)
		if got := strings.Join(rows, "/"); got != c.want || x != c.x || y != c.y {
			t.Errorf("%+v: %q, the cursor at %d,%d", c, got, x, y)
		}
	}
	if rows, _, _ := e.rows(40, 6, true); strings.ContainsAny(strings.Join(rows, ""), "onetw") {
		t.Errorf("a secret shows as %q", rows)
	}
}
