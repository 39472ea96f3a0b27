package check

import "bytes"

// Full checks an llms-full.txt while it is written to it, in constant memory: a title, then text and fenced files
// under headings of level 2. The zero value is ready for use. It is not safe for concurrent use.
type Full struct {
	head    []byte // beginning of the current line, as far as it can matter
	inLine  bool   // the current line has begun
	number  int    // number of the current line, from 0
	fence   int    // number of backticks of the open fence
	problem *Problem
}

// headBytes of a line are enough to recognize it; no fence is longer.
const headBytes = 512

// Write never fails: Finish reports problems.
func (f *Full) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		line, ended := bytes.CutSuffix(part, []byte("\n"))
		f.head = append(f.head, line[:min(len(line), headBytes-len(f.head))]...)
		f.inLine = !ended
		if ended {
			f.read(f.head)
			f.head = f.head[:0]
		}
	}
	return len(p), nil
}

// Finish returns the first problem, or nil.
func (f *Full) Finish() *Problem {
	f.number++
	switch {
	case f.inLine:
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

// read checks a line that has ended. Most lines belong to a file, in which only the end of the fence matters.
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
