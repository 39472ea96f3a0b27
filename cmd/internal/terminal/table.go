package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/words"
)

// Table prints the results of checks as they arrive: what a check has seen and, below it, what to do.
type Table struct {
	out   io.Writer
	style style
	wide  int   // length of the longest id
	Err   error // the error that ended the printing
}

func NewTable(out io.Writer, how *Options, ids []string) *Table {
	t := &Table{out: out, style: style{color: how.Colored(IsTerminal(out)), ascii: how.ASCIIOnly()}}
	for _, id := range ids {
		t.wide = max(t.wide, len(id))
	}
	return t
}

// statusColors are the colors of results; all others are dim.
var statusColors = map[probe.Status]color{probe.Pass: green, probe.Warn: yellow, probe.Fail: red}

// Row prints a result, without control characters that a server may have sent.
func (t *Table) Row(r probe.Result) {
	indent := strings.Repeat(" ", 4+2+t.wide+2)
	cell := func(text string, as color) string {
		lines := strings.Split(Wrap(strings.TrimLeft(Flat(text), " "), max(20, Columns(t.out)-1-len(indent))), "\n")
		for i := range lines {
			lines[i] = t.style.paint(lines[i], as)
		}
		return strings.Join(lines, "\n"+indent) + "\n"
	}
	lines := t.style.paint(string(r.Status), cmp.Or(statusColors[r.Status], dim)) + "  " + Pad(r.ID, t.wide) + "  " + cell(r.Seen, "")
	if r.Remedy != "" {
		lines += indent + cell(t.style.mark("→ ")+r.Remedy, dim)
	}
	if t.Err == nil {
		_, t.Err = io.WriteString(t.out, lines)
	}
}

func Flat(text string) string { return strings.ReplaceAll(words.Printable(text), "\t", " ") }

// List prints a table. If there are no rows below its title, stdout stays empty, and stderr gets the words of none.
func List(cmd *cobra.Command, rows [][]string, none string) error {
	if len(rows) == 1 {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), none)
		return err
	}
	return Rows(cmd.OutOrStdout(), rows)
}

// Rows prints a table, without control characters. It changes rows.
func Rows(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = Flat(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}
