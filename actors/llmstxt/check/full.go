package check

import "bytes"

// Full reads an llms-full.txt as it is written to it, in memory that does not grow: a title, then text and fenced
// files under headings of level 2. The zero value is ready.
type Full struct {
	head    []byte // how the line begins, as far as it can matter
	begun   bool   // a line has
	number  int    // of the line, from 0
	fence   int    // backticks of the fence that is open
	problem *Problem
}

// headBytes of a line are enough to see what it is; no fence is longer.
const headBytes = 512

// Write never fails: what is wrong is Finish's to say.
func (f *Full) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		line, ended := bytes.CutSuffix(part, []byte("\n"))
		f.head = append(f.head, line[:min(len(line), headBytes-len(f.head))]...)
		f.begun = !ended
		if ended {
			f.read(f.head)
			f.head = f.head[:0]
		}
	}
	return len(p), nil
}

// Finish gives the first problem, or nil.
func (f *Full) Finish() *Problem {
	f.number++
	switch {
	case f.begun:
		f.fail(LineEnd, "the text does not end with a line feed")
	case f.number == 1:
		f.fail(TitleFirst, "there is no H1")
	case f.fence > 0:
		f.fail(Fence, "a fence is not closed")
	}
	return f.problem
}

// fail keeps the first problem.
func (f *Full) fail(rule Rule, message string) {
	if f.problem == nil {
		f.problem = &Problem{Line: f.number, Rule: rule, Message: message}
	}
}

// read judges a line that has ended. Most are a file's, in which nothing but the end of the fence matters.
func (f *Full) read(line []byte) {
	f.number++
	switch {
	case f.fence > 0:
		if len(line) == f.fence && ticks(line) == f.fence {
			f.fence = 0
		}
	case f.number == 1:
		if !bytes.HasPrefix(line, []byte("# ")) {
			f.fail(TitleFirst, "the first line is not an H1 with a name")
		}
	case ticks(line) >= 3:
		f.fence = ticks(line)
	default:
		if level, _ := heading(string(line)); level != 0 && level != 2 {
			f.fail(HeadingLevel, "a heading that is not of level 2")
		}
	}
}

func ticks(line []byte) int { return len(line) - len(bytes.TrimLeft(line, "`")) }
