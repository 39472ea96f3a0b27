package terminal

import (
	"bytes"
	"io"
)

// Shown is the stream for what a program says: a terminal gets no escapes but colours.
func Shown(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return &Colors{To: w}
	}
	return w
}

// Colors passes text on to a terminal, and of its escapes only those that change how text looks. It takes the text in
// pieces.
type Colors struct {
	To   io.Writer
	held []byte // an escape that has no end yet
}

// longestEscape is the longest one that is looked at.
const longestEscape = 64

// Write writes what can be passed on.
func (c *Colors) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for _, b := range p {
		switch {
		case len(c.held) == 1 && c.held[0] == 0xc2: // a control character of two bytes, or another
			if c.held = c.held[:0]; b < 0x80 || b >= 0xa0 {
				out = append(out, 0xc2, b)
			}
		case len(c.held) > 0:
			c.held = append(c.held, b)
			if end, look := escape(c.held); end {
				if look {
					out = append(out, c.held...)
				}
				c.held = c.held[:0]
			}
		case b == 0x1b, b == 0xc2:
			c.held = append(c.held, b)
		case b >= 0x20 && b != 0x7f, b == '\n', b == '\t', b == '\r', b == '\b':
			out = append(out, b)
		}
	}
	if _, err := c.To.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape reports whether the text that begins with ESC is a whole escape, and whether it changes the look of text alone.
func escape(s []byte) (end, look bool) {
	last := s[len(s)-1]
	switch {
	case len(s) == 1:
		return false, false
	case s[1] == '[': // CSI, parameters, a letter
		end = len(s) > 2 && last >= 0x40 && last <= 0x7e || last < 0x20
		return end || len(s) > longestEscape, end && last == 'm' && !bytes.ContainsAny(s[2:], "<=>?")
	case s[1] == ']', s[1] == 'P', s[1] == 'X', s[1] == '^', s[1] == '_': // a string up to BEL or ESC \
		return last == '\a' || last == '\\' && s[len(s)-2] == 0x1b || len(s) > 1<<16, false
	}
	return last >= 0x30 || last < 0x20, false
}
