package testkit

import (
	"context"
	"io"
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
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// ReadURL is OpenURL for one who reads the whole answer. The error says why it broke off.
func ReadURL(t testing.TB, method, url, body string, header ...string) (status int, text string, err error) {
	t.Helper()
	answer := OpenURL(t.Context(), t, method, url, body, header...)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(data), err
}
