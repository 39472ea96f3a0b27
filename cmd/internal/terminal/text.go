package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Width returns the number of columns of the text, which must be printable and without tabs.
func Width(text string) int { return ansi.StringWidth(text) }

func RuneWidth(r rune) int { return ansi.StringWidth(string(r)) }

// fit cuts the text to the given width. A cut text ends with dots.
func fit(text string, columns int, dots string) string {
	return ansi.Truncate(text, max(columns, 0), dots)
}

// Pad fills the text with spaces up to the given width.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-Width(text)))
}

// since returns the time between two instants, always with three decimals, so that columns are aligned.
func since(start, when time.Time) string { return fmt.Sprintf("%.3f s", when.Sub(start).Seconds()) }

// Elapsed formats a duration for people, with as much precision as they can read.
func Elapsed(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
}

func ShortCommit(commit string) string { return commit[:min(12, len(commit))] }

// Wrap fills the lines of each paragraph up to the given width. Lines that begin with a space are not changed.
func Wrap(text string, columns int) string {
	var lines []string
	filling := false // the last line accepts more words
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			lines, filling = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			if filling && Width(lines[last])+1+Width(word) <= columns {
				lines[last] += " " + word
			} else {
				lines, filling = append(lines, word), true
			}
		}
	}
	return strings.Join(lines, "\n")
}
