package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

// tap looks on while a client calls.
type tap struct {
	next http.RoundTripper

	mu  sync.Mutex
	all []*wire // in the order of the requests
}

// wire is one request as the wire had it. It is complete when the call has returned and its client has settled.
type wire struct {
	status int
	header http.Header
	reused bool // the connection had served before
	framed bool // the protocol tells the end of the body from that of the connection
	sent   time.Time
	body   []byte // its first MiB
	marks  []mark // the reads of the body
	ended  time.Time
}

// mark is where and when a read of the body ended.
type mark struct {
	upTo int
	at   time.Time
}

type wireKey struct{}

// watching has the request of the context's call noted.
func watching(ctx context.Context) (context.Context, *wire) {
	w := &wire{}
	return context.WithValue(ctx, wireKey{}, w), w
}

// RoundTrip passes the request on.
func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ok := r.Context().Value(wireKey{}).(*wire)
	if !ok {
		return t.next.RoundTrip(r)
	}
	t.mu.Lock()
	t.all = append(t.all, w)
	t.mu.Unlock()
	w.sent = time.Now()
	trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { w.reused = i.Reused }}
	response, err := t.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	w.ended = time.Now()
	if err != nil {
		return nil, err
	}
	w.status, w.header = response.StatusCode, response.Header
	w.framed = response.ProtoMajor >= 2 || response.ContentLength >= 0 ||
		slices.Contains(response.TransferEncoding, "chunked")
	response.Body = &tapped{response.Body, w}
	return response, nil
}

func (t *tap) close() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// wires are those so far.
func (t *tap) wires() []*wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]*wire(nil), t.all...)
}

type tapped struct {
	io.ReadCloser
	wire *wire
}

const wireBytes = 1 << 20

// Read notes what it reads.
func (b *tapped) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	w := b.wire
	w.ended = time.Now()
	if room := wireBytes - len(w.body); n > 0 && room > 0 {
		w.body = append(w.body, p[:min(n, room)]...)
		w.marks = append(w.marks, mark{len(w.body), w.ended})
	}
	return n, err
}

// silence is the longest time in which nothing came. The wait for the header is one, too.
func (w *wire) silence() time.Duration {
	last, longest := w.sent, time.Duration(0)
	for _, m := range w.marks {
		longest = max(longest, m.at.Sub(last))
		last = m.at
	}
	return max(longest, w.ended.Sub(last))
}

// lines gives the lines of the body with the number of the read that brought their end.
func (w *wire) lines(give func(line string, read int)) {
	read, end := 0, 0
	for line := range bytes.Lines(w.body) {
		end += len(line)
		for read < len(w.marks)-1 && w.marks[read].upTo < end {
			read++
		}
		give(strings.TrimRight(string(line), "\r\n"), read)
	}
}

// begun is when the first piece of the answer came; zero where none did.
func (w *wire) begun() time.Time {
	if list := w.deltas(); len(list) > 0 {
		return w.marks[list[0].read].at
	}
	return time.Time{}
}

func (w *wire) comments() (n int) {
	w.lines(func(line string, _ int) {
		if strings.HasPrefix(line, ":") {
			n++
		}
	})
	return n
}

// delta is what a frame adds, by the names that the server has for it.
type delta struct {
	read      int
	fields    map[string]json.RawMessage
	content   string
	reasoning bool
}

// deltas are those of the body that add something.
func (w *wire) deltas() (list []delta) {
	w.lines(func(line string, read int) {
		data, ok := strings.CutPrefix(line, "data:")
		var frame struct {
			Choices []struct {
				Delta map[string]json.RawMessage `json:"delta"`
			} `json:"choices"`
		}
		if !ok || json.Unmarshal([]byte(data), &frame) != nil || len(frame.Choices) == 0 {
			return
		}
		d := delta{read: read, fields: frame.Choices[0].Delta}
		_ = json.Unmarshal(d.fields["content"], &d.content)
		d.reasoning = d.field() != ""
		if d.content != "" || d.reasoning || len(d.fields["tool_calls"]) > len("[]") {
			list = append(list, d)
		}
	})
	return list
}

// field is the server's own for thoughts, "" where the frame has none.
func (d delta) field() string {
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
		var text string
		raw := d.fields[name]
		if json.Unmarshal(raw, &text) == nil && text != "" || len(raw) > 2 && raw[0] == '[' {
			return name
		}
	}
	return ""
}
