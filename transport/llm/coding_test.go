package llm_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
)

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

// Issue: "Accept-Encoding: identity is sent, and gzip read all the same": answers, errors and lists.
func TestGzip(t *testing.T) {
	first := "data: " + delta(`"content":"Hello"`) + "\n\n"
	for name, c := range map[string]struct {
		coding  string
		status  int
		body    []byte
		text    string
		cause   messages.Code
		message string
	}{
		"answer":     {"GZIP", 200, zipped(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"listed":     {"identity, gzip,", 200, zipped(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"two lines":  {"identity; x-gzip", 200, zipped(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"not zipped": {"None", 200, []byte(first + "data: [DONE]\n\n"), "Hello", "", ""},
		"twice":      {"gzip, gzip", 200, zipped(first), "", messages.CauseProviderError, "gzip, gzip"},
		"cut":        {"GZIP", 200, zipped(first)[:len(zipped(first))-8], "Hello", messages.CauseTransportClosed, "transport closed"},
		"none":       {"GZIP", 200, []byte(first), "", messages.CauseProviderError, "marked as gzip"},
		"refusal":    {"GZIP", 400, zipped(`{"error":{"message":"boom"}}`), "", messages.CauseProviderError, "http 400: boom"},
		"long":       {"GZIP", 200, zipped(first + strings.Repeat(": x\n", 1<<20)), "Hello", messages.CauseLimitExceeded, "larger than 1 MiB"},
		"no stream":  {"GZIP", 200, zipped(`{"error":{"message":"boom"}}`), "", messages.CauseProviderError, "boom"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Values("Accept-Encoding"); len(got) != 1 || got[0] != "identity" {
				t.Errorf("%s: the request accepts %q", name, got)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header()["Content-Encoding"] = strings.Split(c.coding, "; ")
			w.WriteHeader(c.status)
			_, _ = w.Write(c.body)
		}))
		h := listen(t.Context(), client(t, llm.Config{BaseURL: s.URL, Proxy: "none", Retries: -1, Limits: llm.Limits{ResponseBytes: 1 << 20}}), hello())
		if h.text != c.text || h.end.Verdict.Cause != c.cause || !strings.Contains(h.end.Verdict.Message, c.message) {
			t.Errorf("%s: %s", name, h)
		}
		s.Close()
	}
}

// Tokens come as they are sent, though they are zipped.
func TestGzipStreams(t *testing.T) {
	heard := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, "data: "+delta(`"content":"Hello"`)+"\n\n")
		zip.Flush()
		w.(http.Flusher).Flush()
		select {
		case <-heard:
		case <-r.Context().Done():
			return
		}
		_, _ = io.WriteString(zip, "data: [DONE]\n\n")
		zip.Close()
	}))
	defer s.Close()
	for part, err := range client(t, llm.Config{BaseURL: s.URL, Proxy: "none"}).Stream(t.Context(), hello()) {
		switch {
		case !isEnd(part):
			close(heard)
		case err != nil:
			t.Error(err)
		}
	}
}

func TestGzipList(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("%s: the request accepts %q", r.URL, got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped(`{"object":"list","data":[{"id":"m"}]}`))
	}))
	defer s.Close()
	page, err := client(t, llm.Config{BaseURL: s.URL, Proxy: "none"}).Get(t.Context(), "/models", false)
	if err != nil || !strings.Contains(string(page.Body), `"id":"m"`) {
		t.Errorf("%v, %+v", err, page)
	}
}
