package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/packed"
)

//go:generate go test -run ^TestEventTypes$ -update .
//go:generate go -C ../../testkit/lab test ./web -run ^TestBuilt$ -update

//go:embed built page/index.html page/icon.svg
var files embed.FS

// Paths returns the patterns for a [http.ServeMux] under which Handler must be registered.
func Paths() []string {
	return []string{"GET /{$}", "GET /runs", "GET /runs/{id}", "GET " + assets, "GET " + strings.TrimSuffix(assets, "/")}
}

// assets is the path below which the page's files are served. Their names contain a digest of the content.
const assets = "/page/"

// policy lets the page load only from this server and connect only to it. Trusted types prevent that text is ever used
// as markup or code.
const policy = "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// asset is a file of the page.
type asset struct {
	kind  string
	plain []byte
	gzip  []byte // nil if the file is sent uncompressed
}

// handler serves the page. It does not change after Handler has returned.
type handler struct {
	assets map[string]asset  // by path
	pages  map[string][]byte // the document, by theme
}

// Handler serves the page. signIn says that the API needs tokens, so that the page offers to sign in and out.
func Handler(signIn bool) http.Handler {
	h := &handler{assets: map[string]asset{}, pages: map[string][]byte{}}
	document, err := files.ReadFile("page/index.html")
	if err != nil {
		panic(err) // the document is embedded in the program
	}
	js, css := h.add("built/page.js.gz", "text/javascript; charset=utf-8"), h.add("built/page.css.gz", "text/css; charset=utf-8")
	icon := h.add("page/icon.svg", "image/svg+xml")
	for _, theme := range []string{"", "light", "dark"} {
		attributes := ""
		if theme != "" {
			attributes = ` data-theme="` + theme + `"`
		}
		if signIn {
			attributes += " data-sign-in"
		}
		page := strings.NewReplacer(" {attributes}", attributes, "{icon}", icon, "{css}", css, "{js}", js)
		h.pages[theme] = []byte(page.Replace(string(document)))
	}
	return h
}

// add reads an embedded file, and returns the path at which it is served.
func (h *handler) add(name, kind string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	a := asset{kind: kind, plain: data}
	name, zipped := strings.CutSuffix(path.Base(name), ".gz")
	if zipped {
		a.gzip, a.plain = data, packed.Text(string(data))
	}
	digest := sha256.Sum256(a.plain)
	extension := path.Ext(name)
	at := fmt.Sprintf("%s%s-%s%s", assets, strings.TrimSuffix(name, extension), hex.EncodeToString(digest[:6]), extension)
	h.assets[at] = a
	return at
}

// ServeHTTP serves an asset, or the page for any other path: the page itself knows its views.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	if a, ok := h.assets[r.URL.Path]; ok {
		a.serve(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path+"/", assets) {
		http.NotFound(w, r)
		return
	}
	page := h.pages[""]
	if c, err := r.Cookie("lastword_theme"); err == nil && h.pages[c.Value] != nil { // the page stores the reader's theme
		page = h.pages[c.Value]
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
}

// serve sends the file. Clients may cache it for ever, because a changed file has another name.
func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	data := a.plain
	if a.gzip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = a.gzip
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
