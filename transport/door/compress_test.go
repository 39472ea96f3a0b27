package door_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed889630bf/lastword/transport/door"
)

// counted counts what is read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

// "At most 60 bytes a token on the wire", each frame at once; a stream that was cut has no end.
func TestCompressedStream(t *testing.T) {
	const tokens = 500
	frames := make(chan string)
	server := httptest.NewServer(door.Compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for frame := range frames {
			_, _ = io.WriteString(w, frame)
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
	})))
	defer server.Close()
	for _, path := range []string{"/cut", "/whole"} {
		frames = make(chan string)
		request, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+path, nil)
		must(t, err)
		request.Header.Set("Accept-Encoding", "gzip")
		go func() { frames <- "retry: 1000\n\n" }()
		response, err := http.DefaultTransport.RoundTrip(request)
		must(t, err)
		wire := &counted{Reader: response.Body}
		opened, err := gzip.NewReader(wire)
		must(t, err)
		lines := bufio.NewReader(opened)
		read := func(frame string) {
			t.Helper()
			got := make([]byte, len(frame))
			if _, err := io.ReadFull(lines, got); err != nil || string(got) != frame {
				t.Fatalf("got %q, %v; want %q", got, err, frame)
			}
		}
		read("retry: 1000\n\n")
		for i := range tokens {
			frame := fmt.Sprintf("id: %d\nevent: text.delta\ndata: {\"run_id\":\"r_4kqxv2m5zj7ay3hd6tnwbfeu2c\",\"seq\":%[1]d,\"ts\":\"2026-11-20T20:00:%02d.%06dZ\","+
				"\"type\":\"text.delta\",\"payload\":{\"stream\":\"answer\",\"task\":\"prompt\",\"index\":%d,\"offset\":%d,\"text\":\"w%d \"}}\n\n", i+3, i/100, i*7919%1000000, i, i*6, i*31%977)
			frames <- frame
			read(frame) // before the next is written
		}
		if wire.n > 60*tokens {
			t.Errorf("%d bytes for %d tokens", wire.n, tokens)
		}
		close(frames)
		if rest, err := io.ReadAll(lines); (err == nil) != (path == "/whole") || len(rest) > 0 {
			t.Errorf("%s ends with %q and %v", path, rest, err)
		}
		response.Body.Close()
	}
}
