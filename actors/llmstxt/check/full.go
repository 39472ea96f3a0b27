package check

import (
	"bytes"
	"unicode/utf8"
)

// Full reads an llms-full.txt as it is written to it, in memory that does not grow: a title, then text and fenced
// files under headings of level 2. The zero value is ready.
type Full struct {
	head    []byte // how the line begins, as far as it can matter
	begun   bool   // a line has
	number  int    // of the line, from 0
	fence   int    // backticks of the fence that is open
	tail    []byte // a character that is not whole yet
	problem *Problem
}

// headBytes of a line are enough to see what it is; no fence is longer.
const headBytes = 512

// Write never fails: what is wrong is Finish's to say.
func (f *Full) Write(p []byte) (int, error) {
	f.characters(p)
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			f.keep(rest)
			break
		}
		if f.begun {
			f.keep(rest[:i])
			f.read(f.head)
			f.head, f.begun = f.head[:0], false
		} else {
			f.read(rest[:i])
		}
		rest = rest[i+1:]
	}
	return len(p), nil
}

// keep takes part of a line that has not ended.
func (f *Full) keep(part []byte) {
	f.begun = true
	if room := headBytes - len(f.head); room > 0 {
		f.head = append(f.head, part[:min(room, len(part))]...)
	}
}

// Finish gives the first problem, or nil.
func (f *Full) Finish() *Problem {
	f.number++
	switch {
	case len(f.tail) > 0:
		f.fail(f.number, Characters, badText)
		fallthrough
	case f.begun:
		f.fail(f.number, LineEnd, "the text does not end with a line feed")
	case f.number == 1:
		f.fail(f.number, TitleFirst, "there is no H1")
	case f.fence > 0:
		f.fail(f.number, Fence, "a fence is not closed")
	}
	return f.problem
}

// fail keeps the first problem, by line and rule: it is the same however the text is cut for writing.
func (f *Full) fail(line int, rule Rule, message string) {
	if p := f.problem; p == nil || line < p.Line || line == p.Line && rule < p.Rule {
		f.problem = &Problem{Line: line, Rule: rule, Message: message}
	}
}

// read judges a line that has ended. Most are a file's, in which nothing but the end of the fence matters.
func (f *Full) read(line []byte) {
	f.number++
	switch {
	case f.fence > 0:
		if len(line) == f.fence && line[0] == '`' && ticks(line) == f.fence {
			f.fence = 0
		}
	case f.number == 1:
		if !bytes.HasPrefix(line, []byte("# ")) {
			f.fail(f.number, TitleFirst, "the first line is not an H1 with a name")
		}
	case ticks(line) >= 3:
		f.fence = ticks(line)
	default:
		if level, _ := heading(string(line)); level != 0 && level != 2 {
			f.fail(f.number, HeadingLevel, "a heading that is not of level 2")
		}
	}
}

func ticks(line []byte) int { return len(line) - len(bytes.TrimLeft(line, "`")) }

const badText = "a control character or invalid UTF-8"

// characters looks for what is not text. A character may be split between two writes.
func (f *Full) characters(p []byte) {
	bad := func(i int) { f.fail(f.number+1+bytes.Count(p[:i], []byte("\n")), Characters, badText) }
	for i, c := range p {
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			if len(f.tail) > 0 {
				bad(i)
				f.tail = f.tail[:0]
			}
			continue
		}
		f.tail = append(f.tail, c)
		if !utf8.FullRune(f.tail) {
			continue
		}
		if r, size := utf8.DecodeRune(f.tail); r == utf8.RuneError && size <= 1 || r < 0xa0 {
			bad(i)
		}
		f.tail = f.tail[:0]
	}
}
