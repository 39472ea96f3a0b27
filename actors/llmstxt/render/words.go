package render

import "strings"

// The ways to write a clean line, one that [Liner] gave, in Markdown so that it stays text.

// Inline is for text within a line.
func Inline(s string) string {
	if !strings.ContainsAny(s, `\[]<`) {
		return s
	}
	return inline(s)
}

// Paragraph is for text that begins a line.
func Paragraph(s string) string { return paragraph(s) }

// Heading is for text after the marks of a heading.
func Heading(s string) string { return heading(s) }

// LinkTitle is for text between the brackets of a link.
func LinkTitle(s string) string { return linkTitle(s) }
