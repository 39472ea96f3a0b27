package http

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minCompressed is the minimum size, in bytes, of a response that is worth compressing.
const minCompressed = 1 << 10

// compressors is a pool of *gzip.Writer.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

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

// compressor compresses JSON and text responses. It does not compress streams, because that would delay their events.
// It decides by Content-Length or, without one, by the size of the first Write. It belongs to the goroutine of the
// handler.
type compressor struct {
	http.ResponseWriter
	status int // held back until the first Write; 0 if it was sent
	sent   bool
	gzip   *gzip.Writer
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader sends the header, or holds it back if the body may be compressed.
func (c *compressor) WriteHeader(status int) {
	if c.sent || c.status != 0 {
		return
	}
	kind, _, _ := strings.Cut(c.Header().Get("Content-Type"), ";")
	text := strings.HasPrefix(kind, "text/") && kind != string(formSSE)
	if status < http.StatusOK || !text && kind != string(formJSON) && !strings.HasSuffix(kind, "+json") {
		c.sent = status >= http.StatusOK
		c.ResponseWriter.WriteHeader(status)
		return
	}
	c.status = status
}

// Write sends the header if it was held back, and writes.
func (c *compressor) Write(data []byte) (int, error) {
	if !c.sent {
		c.WriteHeader(http.StatusOK)
		c.release(len(data))
	}
	if c.gzip != nil {
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
	if c.gzip != nil {
		_ = c.gzip.Close() // a client that left needs no end
		compressors.Put(c.gzip)
		c.gzip = nil
	}
}
