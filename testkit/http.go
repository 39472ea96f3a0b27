package testkit

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ServeURL serves the handler until the test ends, and returns its URL.
func ServeURL(t testing.TB, handler http.Handler) string {
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// OpenURL sends a request with header fields, as name and value in turns. The caller closes the answer's body.
func OpenURL(ctx context.Context, t testing.TB, method, url, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	return answer
}

// ReadURL is OpenURL for a caller that reads the whole answer. The error says why the answer broke off.
func ReadURL(t testing.TB, method, url, body string, header ...string) (status int, text string, err error) {
	t.Helper()
	answer := OpenURL(t.Context(), t, method, url, body, header...)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(data), err
}

// SendLines sends the raw lines of a request, so that no client corrects them.
func SendLines(t testing.TB, addr string, lines ...string) (answer *http.Response, body string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	must(t, err)
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return ReadAnswer(t, c)
}

// ReadAnswer reads the whole answer to a request.
func ReadAnswer(t testing.TB, from io.Reader) (answer *http.Response, body string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(from), nil)
	must(t, err)
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer, string(text)
}
