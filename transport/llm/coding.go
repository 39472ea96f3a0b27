package llm

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
)

// identity is a RoundTripper that asks for bodies as they are, for compression holds tokens back, and reads those of
// servers that send gzip all the same. Limits are on what is read, which is the text.
type identity struct{ http.RoundTripper }

// RoundTrip passes the request on.
func (i identity) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity")
	response, err := i.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch coding := codings(response.Header); coding {
	case "gzip", "x-gzip":
		response.Header.Del("Content-Encoding")
		response.Body = &unzipped{body: response.Body}
	default:
		response.Header.Set("Content-Encoding", coding)
	}
	return response, nil
}

// codings are those of a body, without the words by which proxies say that there is none.
func codings(h http.Header) string {
	list := strings.Split(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), ",")
	for i, coding := range list {
		list[i] = strings.TrimSpace(coding)
	}
	return strings.Join(slices.DeleteFunc(list, func(coding string) bool {
		return slices.Contains([]string{"", "identity", "none", "utf-8"}, coding)
	}), ", ")
}

// CloseIdleConnections closes those of the transport below.
func (i identity) CloseIdleConnections() {
	if t, ok := i.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// unzipped is a body that came as gzip. Its header is read with the first Read, which may wait.
type unzipped struct {
	body   io.ReadCloser
	reader *gzip.Reader
	err    error
}

// Read reads text. A body that is cut inside gzip ends in io.ErrUnexpectedEOF, an empty one in io.EOF.
func (u *unzipped) Read(p []byte) (int, error) {
	if u.reader == nil && u.err == nil {
		u.reader, u.err = gzip.NewReader(u.body)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.reader.Read(p)
}

// Close closes the body.
func (u *unzipped) Close() error { return u.body.Close() }
