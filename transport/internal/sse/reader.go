package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Event is one event. Data is valid until the next call of Next.
type Event struct {
	Name string // value of the event field; "" without one
	Data []byte // the data lines, joined by newlines
}

// ErrCut means that the stream ended within an event. Only a lenient Reader returns it; the standard says to ignore
// such an event.
var ErrCut = errors.New("the stream ended inside an event")

// TooLongError means that an event was longer than the Reader's limit.
type TooLongError struct{ Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("an event is longer than %d bytes", e.Limit)
}

const (
	defaultLimit = 8 << 20 // bytes of a line, and of an event
	startSize    = 4 << 10 // size of the first buffer
)

// Reader parses the events of a stream. It returns an event without waiting for the bytes after it. It must be used by
// one goroutine at a time.
type Reader struct {
	// Limit is the maximum number of bytes of a line and of an event's data; 0 means 8 MiB.
	Limit int
	// Lenient accepts more than the standard; see the package comment.
	Lenient bool

	source io.Reader
	err    error // error of the source; returned after everything that was read before it
	lines  int   // number of lines so far

	buffer  []byte
	from    int  // start of the next line in buffer
	looked  int  // buffer[from:looked] has no line end
	afterCR bool // the last line ended with CR, so a following LF belongs to it

	name    string
	data    []byte  // data of the event so far
	pending bool    // a part of the next event has arrived
	json    balance // finds the end of JSON that some servers break into lines
}

// NewReader returns a Reader for standard events.
func NewReader(source io.Reader) *Reader { return &Reader{source: source} }

// Next returns the next event, or the reason for the stream's end: io.EOF, the source's error, ErrCut or a
// *TooLongError.
func (r *Reader) Next() (Event, error) {
	for {
		line, ended, err := r.line()
		switch {
		case err != nil:
			return Event{}, err
		case len(line) > r.limit():
			return Event{}, r.tooLong()
		case !ended && !r.Lenient:
			continue
		}
		if r.lines++; r.lines == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // the byte order mark
		}
		event, ok, err := r.take(line, ended)
		if ok || err != nil {
			return event, err
		}
		r.pending = r.pending || !ended && len(line) > 0 && line[0] != ':'
	}
}

// line returns the next line. ended is false for a last line without a newline.
func (r *Reader) line() (line []byte, ended bool, err error) {
	for {
		if line, ok := r.cut(); ok {
			return line, true, nil
		}
		if r.err != nil {
			return r.rest()
		}
		if len(r.buffer)-r.from > r.limit() {
			return nil, false, r.tooLong()
		}
		r.fill()
	}
}

// cut removes a line from the buffer. A line ends at its CR; an LF after that is skipped with the next line.
func (r *Reader) cut() ([]byte, bool) {
	if r.afterCR && r.from < len(r.buffer) {
		r.afterCR = false
		if r.buffer[r.from] == '\n' {
			r.from++
			r.looked = r.from
		}
	}
	if line, ok := r.terminator(); ok {
		return line, true
	}
	open := r.buffer[r.looked:]
	end := bytes.IndexByte(open, '\n')
	if end < 0 {
		end = len(open)
	}
	if cr := bytes.IndexByte(open[:end], '\r'); cr >= 0 {
		end, r.afterCR = cr, true
	}
	if end == len(open) {
		r.looked = len(r.buffer)
		return nil, false
	}
	line := r.buffer[r.from : r.looked+end]
	r.from += len(line) + 1
	r.looked = r.from
	return line, true
}

// terminator removes [DONE] from the buffer as soon as it is there, because some servers neither end that line nor
// close the connection. Whatever follows is a separate line, independent of how the stream is chunked.
func (r *Reader) terminator() ([]byte, bool) {
	if !r.Lenient || r.pending {
		return nil, false
	}
	rest := r.buffer[r.from:]
	if r.lines == 0 {
		rest = bytes.TrimPrefix(rest, []byte("\xef\xbb\xbf"))
	}
	rest, ok := bytes.CutPrefix(rest, []byte("data:"))
	if !ok {
		return nil, false
	}
	if rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte("[DONE]")); !ok {
		return nil, false
	}
	line := r.buffer[r.from : len(r.buffer)-len(rest)]
	r.from += len(line)
	r.looked = r.from
	return line, true
}

// rest returns what is left at the end of the source: the last line has no line feed.
func (r *Reader) rest() ([]byte, bool, error) {
	if r.from == len(r.buffer) {
		if r.err == io.EOF && r.pending && r.Lenient {
			r.err = ErrCut
		}
		return nil, false, r.err
	}
	line := r.buffer[r.from:]
	r.from = len(r.buffer)
	r.looked = r.from
	return line, false, nil
}

// fill reads more. It moves the unread rest to the front and doubles a buffer that is full.
func (r *Reader) fill() {
	if r.from > 0 {
		n := copy(r.buffer, r.buffer[r.from:])
		r.buffer = r.buffer[:n]
		r.looked -= r.from
		r.from = 0
	}
	if cap(r.buffer) == len(r.buffer) {
		r.buffer = slices.Grow(r.buffer, max(startSize, len(r.buffer)))
	}
	n, err := r.source.Read(r.buffer[len(r.buffer):cap(r.buffer)])
	r.buffer = r.buffer[:len(r.buffer)+n]
	r.err = err
}

// tooLong ends the stream.
func (r *Reader) tooLong() error {
	r.err = &TooLongError{r.limit()}
	r.buffer, r.from, r.looked = nil, 0, 0
	return r.err
}

func (r *Reader) limit() int {
	if r.Limit > 0 {
		return r.Limit
	}
	return defaultLimit
}

// take handles a line. It reports whether the line completes an event.
func (r *Reader) take(line []byte, ended bool) (Event, bool, error) {
	if len(line) == 0 { // the end of the event, if there was one
		pending := r.pending
		return r.give(r.data), pending, nil
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case string(field) == "data":
		return r.add(value, ended)
	case string(field) == "event":
		r.name = string(value)
	case len(field) == 0, string(field) == "id", string(field) == "retry", !r.Lenient:
	case string(field) == "error":
		r.name = "error"
		return r.add(value, ended)
	case string(field) == "proxy error": // llama.cpp's router writes this before it closes the stream
		r.name = "error"
		return r.add(line, ended || r.err == io.EOF)
	case line[0] == '{', r.json.json && r.json.depth > 0:
		return r.add(line, ended)
	}
	return Event{}, false, nil
}

// add adds a line of data. If the event has a single line, it is returned as a slice of the buffer.
func (r *Reader) add(value []byte, ended bool) (Event, bool, error) {
	if len(r.data)+len(value) > r.limit() {
		return Event{}, false, r.tooLong()
	}
	blankFollows := !r.afterCR && r.from < len(r.buffer) && r.buffer[r.from] == '\n'
	if !r.pending && ended && blankFollows {
		return r.give(value), true, nil
	}
	if r.Lenient {
		r.json.scan(value, !r.pending)
		// JSON is complete after its last brace or, without braces, at the end of the line.
		if whole := r.json.json && r.json.depth == 0 || !r.json.json && ended; whole && !r.pending {
			return r.give(value), true, nil
		} else if whole {
			return r.give(r.join(value)), true, nil
		}
	}
	r.data = r.join(value)
	r.pending = true
	return Event{}, false, nil
}

// join adds a data line to the event.
func (r *Reader) join(value []byte) []byte {
	if r.pending {
		r.data = append(r.data, '\n')
	}
	return append(r.data, value...)
}

// give returns the current event and starts a new one.
func (r *Reader) give(data []byte) Event {
	e := Event{r.name, data}
	r.name, r.data, r.pending, r.json = "", r.data[:0], false, balance{}
	return e
}

// balance finds the end of a JSON value by counting braces. It does not validate the JSON.
type balance struct {
	json    bool // the value begins like JSON
	depth   int  // open braces and brackets
	quoted  bool // within a string
	escaped bool // after a backslash
}

// scan counts the braces outside of strings. first marks the begin of a new value.
func (b *balance) scan(data []byte, first bool) {
	if text := bytes.TrimLeft(data, " \t"); first {
		*b = balance{json: len(text) > 0 && (text[0] == '{' || text[0] == '[')}
	}
	if !b.json {
		return
	}
	for _, c := range data {
		switch {
		case b.escaped:
			b.escaped = false
		case b.quoted:
			b.quoted, b.escaped = c != '"', c == '\\'
		case c == '"':
			b.quoted = true
		case c == '{', c == '[':
			b.depth++
		case c == '}', c == ']':
			b.depth--
		}
	}
	b.depth = max(b.depth, 0)
}
