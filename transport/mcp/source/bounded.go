package source

import (
	"errors"
	"io"
)

const (
	mostMessage = 8 << 20 // maximum size of a message in bytes
	mostLines   = 1000    // maximum number of lines of an event; mcp-go copies the event for each line
)

// errLong ends a connection: a message that is too long cannot be skipped.
var errLong = errors.New("a message has more than 8 MiB or 1000 lines")

// ending says where a message ends in a stream.
type ending int

const (
	withLine ending = iota
	withEvent
	withAll
)

// bounded is a reader that fails if a message is too long. A message ends with its line, with an empty line (in an
// event stream), or at the end of the input.
type bounded struct {
	io.ReadCloser
	ends  ending
	long  func() // called if a message is too long; may be nil
	size  int    // bytes of the current message
	lines int    // lines of the current message
	empty bool   // whether the current line is empty so far
}

// Read counts the size of the current message, which may span several calls.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		b.size++
		switch c {
		case '\n':
			if b.lines++; b.ends == withLine || b.ends == withEvent && b.empty {
				b.size, b.lines = 0, 0
			}
			b.empty = true
		case '\r':
		default:
			b.empty = false
		}
		if b.size > mostMessage || b.ends == withEvent && b.lines > mostLines {
			if b.long != nil {
				b.long()
			}
			return 0, errLong
		}
	}
	return n, err
}
