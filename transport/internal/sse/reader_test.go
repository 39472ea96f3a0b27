package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed889630bf/lastword/transport/internal/sse"
)

// chunked gives the text in pieces of n bytes.
type chunked struct {
	text string
	n    int
}

func (c *chunked) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	n := copy(p, c.text[:min(c.n, len(c.text))])
	c.text = c.text[n:]
	return n, nil
}

// read gives the events as "name|data" and what ended them.
func read(source io.Reader, lenient bool, limit int) (events []string, end error) {
	r := sse.NewReader(source)
	r.Lenient, r.Limit = lenient, limit
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e.Name+"|"+string(e.Data))
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, text       string
		standard, likely []string // likely is what a lenient Reader gives; nil for the same
		cut              bool
	}{
		{"LF", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}, nil, false},
		{"CRLF", "data: a\r\n\r\ndata: {}\r\n\r\n", []string{"|a", "|{}"}, nil, false},
		{"CR", "data: a\r\rdata: {}\r\r", []string{"|a", "|{}"}, nil, false},
		{"mixed ends", "data: {\r\ndata: }\r\r\ndata: b\n\r\n", []string{"|{\n}", "|b"}, nil, false},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}, nil, false},
		{"byte order mark later", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"|a"}, nil, false},
		{"name", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}, nil, false},
		{"name without data", "event: x\n\ndata: b\n\n", []string{"|b"}, nil, false},
		{"comments and other fields", ": c\nid: 1\nretry: 5\nfoo: bar\nnothing\ndata: a\n\n: d\n\n", []string{"|a"}, nil, false},
		{"no space, two spaces", "data:a\n\ndata:  b\n\n", []string{"|a", "| b"}, nil, false},
		{"no colon", "data\n\n", []string{"|"}, nil, false},
		{"JSON over lines", "data: {\"a\":\ndata: 1}\n\n", []string{"|{\"a\":\n1}"}, nil, false},
		{"braces in strings", "data: {\"a\":\"}\\\"}\"}\n\n", []string{`|{"a":"}\"}"}`}, nil, false},
		{"no blank line", "data: {\"a\":1}\ndata: {}\n\n", []string{"|{\"a\":1}\n{}"}, []string{`|{"a":1}`, "|{}"}, false},
		{"text without blank line", "data: null\ndata: : ping\ndata: [DONE]\n\n", []string{"|null\n: ping\n[DONE]"},
			[]string{"|null", "|: ping", "|[DONE]"}, false},
		{"last line without end", "data: a\n\ndata: {}", []string{"|a"}, []string{"|a", "|{}"}, false},
		{"last event without blank line", "data: a\n\ndata: [DONE]\n", []string{"|a"}, []string{"|a", "|[DONE]"}, false},
		{"cut in JSON", "data: a\n\ndata: {\"a", []string{"|a"}, nil, true},
		{"cut in JSON behind a line", "data: {\"a\":\n", nil, nil, true},
		{"terminator without end", "data: a\n\ndata: [DONE]", []string{"|a"}, []string{"|a", "|[DONE]"}, false},
		{"terminator in JSON", "data: {\ndata: [DONE]", nil, nil, true},
		{"cut in text", "data: [DON", nil, nil, true},
		{"cut in text that is no JSON", "data: nul", nil, nil, true},
		{"cut in a field", "data: a\n\ndat", []string{"|a"}, nil, true},
		{"cut in a comment", "data: a\n\n: pi", []string{"|a"}, nil, false},
		{"bare JSON", "{\"a\":1}\n\n", nil, []string{`|{"a":1}`}, false},
		{"bare JSON, as people like it", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n", nil, []string{"|{\n  \"a\": {\n    \"b\": 1\n  }\n}"}, false},
		{"error field", "error: {\"a\":1}\n\n", nil, []string{`error|{"a":1}`}, false},
		{"nothing", "", nil, nil, false},
	} {
		want := c.standard
		if c.likely != nil {
			want = c.likely
		}
		for n := 1; n <= max(len(c.text), 1); n++ {
			if got, err := read(&chunked{c.text, n}, false, 0); !slices.Equal(got, c.standard) || err != io.EOF {
				t.Errorf("%s, by %d: %q, %v; want %q", c.name, n, got, err, c.standard)
			}
			got, err := read(&chunked{c.text, n}, true, 0)
			if end := map[bool]error{false: io.EOF, true: sse.ErrCut}[c.cut]; !slices.Equal(got, want) || err != end {
				t.Errorf("%s, lenient, by %d: %q, %v; want %q, %v", c.name, n, got, err, want, end)
			}
		}
	}
}

// An event is given as soon as it is there, even while the server is silent.
func TestEventsAreNotHeldBack(t *testing.T) {
	for _, text := range []string{"data: a\r", "data: {}\n", "data: [DONE]\n", "data: [DONE]", "data:[DONE]", "\xef\xbb\xbfdata: [DONE]", "data: a\n\n",
		"\n\n\ndata: {}\r\n"} {
		stop := errors.New("the reader asked for more")
		r := sse.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(stop)))
		r.Lenient = true
		if _, err := r.Next(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The source's error ends the stream after what came before it.
func TestSourceError(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"data: {}\n\ndata: {\"a", "data: {}", "data: {}\n\ndata: x\n"} {
		got, err := read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), true, 0)
		if len(got) == 0 || got[0] != "|{}" || err != broken {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, text := range []string{
		"data: " + long, "data: " + long + "\n\n", ": " + long + long,
		"data: {\n" + strings.Repeat("data: 0123456789\n", 20),
	} {
		for _, lenient := range []bool{false, true} {
			_, err := read(strings.NewReader(text), lenient, 100)
			if e, ok := errors.AsType[*sse.TooLongError](err); !ok || e.Limit != 100 {
				t.Errorf("%.40q: %v", text, err)
			}
		}
	}
	if got, err := read(strings.NewReader("data: "+long+"\n\n"), true, 300); len(got) != 1 || err != io.EOF {
		t.Errorf("below the limit: %d events, %v", len(got), err)
	}
}

// FuzzReader: events and end are the same however the stream is cut, and every byte of data is of the stream.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"data: a\n\ndata: {}\r\n\r\n", "\xef\xbb\xbfdata: {\ndata: }\r\r", "event: error\ndata: {\"a\":\"\\\"}\"}",
		"error: {}\n{\n}\n", "data: [DONE]", "data: [DONE]x\r\n\r\n", "\xef\xbb\xbfdata:[DONE]data: [DONE]", ": c\n\ndata\n\n\r\n",
	} {
		f.Add([]byte(text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		for _, lenient := range []bool{false, true} {
			whole, end := read(bytes.NewReader(text), lenient, 64)
			for _, size := range []int{1, int(n)%8 + 1, 61} {
				got, err := read(&chunked{string(text), size}, lenient, 64)
				if !slices.Equal(got, whole) || fmt.Sprint(err) != fmt.Sprint(end) {
					t.Fatalf("lenient %v, by %d: %q, %v; whole: %q, %v", lenient, size, got, err, whole, end)
				}
			}
			data := 0
			for _, e := range whole {
				data += len(e)
			}
			if data > len(text)+len(whole)+len("error")*len(whole) {
				t.Fatalf("%d bytes of events from %d of stream", data, len(text))
			}
		}
	})
}
