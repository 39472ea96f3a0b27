package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads lines of at most limit bytes.
type lineReader struct {
	from  *bufio.Reader
	limit int64
}

func newLineReader(from io.Reader, limit int64) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

var errLong = errors.New("the line is too long")

// next returns the next line that is not blank, in memory of its own. errLong is about one line: the next can be read.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			return line, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.from.ReadSlice('\n')
		if long = long || int64(len(line)+len(part)) > l.limit+1; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		case err == io.EOF && len(line) > 0:
			return line, nil // the end comes with the next call
		default:
			return line, err
		}
	}
}
