package messages

import "sync"

// text is an append-only string that successive States share. Appending to the newest one works in place, so n deltas
// cost O(n); appending to an older one copies. The bytes of a text never change. It is safe for concurrent use.
type text struct {
	buf *textBuffer
	n   int
}

// textBuffer is the shared memory. bytes[:n] of every text stay as they are; mu guards the slice header.
type textBuffer struct {
	mu    sync.Mutex
	bytes []byte
}

func newText(s string) text { return text{}.append(s) }

// append returns the text followed by s. It works in place if this is the newest text of the buffer.
func (t text) append(s string) text {
	if s == "" {
		return t
	}
	if t.buf == nil {
		t.buf = &textBuffer{}
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	n := t.n + len(s)
	if len(t.buf.bytes) == t.n {
		t.buf.bytes = append(t.buf.bytes, s...)
		return text{t.buf, n}
	}
	return text{&textBuffer{bytes: append(append(make([]byte, 0, n), t.buf.bytes[:t.n]...), s...)}, n}
}

// cut returns the first n bytes.
func (t text) cut(n int) text {
	if n == 0 {
		return text{}
	}
	return text{t.buf, n}
}

// bytes returns the text's own memory, which never changes.
func (t text) bytes() []byte {
	if t.buf == nil {
		return nil
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	return t.buf.bytes[:t.n]
}
