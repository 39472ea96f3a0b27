package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManPage returns the command's manual page, in roff with the man macros.
func ManPage(cmd *cobra.Command, version string) string {
	cmd.InitDefaultHelpFlag()
	var p roff
	p.line(".TH", strings.ToUpper(PageName(cmd)), "1", "", "lastword "+version)
	p.line(".SH", "NAME")
	p.text(PageName(cmd) + " - " + cmd.Short)
	p.line(".SH", "SYNOPSIS")
	p.line(".B", UsageLine(cmd))
	p.line(".SH", "DESCRIPTION")
	p.prose(About(cmd))
	p.flags("OPTIONS", cmd.LocalFlags())
	p.flags("OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	if cmd.HasExample() {
		p.line(".SH", "EXAMPLES")
		p.verbatim(cmd.Example)
	}
	p.related(cmd)
	return p.String()
}

// About returns the long description of the command, or else the short one.
func About(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return cmd.Long
}

// UsageLine returns how the command is called.
func UsageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " <command> [flags]"
	}
	return strings.TrimSuffix(cmd.UseLine(), " [flags]") + " [flags]"
}

// roff builds a page.
type roff struct{ strings.Builder }

// line writes a request with its arguments.
func (p *roff) line(request string, args ...string) {
	p.WriteString(request)
	for _, a := range args {
		fmt.Fprintf(p, ` "%s"`, strings.ReplaceAll(escaped(a), `"`, `\(dq`))
	}
	p.WriteByte('\n')
}

// text writes a line of text, whatever it begins with.
func (p *roff) text(line string) { fmt.Fprintf(p, "\\&%s\n", escaped(line)) }

// escaped escapes characters that are special in roff.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`).Replace(text)
}

// prose writes paragraphs. From its first indented line on, a paragraph keeps its line breaks.
func (p *roff) prose(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.WriteString(".PP\n")
		}
		lines := strings.Split(paragraph, "\n")
		indented := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  ") })
		if indented < 0 {
			indented = len(lines)
		}
		for _, line := range lines[:indented] {
			p.text(line)
		}
		if indented < len(lines) {
			p.verbatim(strings.Join(lines[indented:], "\n"))
		}
	}
}

func (p *roff) verbatim(text string) {
	p.WriteString(".PP\n.nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		p.text(line)
	}
	p.WriteString(".fi\n")
}

// flags writes a section with all flags that are not hidden.
func (p *roff) flags(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.line(".SH", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, words := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		p.line(".TP")
		p.line(".B", strings.TrimSpace(name+" "+value))
		p.text(words)
	})
}

// related lists the pages of the parent command and of the subcommands.
func (p *roff) related(cmd *cobra.Command) {
	var pages []*cobra.Command
	if cmd.HasParent() {
		pages = append(pages, cmd.Parent())
	}
	if pages = append(pages, cmd.Commands()...); len(pages) == 0 {
		return
	}
	p.line(".SH", "SEE ALSO")
	for _, other := range pages {
		p.line(".TP")
		p.line(".B", PageName(other)+"(1)")
		p.text(other.Short)
	}
}

func PageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }
