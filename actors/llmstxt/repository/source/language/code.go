package language

import "strings"

// WithoutComments removes the lines that are only comment.
func WithoutComments(text string) string {
	if !strings.Contains(text, "//") && !strings.Contains(text, "*") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		start := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(start, "*") && !strings.HasPrefix(start, "//") && !strings.HasPrefix(start, "/*") {
			b.WriteString(line)
		}
	}
	return b.String()
}
