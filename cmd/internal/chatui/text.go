package chatui

import (
	"strings"

	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	phrases "github.com/seed889630bf/lastword/internal/words"
)

// look is the style of a text: the parameters of an SGR escape sequence.
type look string

const (
	plain  look = ""
	bold   look = "1"
	faint  look = "2"
	italic look = "3"
	under  look = "4"
	struck look = "9"
	code   look = "36"
	good   look = "32"
	bad    look = "31"
	warned look = "33"
)

// and combines two looks.
func (l look) and(other look) look {
	if l == plain || other == plain {
		return l + other
	}
	return l + ";" + other
}

// piece is a text in one style. It may contain line breaks.
type piece struct {
	text string
	look look
}

// paint returns the text with its escape sequences. Without colors, only bold, faint and the like remain.
func (p piece) paint(colored bool) string {
	l := p.look
	if !colored {
		var lines []string
		for part := range strings.SplitSeq(string(l), ";") {
			if len(part) == 1 {
				lines = append(lines, part)
			}
		}
		l = look(strings.Join(lines, ";"))
	}
	if l == plain || p.text == "" {
		return p.text
	}
	return "\x1b[" + string(l) + "m" + p.text + "\x1b[0m"
}

// line is the content of one row.
type line []piece

// paint returns the line with its escape sequences. It joins pieces of the same look.
func (l line) paint(colored bool) string {
	var b strings.Builder
	for i := 0; i < len(l); {
		p := l[i]
		for i++; i < len(l) && l[i].look == p.look; i++ {
			p.text += l[i].text
		}
		b.WriteString(p.paint(colored))
	}
	return b.String()
}

// text returns the line without styles, for output that is not a terminal.
func (l line) text() (text string) {
	for _, p := range l {
		text += p.text
	}
	return text
}

func (l line) width() (n int) {
	for _, p := range l {
		n += terminal.Width(p.text)
	}
	return n
}

func paint(lines []line, colored bool) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.paint(colored)
	}
	return out
}

// wrap breaks the pieces into lines, between words where possible.
func wrap(pieces []piece, columns int) (lines []line) {
	w := wrapper{columns: max(columns, 1)}
	for _, p := range pieces {
		for i, row := range strings.Split(p.text, "\n") {
			if i > 0 {
				w.flushWord()
				w.flush()
			}
			w.words(piece{row, p.look})
		}
	}
	w.flushWord()
	w.flush()
	return w.lines
}

// wrapper is the state of wrap.
type wrapper struct {
	columns int
	lines   []line
	now     line
	at      int // width of now
	word    line
	size    int // width of word
	gap     line
}

// words adds text without line breaks. A word may consist of several pieces.
func (w *wrapper) words(p piece) {
	for p.text != "" {
		space := len(p.text) - len(strings.TrimLeft(p.text, " "))
		if space > 0 {
			w.flushWord()
			w.gap = append(w.gap, piece{p.text[:space], p.look})
			p.text = p.text[space:]
			continue
		}
		end := strings.IndexByte(p.text, ' ')
		if end < 0 {
			end = len(p.text)
		}
		w.word = append(w.word, piece{p.text[:end], p.look})
		w.size += terminal.Width(p.text[:end])
		p.text = p.text[end:]
	}
}

// flushWord adds the word to the line, or to the next one if it does not fit.
func (w *wrapper) flushWord() {
	if len(w.word) == 0 {
		return
	}
	gap := w.gap.width()
	if w.at > 0 && w.at+gap+w.size > w.columns {
		w.flush()
		gap = 0
	}
	if gap > 0 {
		w.now, w.at = append(w.now, w.gap...), w.at+gap
	}
	for _, p := range w.word {
		w.put(p)
	}
	w.word, w.size, w.gap = nil, 0, nil
}

// put adds a word, and breaks it if it is longer than a line.
func (w *wrapper) put(p piece) {
	from := 0
	for i, r := range p.text {
		if n := terminal.RuneWidth(r); w.at+n > w.columns && w.at > 0 {
			w.now = append(w.now, piece{p.text[from:i], p.look})
			w.flush()
			from, w.at = i, n
		} else {
			w.at += n
		}
	}
	w.now = append(w.now, piece{p.text[from:], p.look})
}

func (w *wrapper) flush() {
	w.lines = append(w.lines, w.now)
	w.now, w.at, w.gap = nil, 0, nil
}

// fit cuts the line to the given width.
func (l line) fit(columns int) (out line) {
	for _, p := range l {
		for i, r := range p.text {
			if columns -= terminal.RuneWidth(r); columns < 0 {
				return append(out, piece{p.text[:i], p.look})
			}
		}
		out = append(out, p)
	}
	return out
}

// clean removes characters that could control the terminal, and replaces tabs, whose width is unknown.
func clean(text string) string {
	return strings.ReplaceAll(phrases.WithoutControls(text), "\t", "    ")
}
