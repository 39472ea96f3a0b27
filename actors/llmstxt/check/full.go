package check

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Full reads an llms-full.txt as it is written to it, in memory that does not grow: a title, then text and fenced files
// under headings of level 2. The zero value is ready.
type Full struct {
	line    []byte // what has come of the line, as far as it can matter
	length  int    // of the whole line
	number  int
	fence   string
	tail    []byte // a character that is not whole yet
	problem *Problem
}

// lineBytes of a line are enough to see what it is.
const lineBytes = 512

// Write never fails: what is wrong is Finish's to say.
func (f *Full) Write(p []byte) (int, error) {
	f.characters(p)
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		f.length += len(part)
		if room := lineBytes - len(f.line); room > 0 {
			f.line = append(f.line, part[:min(room, len(part))]...)
		}
		if ended {
			f.read()
		}
		rest = after
	}
	return len(p), nil
}

// Finish gives the first problem, or nil.
func (f *Full) Finish() *Problem {
	f.number++
	switch {
	case f.length > 0 || len(f.tail) > 0:
		f.fail(LineEnd, "the text does not end with a line feed")
	case f.number == 1:
		f.fail(TitleFirst, "there is no H1")
	case f.fence != "":
		f.fail(Fence, "a fence is not closed")
	}
	return f.problem
}

func (f *Full) fail(rule Rule, message string) {
	if f.problem == nil {
		f.problem = &Problem{Line: f.number, Rule: rule, Message: message}
	}
}

// read judges a line that has ended.
func (f *Full) read() {
	f.number++
	line := string(f.line)
	f.line, f.length = f.line[:0], 0
	ticks := len(line) - len(strings.TrimLeft(line, "`"))
	switch {
	case f.fence != "":
		if line == f.fence {
			f.fence = ""
		}
	case ticks >= 3 && len(line) < lineBytes:
		f.fence = line[:ticks]
	case f.number == 1:
		if !strings.HasPrefix(line, "# ") {
			f.fail(TitleFirst, "the first line is not an H1 with a name")
		}
	default:
		if level, _ := heading(line); level != 0 && level != 2 {
			f.fail(HeadingLevel, "a heading that is not of level 2")
		}
	}
}

// characters looks for what is not text. A character may be split between two writes.
func (f *Full) characters(p []byte) {
	for i := 0; i < len(p); {
		if c := p[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			if len(f.tail) > 0 {
				f.fail(Characters, "invalid UTF-8")
				f.tail = f.tail[:0]
			}
			i++
			continue
		}
		f.tail = append(f.tail, p[i])
		i++
		if utf8.FullRune(f.tail) {
			f.character(f.tail)
			f.tail = f.tail[:0]
		}
	}
}

func (f *Full) character(b []byte) {
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size <= 1 {
		f.fail(Characters, "invalid UTF-8")
	} else if r < 0xa0 {
		f.fail(Characters, "a control character")
	}
}
