package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A client that sends what is refused, and reads nothing, has no end of memory kept for the refusals.
func TestNoticesAreBounded(t *testing.T) {
	w := newLineWriter(io.Discard) // nobody writes
	line := []byte(strings.Repeat("x", 1000))
	for range 2 * maxNotices / len(line) {
		w.appendNow(line)
	}
	if got := len(w.buffer); got < maxNotices || got > maxNotices+len(line) {
		t.Errorf("%d bytes wait for a client, and may be %d", got, maxNotices)
	}
}

// A line may have as many bytes as the limit says, without its end.
func TestLinesHaveALimit(t *testing.T) {
	for text, want := range map[string]error{"1234": nil, "12345": errLong} {
		in := newLineReader(strings.NewReader(text+"\n{}\n"), 4)
		if _, err := in.next(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		if line, err := in.next(); string(line) != "{}\n" || err != nil {
			t.Errorf("the next line is %q, %v", line, err)
		}
	}
}
