package graph

import "strings"

// withoutProse leaves out docstrings and lines of comments: examples in them import what the file does not.
func withoutProse(language, text string) string {
	switch family(language) {
	case "python":
		return withoutDocstrings(text)
	case "script", "jvm", ".net", "PHP", "Dart", "Swift":
		return withoutComments(text)
	}
	return text
}

// withoutDocstrings takes quotes in comments and in other strings for what they are, as far as lines tell.
func withoutDocstrings(text string) string {
	var b strings.Builder
	quote := ""
	for line := range strings.Lines(text) {
		if quote != "" {
			if _, after, ok := strings.Cut(line, quote); ok {
				line, quote = after, ""
			} else {
				continue
			}
		}
		for quote == "" {
			code, mark := beforeQuotes(line)
			b.WriteString(code)
			if mark == "" {
				break
			}
			_, after, ended := strings.Cut(line[len(code)+len(mark):], mark)
			if line = after; !ended {
				quote = mark
			}
		}
	}
	return b.String()
}

// beforeQuotes gives the line up to the first triple quote that is not in a comment, or all of it.
func beforeQuotes(line string) (code, mark string) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '#':
			return line, ""
		case (c == '"' || c == '\'') && strings.HasPrefix(line[i:], strings.Repeat(string(c), 3)):
			return line[:i], line[i : i+3]
		}
	}
	return line, ""
}

func withoutComments(text string) string {
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
