package check

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Ctx checks an llms-ctx.txt while it is written to it: nested elements, each tag on a line of its own. The text of a
// doc element is unescaped, except for what would end the element; the rest is well-formed XML. The zero value is
// ready for use. It is not safe for concurrent use.
type Ctx struct {
	line    []byte   // beginning of the current line
	number  int      // number of the current line, from 1
	open    []string // names of the open elements
	problem error
}

// Write never fails: Finish reports problems.
func (c *Ctx) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		if len(c.line) > 0 || part[len(part)-1] != '\n' {
			c.line = append(c.line, part...)
			part = c.line
		}
		if part[len(part)-1] == '\n' {
			c.read(part)
			c.line = c.line[:0]
		}
	}
	return len(p), nil
}

// Finish returns the first problem, or nil.
func (c *Ctx) Finish() error {
	switch {
	case len(c.line) > 0:
		c.fail("the text does not end with a line feed")
	case c.number == 0:
		c.fail("there is no element")
	case len(c.open) > 0:
		c.fail("an element is not closed")
	}
	return c.problem
}

func (c *Ctx) fail(message string) {
	if c.problem == nil {
		c.problem = fmt.Errorf("line %d: %s", c.number, message)
	}
}

var ctxTag = regexp.MustCompile(`^<(/?)([a-z_][a-z0-9_-]*)` +
	`((?: title="[^"<>]*")?(?: (?:summary|desc)="[^"<>]*")?(?: (?:absent|cut)="[^"<>]*")?)>\n$`)

func (c *Ctx) read(line []byte) {
	c.number++
	inside := len(c.open) > 0 && c.open[len(c.open)-1] == "doc" && !bytes.Equal(line, []byte("</doc>\n"))
	if !isText(line) || !inside && !hasEntities(line) {
		c.fail("a character that XML does not have, or an & that begins no entity")
	}
	if inside {
		if bytes.Contains(line, []byte("</doc")) {
			c.fail("the end of the element within its text")
		}
		return
	}
	if line[0] != '<' {
		if len(c.open) == 0 || bytes.IndexByte(line, '<') >= 0 || bytes.IndexByte(line, '>') >= 0 {
			c.fail("a tag within a line, or text outside of the elements")
		}
		return
	}
	tag := ctxTag.FindSubmatch(line)
	last := len(c.open) - 1
	switch {
	case tag == nil:
		c.fail("a tag that is not whole")
	case len(tag[1]) == 0 && (last >= 0 || c.number == 1):
		c.open = append(c.open, string(tag[2]))
	case len(tag[1]) > 0 && len(tag[3]) == 0 && last >= 0 && c.open[last] == string(tag[2]):
		c.open = c.open[:last]
	default:
		c.fail("an element that is closed by another's tag, or stands beside the first")
	}
}

var entities = [][]byte{[]byte("&amp;"), []byte("&lt;"), []byte("&gt;"), []byte("&quot;")}

// hasEntities reports whether each & begins an entity.
func hasEntities(text []byte) bool {
	for i, b := range text {
		if b == '&' && !slices.ContainsFunc(entities, func(e []byte) bool { return bytes.HasPrefix(text[i:], e) }) {
			return false
		}
	}
	return true
}

func isText(text []byte) bool {
	ascii := true
	for _, b := range text {
		switch {
		case b >= utf8.RuneSelf:
			ascii = false
		case b < ' ' && b != '\n' && b != '\t' && b != '\r':
			return false
		}
	}
	return ascii || utf8.Valid(text) && !bytes.Contains(text, []byte("\uFFFE")) && !bytes.Contains(text, []byte("\uFFFF"))
}
