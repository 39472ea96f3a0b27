package terminal

import (
	"strings"
)

// color says how text looks; "" is how text looks anyway.
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

// style is what may be used to show something.
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

// line paints the spans and cuts them to that many columns. It returns how many they take.
func (l style) line(spans []span, columns int) (string, int) {
	var b strings.Builder
	used := 0
	for _, s := range spans {
		text := fit(strings.ReplaceAll(Printable(s.text), "\t", " "), columns-used, l.dots())
		used += Width(text)
		b.WriteString(l.paint(text, s.as))
	}
	return b.String(), used
}

// coloured: --no-color and NO_COLOR switch colour off, CLICOLOR_FORCE switches it on; else a terminal that can has it.
func (o *Options) Colored(terminal bool) bool {
	switch force := o.Env.Get("CLICOLOR_FORCE"); {
	case o.NoColor || o.Env.Get("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && !o.dumb()
}

// dumb: a terminal that does not say what it is understands nothing but text.
func (o *Options) dumb() bool { return o.Env.Get("TERM") == "" || o.Env.Get("TERM") == "dumb" }

// onlyASCII: the locale names a set of characters, and it is not Unicode.
func (o *Options) ASCIIOnly() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if set := strings.ToUpper(o.Env.Get(name)); set != "" {
			return !strings.Contains(set, "UTF-8") && !strings.Contains(set, "UTF8")
		}
	}
	return false
}
