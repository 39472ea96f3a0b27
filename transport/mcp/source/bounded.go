package source

import (
	"errors"
	"io"
)

const (
	mostMessage = 8 << 20 // bytes of a message
	mostLines   = 1000    // of an event: mcp-go copies what it has for each of them
)

var errLong = errors.New("a message has more than 8 MiB or 1000 lines")

type ending int

const (
	withLine ending = iota
	withEvent
	withAll
)

// bounded fails when a message is too long. A message ends with its line, in a stream of events with an empty line, or
// with all that is read.
type bounded struct {
	io.ReadCloser
	ends  ending
	long  func() // called when a message is too long; may be nil
	size  int
	lines int
	empty bool // the line, so far
}

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
