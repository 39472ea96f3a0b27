package messages

import "sync"

// text is an append-only string that successive States share: extending the newest one appends in place, so that n
// deltas cost O(n); extending an older one copies. The bytes of a text never change.
type text struct {
	buf *textBuffer
	n   int
}

type textBuffer struct {
	mu    sync.Mutex
	bytes []byte
}

func newText(s string) text { return text{}.append(s) }

func (t text) append(s string) text {
	if s == "" {
		return t
	}
	if t.buf == nil {
		return text{&textBuffer{bytes: []byte(s)}, len(s)}
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	if len(t.buf.bytes) == t.n {
		t.buf.bytes = append(t.buf.bytes, s...)
		return text{t.buf, t.n + len(s)}
	}
	grown := make([]byte, 0, t.n+len(s))
	grown = append(append(grown, t.buf.bytes[:t.n]...), s...)
	return text{&textBuffer{bytes: grown}, len(grown)}
}

// cut returns the first n bytes.
func (t text) cut(n int) text {
	if n == 0 {
		return text{}
	}
	return text{t.buf, n}
}

func (t text) len() int { return t.n }

func (t text) String() string { return t.slice(0) }

// is reports whether the text is s.
func (t text) is(s string) bool {
	if t.buf == nil {
		return s == ""
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	return string(t.buf.bytes[:t.n]) == s
}

// slice returns the text from the offset on.
func (t text) slice(offset int) string {
	if t.buf == nil {
		return ""
	}
	t.buf.mu.Lock()
	defer t.buf.mu.Unlock()
	return string(t.buf.bytes[offset:t.n])
}
