package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/seed889630bf/lastword/messages/words"
)

// Printable removes control, bidi, zero-width and other invisible characters, which could steer the terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || words.IsVisible(r) {
			return r
		}
		return -1
	}, text)
}

// Width is the number of columns of the text, which must be printable and without tabs.
func Width(text string) int { return ansi.StringWidth(text) }

func RuneWidth(r rune) int { return ansi.StringWidth(string(r)) }

// fit cuts the text to that many columns. A cut text ends in dots.
func fit(text string, columns int, dots string) string {
	return ansi.Truncate(text, max(columns, 0), dots)
}

// Pad fills the text up to that many columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-Width(text)))
}

// since is the time between the two, with three decimals so that columns align.
func since(start, at time.Time) string { return fmt.Sprintf("%.3f s", at.Sub(start).Seconds()) }

// Elapsed is a duration for people, without more precision than they can read.
func Elapsed(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
}

func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// Thousands writes a number with a comma before every three digits.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count is a number with its noun, in the plural if needed.
func Count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(n) + " " + thing + "s"
}

func ShortCommit(commit string) string { return commit[:min(12, len(commit))] }

// Wrap fills the lines of each paragraph up to that many columns. Lines that begin with a space stay as they are.
func Wrap(text string, columns int) string {
	var lines []string
	filling := false // the last line takes more words
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
