package chatui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	phrases "github.com/seed889630bf/lastword/internal/words"
)

// editor holds the text that the user writes. A long text that was pasted is a single character, from a private range,
// which is displayed as a few words: laying out thousands of lines at each key would be slow.
type editor struct {
	text    []rune
	at      int // position of the cursor
	pastes  []string
	history []string
	back    int    // position in the history; 0 is the text being written
	written string // the text being written, while the history is shown
}

// The first of the characters for pasted texts, and what counts as long.
const (
	firstPaste = 0xF0000
	pasteLines = 10
	pasteBytes = 2000
)

func (e *editor) empty() bool { return len(e.text) == 0 }

// value returns the whole text.
func (e *editor) value() string {
	var b strings.Builder
	for _, r := range e.text {
		if n := int(r - firstPaste); n >= 0 && n < len(e.pastes) {
			b.WriteString(e.pastes[n])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (e *editor) set(text string) { e.text = []rune(text); e.at = len(e.text) }

// take empties the editor and returns its text, which is added to the history.
func (e *editor) take() string {
	text := strings.TrimRight(e.value(), " \n")
	if strings.TrimSpace(text) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != string(e.text)) {
		e.history = append(e.history, string(e.text))
	}
	e.clear()
	return text
}

func (e *editor) clear() { e.text, e.at, e.back = nil, 0, 0 }

// insert inserts text. A long paste becomes one private character, so that the line stays short; value expands it.
func (e *editor) insert(text string) {
	keep := func(r rune) rune {
		if r >= firstPaste && r < firstPaste+0xFFFE {
			return -1 // it would stand for a pasted text
		}
		return r
	}
	text = strings.Map(keep, phrases.WithoutControls(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")))
	if strings.Count(text, "\n") >= pasteLines || len(text) > pasteBytes {
		e.pastes = append(e.pastes, text)
		text = string(rune(firstPaste + len(e.pastes) - 1))
	}
	added := []rune(text)
	e.text, e.at = slices.Insert(e.text, e.at, added...), e.at+len(added)
}

// press handles a key. It reports whether the key edits the text.
func (e *editor) press(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right", "ctrl+f":
		e.at = min(e.at+1, len(e.text))
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordLeft()
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.wordRight()
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "backspace", "ctrl+h":
		e.remove(max(e.at-1, 0), e.at)
	case "delete", "ctrl+d":
		e.remove(e.at, min(e.at+1, len(e.text)))
	case "ctrl+w", "alt+backspace":
		e.remove(e.wordLeft(), e.at)
	case "ctrl+u":
		e.remove(e.lineStart(), e.at)
	case "ctrl+k":
		e.remove(e.at, e.lineEnd())
	case "up":
		e.up()
	case "down":
		e.down()
	case "alt+enter", "ctrl+j", "shift+enter":
		e.insert("\n")
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) remove(from, to int) { e.text, e.at = slices.Delete(e.text, from, to), from }

func (e *editor) lineStart() int {
	for i := e.at; i > 0; i-- {
		if e.text[i-1] == '\n' {
			return i
		}
	}
	return 0
}

func (e *editor) lineEnd() int {
	if n := slices.Index(e.text[e.at:], '\n'); n >= 0 {
		return e.at + n
	}
	return len(e.text)
}

// wordLeft returns the start of the word before the cursor.
func (e *editor) wordLeft() int {
	i := e.at
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

// wordRight returns the end of the word after the cursor.
func (e *editor) wordRight() int {
	i := e.at
	for i < len(e.text) && unicode.IsSpace(e.text[i]) {
		i++
	}
	for i < len(e.text) && !unicode.IsSpace(e.text[i]) {
		i++
	}
	return i
}

// up moves the cursor up a line, or from the first line back in the history.
func (e *editor) up() {
	if start := e.lineStart(); start > 0 {
		column := e.at - start
		e.at = start - 1
		e.at = min(e.lineStart()+column, start-1)
		return
	}
	if e.back == len(e.history) {
		return
	}
	if e.back == 0 {
		e.written = string(e.text)
	}
	e.back++
	e.set(e.history[len(e.history)-e.back])
}

// down moves the cursor down a line, or from the last line forward in the history.
func (e *editor) down() {
	if end := e.lineEnd(); end < len(e.text) {
		column := e.at - e.lineStart()
		e.at = end + 1
		e.at = min(e.at+column, e.lineEnd())
		return
	}
	if e.back == 0 {
		return
	}
	if e.back--; e.back == 0 {
		e.set(e.written)
		return
	}
	e.set(e.history[len(e.history)-e.back])
}

// rows lays out the text in columns, with at most most rows around the cursor, and returns the cursor's position.
// masked hides the text.
func (e *editor) rows(columns, most int, masked bool) (rows []string, x, y int) {
	columns = max(columns, 2)
	row, width := "", 0
	feed := func() { rows, row, width = append(rows, row), "", 0 }
	for i, r := range append(slices.Clone(e.text), 0) {
		shown := e.shown(r, masked)
		if n := terminal.Width(shown); width+n > columns-1 && r != '\n' && width > 0 {
			feed()
		}
		if i == e.at {
			x, y = width, len(rows)
		}
		switch r {
		case 0:
		case '\n':
			feed()
		default:
			row, width = row+shown, width+terminal.Width(shown)
		}
	}
	feed()
	first := min(y, max(0, min(y-most+1, len(rows)-most)))
	return rows[first:min(len(rows), first+most)], x, y - first
}

// shown returns how a character is displayed.
func (e *editor) shown(r rune, masked bool) string {
	n := int(r - firstPaste)
	switch {
	case r == 0 || r == '\n':
		return ""
	case masked:
		return "•"
	case r == '\t':
		return "    "
	case n >= 0 && n < len(e.pastes):
		return fmt.Sprintf("[paste %s]", phrases.Count(strings.Count(e.pastes[n], "\n")+1, "line"))
	}
	return string(r)
}
