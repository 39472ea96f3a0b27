package sse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed889630bf/lastword/internal/fatal"
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
	var events []struct {
		Name, Text       string
		Standard, Likely []string // Likely is what a lenient Reader gives; nil for the same
		Cut              bool
	}
	data, err := os.ReadFile("testdata/events.json")
	fatal.IfError(t, errors.Join(err, json.Unmarshal(data, &events)))
	for _, c := range events {
		want := c.Standard
		if c.Likely != nil {
			want = c.Likely
		}
		for n := 1; n <= max(len(c.Text), 1); n++ {
			if got, err := read(&chunked{c.Text, n}, false, 0); !slices.Equal(got, c.Standard) || err != io.EOF {
				t.Errorf("%s, by %d: %q, %v; want %q", c.Name, n, got, err, c.Standard)
			}
			got, err := read(&chunked{c.Text, n}, true, 0)
			if end := map[bool]error{false: io.EOF, true: sse.ErrCut}[c.Cut]; !slices.Equal(got, want) || err != end {
				t.Errorf("%s, lenient, by %d: %q, %v; want %q, %v", c.Name, n, got, err, want, end)
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
