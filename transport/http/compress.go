package http

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minCompressed is the least size of an answer that is worth compressing, in bytes.
const minCompressed = 1 << 10

var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compressible reports whether the answer to the request may be compressed. A range is one of the file's own bytes.
func compressible(r *http.Request) bool {
	return r.Method != http.MethodHead && r.Header.Get("Range") == "" && r.Header.Get("Upgrade") == "" &&
		acceptsGzip(r.Header.Values("Accept-Encoding"))
}

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

// compressor compresses JSON and texts. It passes streams on as they are: compression would delay their events. An
// answer without a Content-Length is judged by its first Write.
type compressor struct {
	http.ResponseWriter
	status int // held back until the first Write; 0 if it is sent
	sent   bool
	gzip   *gzip.Writer
}

// Unwrap gives http.ResponseController the connection.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader sends the header, or holds it back where the body may be compressed.
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

// Write sends the header where it was held back, and writes.
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

// release sends the header that was held back. size is that of the body, if no Content-Length says it.
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
			h.Set("ETag", "W/"+tag) // the same content in other bytes
		}
		c.gzip = compressors.Get().(*gzip.Writer)
		c.gzip.Reset(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(c.status)
	c.status, c.sent = 0, true
}

// close ends the answer.
func (c *compressor) close() {
	c.release(0)
	if c.gzip != nil {
		_ = c.gzip.Close() // a client that left misses nothing
		compressors.Put(c.gzip)
		c.gzip = nil
	}
}
