package mcp

import (
	"io"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

const (
	// wholeBytes is the maximum size of a read, with or without a range.
	wholeBytes = 16 << 20
	// rangeBytes is the size of a range without a limit.
	rangeBytes = 1 << 20
)

// span is a part of a file, in bytes. Text is never cut within a character: the part begins with the first character at
// or after the offset, and ends before a character that does not fit, but it has at least one.
type span struct {
	offset, limit int64
	// asked says that the client asked for a part, not for the whole file.
	asked bool
}

// span returns the range that the query asks for.
func (u uri) span() (span, error) {
	offset, err := u.number("offset", 0)
	if err != nil {
		return span{}, err
	}
	limit, err := u.number("limit", rangeBytes)
	if err != nil {
		return span{}, err
	}
	asked := u.query.Has("offset") || u.query.Has("limit")
	return span{offset: offset, limit: min(max(limit, 1), wholeBytes), asked: asked}, nil
}

// place says which part of a file was read.
type place struct {
	Offset int64 `json:"offset"`
	Bytes  int   `json:"bytes"`
	Total  int64 `json:"total"`
}

// read returns the range of a file. Text is cut only between characters, and binary data is in base64.
func (r span) read(mimeType string, file io.ReadSeeker) (c Contents, where place, err error) {
	total, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return c, where, err
	}
	if !r.asked {
		if total > wholeBytes {
			return c, where, messages.LimitExceeded("the file has %d bytes, and one answer gives %d; read parts with "+
				"?offset=0&limit=%d", total, wholeBytes, rangeBytes)
		}
		r.limit = total
	}
	offset := min(r.offset, total)
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return c, where, err
	}
	data, err := io.ReadAll(io.LimitReader(file, r.limit+2*(utf8.UTFMax-1))) // bytes that aligning to characters may need
	if err != nil {
		return c, where, err
	}
	c.MIMEType = mimeType
	from, to, text := 0, 0, false
	if messages.IsText(mimeType) {
		from, to, text = characters(data, int(r.limit), offset > 0)
	}
	if text {
		c.Text = string(data[from:to])
	} else {
		from, to = 0, min(int(r.limit), len(data))
		c.Blob = data[:to]
	}
	return c, place{offset + int64(from), to - from, total}, nil
}

// characters returns the bounds of a part of about limit bytes that begins and ends between characters. inside says
// that data may begin within a character. ok is false if the part is not UTF-8.
func characters(data []byte, limit int, inside bool) (from, to int, ok bool) {
	for inside && from < min(len(data), utf8.UTFMax-1) && !utf8.RuneStart(data[from]) {
		from++
	}
	to = min(from+limit, len(data))
	for to > from && to < len(data) && !utf8.RuneStart(data[to]) {
		to--
	}
	if to == from {
		_, size := utf8.DecodeRune(data[from:])
		to += size
	}
	return from, to, utf8.Valid(data[from:to])
}
