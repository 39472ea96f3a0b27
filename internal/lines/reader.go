package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// patience is how long the client may read or write nothing in the middle of a message.
const patience = time.Minute

// Reader reads lines. It must be used by one goroutine at a time.
type Reader struct {
	from  *bufio.Reader
	limit int64
	input *input
}

// NewReader returns a reader of lines with at most limit bytes.
func NewReader(from io.Reader, limit int64) *Reader {
	in := &input{Reader: from, stuck: make(chan error, 1)}
	return &Reader{from: bufio.NewReaderSize(in, 64<<10), limit: limit, input: in}
}

// Stuck receives an error if the client has written half a line, and then nothing. A blocked Next stays blocked.
func (l *Reader) Stuck() <-chan error { return l.input.stuck }

// input notices when nothing follows half a line.
type input struct {
	io.Reader
	half  bool // a line has begun
	stuck chan error
}

// Read implements [io.Reader].
func (i *input) Read(p []byte) (int, error) {
	if i.half {
		defer time.AfterFunc(patience, func() {
			select {
			case i.stuck <- fmt.Errorf("the client has written half a message, and nothing for %s: a message ends with a line feed", patience):
			default: // it has been said
			}
		}).Stop()
	}
	n, err := i.Reader.Read(p)
	rest := p[bytes.LastIndexByte(p[:n], '\n')+1 : n]
	i.half = i.half && len(rest) == n || len(bytes.TrimSpace(rest)) > 0
	return n, err
}

// ErrLong means that a line was too long and was skipped.
var ErrLong = errors.New("the line is too long")

// Next returns the next line that is not blank, in its own memory. After ErrLong, Next can be called again.
func (l *Reader) Next() ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := l.from.ReadSlice('\n')
		if long = long || int64(len(line)+len(part)) > l.limit+1; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, ErrLong
		case len(bytes.TrimSpace(line)) > 0 && (err == nil || err == io.EOF):
			return line, nil // the next call returns the end
		case err != nil:
			return nil, err
		}
		line = nil
	}
}
