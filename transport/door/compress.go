package door

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
)

// minCompressed is the minimum size, in bytes, of a response other than a stream that is worth compressing.
const minCompressed = 1 << 10

// compressors is a pool of *gzip.Writer.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// Compressed compresses what handler answers to requests that accept gzip: JSON and texts over 1 KiB, and streams of
// events, each Write at once. The handler's answers must hold no secrets, such as tokens or keys: their size would give
// them away.
func Compressed(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		// Ranges may not be compressed: they count the bytes of the file itself.
		if r.Method != http.MethodHead && r.Header.Get("Range") == "" && r.Header.Get("Upgrade") == "" && acceptsGzip(r.Header.Values("Accept-Encoding")) {
			c := &compressor{ResponseWriter: w}
			handler.ServeHTTP(c, r)
			c.close() // not after a panic: a response that was cut has no end
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// acceptsGzip reports whether the Accept-Encoding fields allow gzip.
func acceptsGzip(fields []string) bool {
	for one := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		coding, weight, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="), 64)
		return err != nil || q > 0
	}
	return false
}

// compressor compresses a response. It decides by Content-Length or, without one, by the size of the first Write. It
// belongs to one goroutine at a time.
type compressor struct {
	http.ResponseWriter
	status int // held back until the first Write; 0 if it was sent
	sent   bool
	gzip   *gzip.Writer
	stream *streamGzip
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader sends the header, or holds it back if the body may be compressed.
func (c *compressor) WriteHeader(status int) {
	if c.sent || c.status != 0 {
		return
	}
	kind, _, _ := strings.Cut(c.Header().Get("Content-Type"), ";")
	stream := kind == "text/event-stream" || kind == "application/x-ndjson"
	switch {
	case status >= http.StatusOK && stream && c.Header().Get("Content-Encoding") == "":
		c.Header().Set("Content-Encoding", "gzip")
		c.stream = &streamGzip{to: c.ResponseWriter}
	case status >= http.StatusOK && (strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "+json")):
		c.status = status
		return
	}
	c.sent = status >= http.StatusOK
	c.ResponseWriter.WriteHeader(status)
}

// Write sends the header if it was held back, and writes.
func (c *compressor) Write(data []byte) (int, error) {
	if !c.sent {
		c.WriteHeader(http.StatusOK)
		c.release(len(data))
	}
	switch {
	case c.stream != nil:
		return c.stream.Write(data)
	case c.gzip != nil:
		return c.gzip.Write(data)
	}
	return c.ResponseWriter.Write(data)
}

// release sends a header that was held back. size is the size of the body if there is no Content-Length.
func (c *compressor) release(size int) {
	if c.status == 0 {
		return
	}
	h := c.Header()
	if length, err := strconv.Atoi(h.Get("Content-Length")); err == nil {
		size = length
	}
	if size >= minCompressed && h.Get("Content-Encoding") == "" {
		h.Set("Content-Encoding", "gzip")
		h.Del("Content-Length")
		h.Del("Accept-Ranges")
		if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
			h.Set("ETag", "W/"+tag) // a weak ETag: same content, other bytes
		}
		c.gzip = compressors.Get().(*gzip.Writer)
		c.gzip.Reset(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(c.status)
	c.status, c.sent = 0, true
}

// close finishes the response.
func (c *compressor) close() {
	c.release(0)
	switch {
	case c.stream != nil:
		c.stream.close()
	case c.gzip != nil:
		_ = c.gzip.Close() // a client that left needs no end
		compressors.Put(c.gzip)
		c.gzip = nil
	}
}

// gzipWindow is how many bytes a stream remembers between two writes. A frame resembles the one before it.
const gzipWindow = 1 << 10

// streamGzip compresses a stream so that each Write can be read at once. Between two writes it holds only what the next
// one may refer to, because most streams are idle; compress/gzip would hold 800 KB.
type streamGzip struct {
	to     http.ResponseWriter
	window []byte // up to gzipWindow bytes
	sum    uint32
	size   uint32
}

// packed is a pool of *bytes.Buffer.
var packed = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write sends data.
func (g *streamGzip) Write(data []byte) (int, error) {
	if err := g.send(data, false); err != nil {
		return 0, err
	}
	return len(data), nil
}

// close sends the end of the stream.
func (g *streamGzip) close() { _ = g.send(nil, true) } // a client that left needs no end

// send sends data in its own block.
func (g *streamGzip) send(data []byte, end bool) error {
	b := packed.Get().(*bytes.Buffer)
	defer packed.Put(b)
	b.Reset()
	if g.window == nil {
		b.WriteString("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff") // RFC 1952, section 2.3: gzip, deflate, no flags, no time, unknown system
		g.window = make([]byte, 0, gzipWindow)
	}
	if err := flate.StatelessDeflate(b, data, end, g.window); err != nil {
		return err
	}
	g.sum, g.size = crc32.Update(g.sum, crc32.IEEETable, data), g.size+uint32(len(data))
	if end {
		b.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, g.sum), g.size))
	}
	g.remember(data)
	_, err := g.to.Write(b.Bytes())
	return err
}

// remember keeps the last gzipWindow bytes.
func (g *streamGzip) remember(data []byte) {
	data = data[max(0, len(data)-gzipWindow):]
	kept := g.window[max(0, len(g.window)+len(data)-gzipWindow):]
	g.window = append(g.window[:copy(g.window, kept)], data...)
}
