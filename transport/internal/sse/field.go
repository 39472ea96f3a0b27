package sse

import (
	"bytes"
	"io"
)

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
