package web_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/transport/web"
)

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	mux := http.NewServeMux()
	for _, path := range web.Paths() {
		mux.Handle(path, web.Handler(true))
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// Every file that the document names is there, compressed for those who can read it, and kept permanently.
func TestFilesOfTheDocument(t *testing.T) {
	page := get(t, "/runs/r_x?seq=3")
	if page.Code != http.StatusOK || page.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v", page.Code, page.Header())
	}
	found := regexp.MustCompile(`"(/page/[^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(found) != 3 {
		t.Errorf("the document names %v, want an icon, styles and a script", found)
	}
	for _, name := range found {
		plain, zipped := get(t, name[1]), get(t, name[1], "Accept-Encoding", "br, gzip")
		coded := zipped.Header().Get("Content-Encoding") == "gzip"
		if plain.Code != http.StatusOK || coded == strings.HasSuffix(name[1], ".svg") || coded && zipped.Body.Len() >= plain.Body.Len() {
			t.Errorf("%s: %d, %v", name[1], plain.Code, zipped.Header())
		}
		if got := zipped.Body.Len(); got > 90_000 {
			t.Errorf("%s has %d bytes on the wire, want at most 90,000", name[1], got)
		}
		if got := plain.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: Cache-Control %q", name[1], got)
		}
	}
	if got := get(t, "/page/page-old.js").Code; got != http.StatusNotFound {
		t.Errorf("a file of another version: %d", got)
	}
}

// The policy leaves no way to run what a run says, nor to load anything from elsewhere.
func TestPolicy(t *testing.T) {
	policy := get(t, "/").Header().Get("Content-Security-Policy")
	fatal.IfLacking(t, policy, "default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'")
	if strings.Contains(policy, "unsafe") || strings.Contains(get(t, "/").Body.String(), "style=") {
		t.Error("something is inline")
	}
}

// The chosen theme is in the document, so that the first paint has it.
func TestTheme(t *testing.T) {
	for cookie, want := range map[string]bool{"dark": true, "light": true, "auto": false, `"><script>`: false} {
		got := get(t, "/", "Cookie", "lastword_theme="+cookie).Body.String()
		if strings.Contains(got, `data-theme="`+cookie+`"`) != want || !strings.Contains(got, `<html lang="en"`) {
			t.Errorf("theme %s: %s", cookie, got)
		}
	}
}
