package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Reader reads lines of at most limit bytes.
type Reader struct {
	from  *bufio.Reader
	limit int64
}

// NewReader returns a reader of lines of at most limit bytes.
func NewReader(from io.Reader, limit int64) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// ErrLong says that a line was too long, and is left out.
var ErrLong = errors.New("the line is too long")

// Next returns the next line that is not blank, in its own memory. After ErrLong the next line can be read.
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
			return line, nil // the end comes with the next call
		case err != nil:
			return nil, err
		}
		line = nil
	}
}
