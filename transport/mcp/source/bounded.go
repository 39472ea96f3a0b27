package source

import (
	"errors"
	"io"
)

const mostMessage = 8 << 20 // bytes of a message

var errLong = errors.New("a message has more than 8 MiB")

// bounded fails when a message is too long. A message ends with its line or, in a stream of events, with an empty line.
type bounded struct {
	io.ReadCloser
	events bool
	size   int
	empty  bool // the line, so far
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		b.size++
		switch c {
		case '\n':
			if !b.events || b.empty {
				b.size = 0
			}
			b.empty = true
		case '\r':
		default:
			b.empty = false
		}
		if b.size > mostMessage {
			return 0, errLong
		}
	}
	return n, err
}
