package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// inFront is a proxy at the address of httptest's requests and in a network, which names callers in X-User.
func inFront(t testing.TB) *auth.Proxy {
	t.Helper()
	p, err := auth.NewProxy("x-user", []string{"192.0.2.1", "10.1.0.0/16", "unix"})
	must(t, err)
	return p
}

// asked is what the door behind the middleware saw of a request: the caller and the scopes, or the status.
func asked(m *auth.Middleware, r *http.Request) string {
	w, saw := httptest.NewRecorder(), ""
	m.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p := auth.From(r.Context())
		saw = p.Name
		for _, s := range []auth.Scope{auth.ReadRuns, auth.WriteRuns, auth.Admin} {
			if p.May(s) {
				saw += " " + string(s)
			}
		}
		if r.Header.Get("Authorization")+r.Header.Get("X-User") != "" {
			saw += " and the credentials"
		}
	})).ServeHTTP(w, r)
	if saw != "" {
		return saw
	}
	return fmt.Sprint(w.Code)
}

// A named proxy names its callers, who are no admins. What others send in its field is refused, on public paths too.
func TestProxyNamesCallers(t *testing.T) {
	token, line := newLine(t, "ann", auth.Admin)
	both := newMiddleware(t, auth.Config{Proxy: inFront(t), Tokens: load(t, tokenFile(t, line))})
	alone := newMiddleware(t, auth.Config{Proxy: inFront(t)})
	const mia, ann = "mia run:read run:write", "ann run:read run:write admin"
	for _, c := range []struct {
		m           *auth.Middleware
		from, token string
		names       []string
		site, want  string
	}{
		{alone, "192.0.2.1:1", "", []string{"mia"}, "", mia},
		{alone, "[::ffff:10.1.2.3]:1", "", []string{"mia"}, "same-origin", mia},
		{alone, "@", "", []string{"mia@example.com"}, "", "mia@example.com run:read run:write"},
		{both, "10.1.2.3:1", token, []string{"mia"}, "", mia},
		{alone, "10.1.2.3:1", "", []string{"mia"}, "cross-site", "mia run:read"},
		{alone, "10.1.2.3:1", "", []string{"mia"}, "same-site", "mia run:read"},
		{both, "192.0.2.1:1", token, nil, "", ann},
		{both, "127.0.0.1:1", token, nil, "", ann},
		{alone, "192.0.2.1:1", token, nil, "", "401"},
		{both, "192.0.2.1:1", "", nil, "", "401"},
		{alone, "127.0.0.1:1", "", []string{"mia"}, "", "403"},
		{both, "10.2.0.1:1", token, []string{"ann"}, "", "403"},
		{alone, "192.0.2.1:1", "", []string{"mia", "ann"}, "", "400"},
		{alone, "192.0.2.1:1", "", []string{"mia,ann"}, "", "400"},
		{alone, "192.0.2.1:1", "", []string{""}, "", "400"},
		{alone, "192.0.2.1:1", "", []string{"mia\u202e"}, "", "400"},
		{newMiddleware(t, auth.Config{}), "127.0.0.1:1", "", nil, "", " run:read run:write admin"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.RemoteAddr, r.Header["X-User"] = c.from, c.names
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if got := asked(c.m, r); got != c.want {
			t.Errorf("from %s, names %q, with a token %t, site %q: %q, want %q", c.from, c.names, c.token != "", c.site, got, c.want)
		}
	}
	r, w := httptest.NewRequest(http.MethodGet, "http://localhost/", nil), httptest.NewRecorder()
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("X-User", "mia")
	if alone.Public(door()).ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("a public path takes the name from anybody: %d", w.Code)
	}
}

// The browser's login at the proxy is not for pages of other ports, even with tokens.
func TestPagesOfLoopbackBehindAProxy(t *testing.T) {
	_, line := newLine(t, "ann", auth.Admin)
	m := newMiddleware(t, auth.Config{Proxy: inFront(t), Tokens: load(t, tokenFile(t, line))})
	if passes(m, "localhost:7878", "http://localhost:3000") || !passes(m, "localhost:7878", "http://localhost:7878") {
		t.Error("a page of another port calls as the reader")
	}
}

func TestProxyIsNamed(t *testing.T) {
	for _, c := range []struct{ header, peer, want string }{
		{"", "10.0.0.1", "header field"}, {"X User", "10.0.0.1", "header field"}, {"Cookie", "10.0.0.1", "header field"},
		{"authorization", "10.0.0.1", "header field"}, {"X-User", "proxy.example", "peer"}, {"X-User", "0.0.0.0/0", "peer"}, {"X-User", "::/0", "peer"},
	} {
		_, err := auth.NewProxy(c.header, []string{c.peer})
		wantCode(t, err, invalidInput, c.want)
	}
	_, err := auth.NewProxy("X-User", nil)
	wantCode(t, err, invalidInput, "needs a peer")
}

// A session that no page of this server has sent for certain reads at most, also where a WebSocket begins.
func TestSessionOfUnknownPagesReads(t *testing.T) {
	token, line := newLine(t, "ann", auth.Admin)
	m := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line))})
	r, w := httptest.NewRequest(http.MethodPost, "http://localhost/", nil), httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer "+token)
	m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { must(t, auth.OpenSession(w, r, false)) })).ServeHTTP(w, r)
	for _, c := range []struct{ method, field, value, want string }{
		{"GET", "Upgrade", "websocket", "ann run:read"}, {"GET", "", "", "ann run:read"}, {"POST", "", "", "401"},
		{"GET", "Origin", "http://localhost", "ann run:read run:write admin"}, {"GET", "Sec-Fetch-Site", "same-origin", "ann run:read run:write admin"},
		{"GET", "Sec-Fetch-Site", "cross-site", "401"},
	} {
		r := httptest.NewRequest(c.method, "http://localhost/", nil)
		r.AddCookie(w.Result().Cookies()[0])
		r.Header.Set(c.field, c.value)
		if got := asked(m, r); got != c.want {
			t.Errorf("%s with %s %q: %q, want %q", c.method, c.field, c.value, got, c.want)
		}
	}
}
