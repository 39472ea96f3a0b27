package http_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// "gzip where it delays no event": JSON and texts over 1 KiB, and never a stream or a range.
func TestCompression(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":100,"file":true}`)
	w.until(id, messages.KindRunCompleted)
	run := "/v1/runs/" + string(id)
	tag := `"` + file.SHA256 + `"`
	for name, c := range map[string]struct {
		method, path string
		header       []string
		coding, etag string
		status       int
	}{
		"JSON of the framework":  {"GET", "/openapi.json", nil, "gzip", "", 200},
		"a page of events":       {"GET", run + "/events", nil, "gzip", `W/"`, 200},
		"a file":                 {"GET", run + "/artifacts/told.txt", nil, "gzip", "W/" + tag, 200},
		"a file that is known":   {"GET", run + "/artifacts/told.txt", []string{"If-None-Match", "W/" + tag}, "", tag, 304},
		"a range":                {"GET", run + "/artifacts/told.txt", []string{"Range", "bytes=5-2000"}, "", tag, 206},
		"the header alone":       {"HEAD", run + "/artifacts/told.txt", nil, "", tag, 200},
		"a small answer":         {"GET", "/v1/jobs", nil, "", "", 200},
		"no answer":              {"DELETE", "/v1/session", nil, "", "", 204},
		"a failure":              {"GET", "/v1/runs/r_unknown", nil, "", "", 404},
		"server-sent events":     {"GET", run + "/events", []string{"Accept", "text/event-stream"}, "", "", 200},
		"JSON lines":             {"GET", run + "/events", []string{"Accept", "application/x-ndjson"}, "", "", 200},
		"gzip is refused":        {"GET", "/openapi.json", []string{"Accept-Encoding", "br, gzip;q=0"}, "", "", 200},
		"gzip is taken too":      {"GET", "/openapi.json", []string{"Accept-Encoding", "br, GZIP; q=0.5"}, "gzip", "", 200},
		"only identity is taken": {"GET", "/openapi.json", []string{"Accept-Encoding", "identity"}, "", "", 200},
	} {
		response := w.open(t.Context(), c.method, c.path, "", append([]string{"Accept-Encoding", "gzip"}, c.header...)...)
		h := response.Header
		if response.StatusCode != c.status || h.Get("Content-Encoding") != c.coding || !strings.HasPrefix(h.Get("ETag"), c.etag) ||
			!strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: %s %v; want %d %q %s", name, response.Status, h, c.status, c.coding, c.etag)
		}
		var body io.Reader = response.Body
		if c.coding != "" {
			opened, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(name, err)
			}
			body = opened
		}
		text, err := io.ReadAll(body)
		if err != nil || name == "a file" && string(text) != told || name == "a range" && string(text) != told[5:2001] {
			t.Errorf("%s: %v, %d bytes", name, err, len(text))
		}
		response.Body.Close()
	}
	if got := w.call("GET", run, "", "If-None-Match", w.call("GET", run, "").Header.Get("ETag")); got.StatusCode != http.StatusNotModified {
		t.Errorf("a State that is known: %s", got.Status)
	}
}
