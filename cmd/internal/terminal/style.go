package terminal

import (
	"bytes"
	"io"
	"strings"
	"sync/atomic"

	"github.com/seed889630bf/lastword/internal/words"
)

// color is an SGR parameter. "" leaves the text unchanged.
type color string

const (
	bold   color = "1"
	dim    color = "2"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	cyan   color = "36"
)

// span is a piece of a line.
type span struct {
	text string
	as   color
}

// style describes what the terminal can show.
type style struct {
	color bool
	ascii bool // only ASCII characters
}

// paint adds escape sequences, if the output has colors.
func (l style) paint(text string, as color) string {
	if !l.color || as == "" || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}

// mark returns a sign that lastword draws, in ASCII if the terminal shows nothing else.
func (l style) mark(sign string) string {
	if l.ascii {
		return ASCII(sign)
	}
	return sign
}

// line paints the spans, cut to the given width. It returns the width used.
func (l style) line(spans []span, columns int) (string, int) {
	var b strings.Builder
	used := 0
	for _, s := range spans {
		text := fit(strings.ReplaceAll(words.Printable(s.text), "\t", " "), columns-used, l.mark("…"))
		used += Width(text)
		b.WriteString(l.paint(text, s.as))
	}
	return b.String(), used
}

// Colored reports whether to use colors. --no-color and NO_COLOR switch them off, CLICOLOR_FORCE switches them on.
// Otherwise terminals that support them get colors.
func (o *Options) Colored(terminal bool) bool {
	switch force := o.Env.Get("CLICOLOR_FORCE"); {
	case o.NoColor || o.Env.Get("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && !o.dumb()
}

// dumb reports whether the terminal understands only text. A terminal without TERM counts as such.
func (o *Options) dumb() bool { return o.Env.Get("TERM") == "" || o.Env.Get("TERM") == "dumb" }

// ASCIIOnly reports whether the locale's character set is not Unicode. Without a locale, only a dumb terminal counts as such.
func (o *Options) ASCIIOnly() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if set := strings.ToUpper(o.Env.Get(name)); set != "" {
			return !strings.Contains(set, "UTF-8") && !strings.Contains(set, "UTF8")
		}
	}
	return o.Env.Get("TERM") == "dumb"
}

// ASCII returns the text with the marks that lastword draws in ASCII. All but dots and arrows keep their width.
var ASCII = strings.NewReplacer("…", "...", "→", "->", "✓", "+", "✗", "x", "⚠", "!", "·", "-", "•", "*", "│", "|", "─", "-", "┼", "+").Replace

// Shown returns the stream for a program's output. On a terminal, it removes all escape sequences except colors, and
// [fresh] begins lines below it.
func Shown(w io.Writer) io.Writer {
	if g, ok := w.(gate); ok {
		return &shown{colors{To: w}, g.open}
	}
	return w
}

type shown struct {
	colors
	open *atomic.Bool
}

func (s *shown) Write(p []byte) (int, error) {
	n, err := s.colors.Write(p)
	if end := words.WithoutControls(string(p[max(0, len(p)-longestEscape):])); end != "" {
		s.open.Store(end[len(end)-1] != '\n')
	}
	return n, err
}

// fresh ends the last line on the terminal of the stream, if a program has left it open.
func fresh(w io.Writer) {
	if g, ok := w.(gate); ok && g.open.Swap(false) {
		io.WriteString(g, "\n")
	}
}

// Gates returns the streams through which a program writes to a terminal, whatever it prints: they remove all that could
// steer the terminal, except colors. With ascii they draw lastword's marks in ASCII. Displays that draw in place write to
// [ungated].
func Gates(stdout, stderr io.Writer, ascii bool) (io.Writer, io.Writer) {
	open := new(atomic.Bool)
	through := func(w io.Writer) io.Writer {
		if IsTerminal(w) {
			return gate{w, open, ascii}
		}
		return w
	}
	return through(stdout), through(stderr)
}

// gate is a stream to a terminal. open says that a program has left the last line there without an end; all gates share
// it.
type gate struct {
	to    io.Writer
	open  *atomic.Bool
	ascii bool
}

// Write writes what may be passed on. A sequence that is not complete is removed.
func (g gate) Write(p []byte) (int, error) {
	var shown strings.Builder
	_, _ = (&colors{To: &shown}).Write(p) // it never fails
	text := bidi.Replace(shown.String())
	if g.ascii {
		text = ASCII(text)
	}
	if _, err := io.WriteString(g.to, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// bidi removes the characters of Unicode's property Bidi_Control, which change the direction of writing.
var bidi = strings.NewReplacer("\u061c", "", "\u200e", "", "\u200f", "", "\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "",
	"\u202e", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

func (g gate) Unwrap() io.Writer { return g.to }

// ungated returns the stream behind the gate, which still removes secrets.
func ungated(w io.Writer) io.Writer {
	if g, ok := w.(gate); ok {
		return g.to
	}
	return w
}

// colors is a writer to a terminal that removes all escape sequences except those that change the style of text.
// Sequences may be split over several writes.
type colors struct {
	To   io.Writer
	held []byte // the beginning of an incomplete sequence
}

// longestEscape is the maximum length of a sequence that is examined.
const longestEscape = 64

// Write writes what may be passed on.
func (c *colors) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for _, b := range p {
		switch {
		case len(c.held) == 1 && c.held[0] == 0xc2: // a two-byte control character, or another character
			if c.held = c.held[:0]; b < 0x80 || b >= 0xa0 {
				out = append(out, 0xc2, b)
			}
		case len(c.held) > 0:
			c.held = append(c.held, b)
			if end, look := escape(c.held); end {
				if look {
					out = append(out, c.held...)
				}
				c.held = c.held[:0]
			}
		case b == 0x1b, b == 0xc2:
			c.held = append(c.held, b)
		case b >= 0x20 && b != 0x7f, b == '\n', b == '\t', b == '\r', b == '\b':
			out = append(out, b)
		}
	}
	if _, err := c.To.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape reports whether the text, which begins with ESC, is a complete escape sequence, and whether it changes only
// the style.
func escape(s []byte) (end, look bool) {
	last := s[len(s)-1]
	switch {
	case len(s) == 1:
		return false, false
	case s[1] == '[': // CSI: parameters and a letter
		end = len(s) > 2 && last >= 0x40 && last <= 0x7e || last < 0x20
		return end || len(s) > longestEscape, end && last == 'm' && !bytes.ContainsAny(s[2:], "<=>?")
	case s[1] == ']', s[1] == 'P', s[1] == 'X', s[1] == '^', s[1] == '_': // a string that ends with BEL or ESC \
		return last == '\a' || last == '\\' && s[len(s)-2] == 0x1b || len(s) > 1<<16, false
	}
	return last >= 0x30 || last < 0x20, false
}
