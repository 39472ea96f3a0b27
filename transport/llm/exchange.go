package llm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/internal/sse"
)

// exchange is the RoundTripper of one attempt: it amends go-openai's request, keeps the response from it, and collects
// the evidence. It is used by one goroutine.
type exchange struct {
	client    *Client
	amendment amendment
	watch     *watchdog
	ollama    bool // the request uses Ollama's native route
	loaded    int  // the context that Ollama has loaded for the model, in tokens

	sent     bool // the request was sent
	evidence model.Evidence
	header   http.Header
	body     *body       // nil without an answer
	exceeded *limitError // the limit that ended the exchange, or nil
}

// limitError says that one of the Client's own limits has ended the call.
type limitError struct{ message string }

func (o *limitError) Error() string { return o.message }

// RoundTrip sends the request once. It reads only a limited part of an error response.
func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	request, err := x.amend(r)
	if err != nil {
		return nil, err
	}
	x.sent = true
	x.watch.wait()
	response, err := x.client.transport.RoundTrip(request)
	x.watch.waited(1)
	if err != nil {
		return nil, err
	}
	x.evidence.Status, x.header = response.StatusCode, response.Header
	if response.StatusCode < 200 || response.StatusCode > 299 {
		x.rejected(response)
		return response, nil
	}
	x.body = x.read(response)
	response.Body = x.body
	return response, nil
}

// amend builds the request that is sent: it applies the amendment, translates for Ollama and removes secrets.
func (x *exchange) amend(r *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	if body, err = x.amendment.apply(body); err != nil {
		return nil, err
	}
	if x.ollama {
		if body, err = toOllama(body, x.loaded); err != nil {
			return nil, err
		}
	}
	body = x.client.secrets.Bytes(x.amendment.long.Bytes(body))
	if most := x.client.limits.RequestBytes; int64(len(body)) > most {
		x.exceeded = &limitError{"the request is larger than " + words.Limit(most) + "; send less"}
		return nil, x.exceeded
	}
	request := r.Clone(r.Context())
	if x.ollama {
		request.URL = x.client.base.ResolveReference(&url.URL{Path: strings.TrimSuffix(x.client.base.Path, "/v1") + "/api/chat"})
	}
	request.ContentLength = int64(len(body))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	request.Body, _ = request.GetBody()
	request.Header.Del("Connection") // keep the connection alive, the default of HTTP/1.1
	request.Header.Set("User-Agent", "lastword")
	for name, value := range messages.TraceOf(r.Context()).Fields() {
		request.Header.Set(name, value)
	}
	return request, nil
}

// rejected reads the body of a response with a status other than 2xx.
func (x *exchange) rejected(response *http.Response) {
	x.watch.wait()
	text, err := io.ReadAll(io.LimitReader(response.Body, errorBytes))
	x.watch.waited(len(text))
	drain(response.Body)
	response.Body.Close()
	response.Body = http.NoBody
	failure := x.client.failureIn(text)
	switch location, _ := response.Location(); {
	case location != nil:
		failure = &model.Failure{Message: "the server redirects to " + location.Scheme + "://" + location.Host +
			", and redirects are not followed; set that address as the base URL"}
	case len(bytes.TrimSpace(text)) == 0:
		failure.Message = http.StatusText(response.StatusCode)
	}
	if err != nil {
		x.evidence.Read = err.Error()
	}
	failure.RetryAfterMS = dial.RetryAfter(response.Header).Milliseconds()
	failure.RequestID = excerpt(cmp.Or(response.Header.Get("X-Request-Id"), response.Header.Get("Request-Id")))
	x.evidence.Failure = failure
}

// read returns the body of a successful response. The caller reads it as events.
func (x *exchange) read(response *http.Response) *body {
	framed := response.ProtoMajor >= 2 || response.ContentLength >= 0 || slices.Contains(response.TransferEncoding, "chunked")
	b := &body{exchange: x, source: response.Body, framed: framed}
	b.stream = strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	if coding := response.Header.Get("Content-Encoding"); coding != "" {
		x.evidence.Failure = &model.Failure{Code: "encoding", Message: "the server compressed the answer without being asked: " + coding}
	}
	b.events = sse.NewReader(b)
	b.events.Lenient, b.events.Limit = true, x.client.limits.FrameBytes
	return b
}

// edge is the RoundTripper of all requests to a server.
//
// A server may close an idle connection just when a request is written to it. Such a request gets not a single byte of
// a response. edge sends it again on a new connection, because the server has not failed.
//
// edge asks for uncompressed bodies, because compression delays tokens. It decompresses gzip if a server sends that
// anyway. Limits apply to the decompressed text.
type edge struct{ http.RoundTripper }

// mostStale is the maximum number of repetitions. More than one may be needed, because other calls may return closed
// connections meanwhile.
const mostStale = 3

// RoundTrip passes the request on.
func (e edge) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity")
	response, stale, err := e.once(r)
	for n := 0; stale && n < mostStale && r.Context().Err() == nil; n++ {
		e.CloseIdleConnections()
		response, stale, err = e.once(r)
	}
	if err != nil {
		return nil, err
	}
	switch coding := encodings(response.Header); coding {
	case "gzip", "x-gzip":
		response.Header.Del("Content-Encoding")
		response.Body = &unzipped{body: response.Body}
	default:
		response.Header.Set("Content-Encoding", coding)
	}
	return response, nil
}

// once sends the request. stale says that a reused connection ended without a single byte of a response.
func (e edge) once(r *http.Request) (response *http.Response, stale bool, err error) {
	if r.GetBody != nil {
		if r.Body, err = r.GetBody(); err != nil {
			return nil, false, err
		}
	}
	var reused, answered atomic.Bool
	trace := httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(true) },
		GotConn: func(c httptrace.GotConnInfo) { reused.Store(c.Reused) }}
	response, err = e.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &trace)))
	return response, err != nil && reused.Load() && !answered.Load(), err
}

// encodings returns the content encodings of a body, without those names that proxies use for "none".
func encodings(h http.Header) string {
	list := strings.Split(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), ",")
	for i, coding := range list {
		list[i] = strings.TrimSpace(coding)
	}
	return strings.Join(slices.DeleteFunc(list, func(coding string) bool {
		return slices.Contains([]string{"", "identity", "none", "utf-8"}, coding)
	}), ", ")
}

// CloseIdleConnections closes the idle connections of the underlying transport.
func (e edge) CloseIdleConnections() {
	(&http.Client{Transport: e.RoundTripper}).CloseIdleConnections()
}

// unzipped decompresses a body. The first Read reads the gzip header, and may block.
type unzipped struct {
	body   io.ReadCloser
	reader *gzip.Reader
	err    error
}

// Read returns io.ErrUnexpectedEOF if the compressed body is incomplete, and io.EOF if it is empty.
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
