package terminal

import (
	"strings"

	"github.com/seed889630bf/lastword/messages/words"
)

// color is an SGR parameter; "" leaves the text as it is.
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

// style is what the terminal can show.
type style struct {
	color bool
	ascii bool // only
}

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

// line paints the spans, cut to that many columns, and returns how many columns they take.
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

// Colored decides on colour: --no-color and NO_COLOR switch it off, CLICOLOR_FORCE switches it on. Otherwise
// terminals that can show it do.
func (o *Options) Colored(terminal bool) bool {
	switch force := o.Env.Get("CLICOLOR_FORCE"); {
	case o.NoColor || o.Env.Get("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && !o.dumb()
}

// dumb reports whether the terminal understands only text, which one without TERM does.
func (o *Options) dumb() bool { return o.Env.Get("TERM") == "" || o.Env.Get("TERM") == "dumb" }

// ASCIIOnly reports whether the locale names a character set other than Unicode.
func (o *Options) ASCIIOnly() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if set := strings.ToUpper(o.Env.Get(name)); set != "" {
			return !strings.Contains(set, "UTF-8") && !strings.Contains(set, "UTF8")
		}
	}
	return false
}
