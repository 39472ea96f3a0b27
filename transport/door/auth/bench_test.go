package auth_test

import (
	"net/http"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// blank is an answer that costs nothing, so that what is measured is the gate.
type blank http.Header

func (b blank) Header() http.Header         { return http.Header(b) }
func (b blank) Write(p []byte) (int, error) { return len(p), nil }
func (b blank) WriteHeader(int)             {}

func BenchmarkWrap(b *testing.B) {
	token, line := newLine(b, "mia", auth.Admin)
	lines := []string{line}
	for range 99 {
		_, line := newLine(b, "tom", auth.ReadRuns)
		lines = append(lines, line)
	}
	one, many := load(b, tokenFile(b, lines[0])), load(b, tokenFile(b, lines...))
	for _, c := range []struct {
		name   string
		config auth.Config
		origin string
	}{
		{"no token", auth.Config{Rate: 1e9}, ""},
		{"no token, page", auth.Config{Rate: 1e9}, "http://localhost:6274"},
		{"token", auth.Config{Rate: 1e9, Tokens: one}, ""},
		{"token of 100", auth.Config{Rate: 1e9, Tokens: many}, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			calls := 0
			h := newMiddleware(b, c.config).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
			r, err := http.NewRequest(http.MethodPost, "/mcp", nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Host, r.RemoteAddr = "127.0.0.1:7878", "127.0.0.1:54321"
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			field := []string{"Bearer " + token}
			w := blank{}
			b.ReportAllocs()
			for b.Loop() {
				r.Header["Authorization"] = field
				clear(w)
				h.ServeHTTP(w, r)
			}
			if calls != b.N {
				b.Errorf("%d of %d passed", calls, b.N)
			}
		})
	}
}
