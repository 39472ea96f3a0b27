package main

import (
	"io"
	"strings"

	"github.com/seed889630bf/lastword/transport/llm/probe"
)

// table prints rows for people as they come: what a check found, and below it what can be done.
type table struct {
	out  io.Writer
	look look
	wide int   // the longest id
	lost error // why nothing is printed any more
}

func newTable(out io.Writer, how *showing, ids []string) *table {
	t := &table{out: out, look: look{colour: coloured(how.noColor, isTerminal(out)), ascii: onlyASCII()}}
	for _, id := range ids {
		t.wide = max(t.wide, len(id))
	}
	return t
}

func colourOf(s probe.Status) sgr {
	switch s {
	case probe.Pass:
		return green
	case probe.Warn:
		return yellow
	case probe.Fail:
		return red
	}
	return dim
}

// row prints one. What a server said steers no terminal.
func (t *table) row(r probe.Result) {
	lines := t.look.paint(string(r.Status), colourOf(r.Status)) + "  " + pad(r.ID, t.wide) + "  " + flat(r.Seen) + "\n"
	if r.Remedy != "" {
		lines += strings.Repeat(" ", 4+2+t.wide+2) + t.look.paint(t.arrow()+flat(r.Remedy), dim) + "\n"
	}
	if t.lost == nil {
		_, t.lost = io.WriteString(t.out, lines)
	}
}

func (t *table) arrow() string {
	if t.look.ascii {
		return "-> "
	}
	return "→ "
}

func flat(text string) string { return strings.ReplaceAll(printable(text), "\t", " ") }
