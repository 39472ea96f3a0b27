package main

import (
	"os"
	"strings"
)

// sgr says how text looks; "" is how text looks anyway.
type sgr string

const (
	bold   sgr = "1"
	dim    sgr = "2"
	red    sgr = "31"
	green  sgr = "32"
	yellow sgr = "33"
	cyan   sgr = "36"
)

// span is a piece of a line.
type span struct {
	text string
	as   sgr
}

// look is what may be used to show something.
type look struct {
	colour bool
	ascii  bool // only
}

func (l look) paint(text string, as sgr) string {
	if !l.colour || as == "" || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}

func (l look) dots() string {
	if l.ascii {
		return "..."
	}
	return "…"
}

// line paints the spans and cuts them to that many columns. It returns how many they take.
func (l look) line(spans []span, columns int) (string, int) {
	var b strings.Builder
	used := 0
	for _, s := range spans {
		text := fit(strings.ReplaceAll(printable(s.text), "\t", " "), columns-used, l.dots())
		used += cells(text)
		b.WriteString(l.paint(text, s.as))
	}
	return b.String(), used
}

// coloured: --no-color and NO_COLOR switch colour off, CLICOLOR_FORCE switches it on; else a terminal that can has it.
func coloured(never, terminal bool) bool {
	switch force := os.Getenv("CLICOLOR_FORCE"); {
	case never || os.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && !dumb()
}

// dumb: a terminal that does not say what it is understands nothing but text.
func dumb() bool { return os.Getenv("TERM") == "" || os.Getenv("TERM") == "dumb" }

// onlyASCII: the locale names a set of characters, and it is not Unicode.
func onlyASCII() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if set := strings.ToUpper(os.Getenv(name)); set != "" {
			return !strings.Contains(set, "UTF-8") && !strings.Contains(set, "UTF8")
		}
	}
	return false
}
