package terminal

import (
	"strings"

	"github.com/seed889630bf/lastword/messages/words"
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

func (l style) arrow() string {
	if l.ascii {
		return "-> "
	}
	return "→ "
}

func (l style) dots() string {
	if l.ascii {
		return "..."
	}
	return "…"
}

// line paints the spans, cut to the given width. It returns the width used.
func (l style) line(spans []span, columns int) (string, int) {
	var b strings.Builder
	used := 0
	for _, s := range spans {
		text := fit(strings.ReplaceAll(words.Printable(s.text), "\t", " "), columns-used, l.dots())
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

// ASCIIOnly reports whether the locale's character set is not Unicode.
func (o *Options) ASCIIOnly() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if set := strings.ToUpper(o.Env.Get(name)); set != "" {
			return !strings.Contains(set, "UTF-8") && !strings.Contains(set, "UTF8")
		}
	}
	return false
}
