package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Reader reads lines. It must be used by one goroutine at a time.
type Reader struct {
	from  *bufio.Reader
	limit int64
}

// NewReader returns a reader of lines with at most limit bytes.
func NewReader(from io.Reader, limit int64) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// ErrLong means that a line was too long and was skipped.
var ErrLong = errors.New("the line is too long")

// Next returns the next line that is not blank, in memory of its own. After ErrLong, Next can be called again.
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
