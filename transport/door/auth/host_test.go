package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// hostSpellings: whether a gate lets the Hosts pass that names no host, one that names mcp.example.com, 10.1.2.3:7878 and
// fd00::1, and one that names every host (*).
var hostSpellings = []struct {
	zero, named, every bool
	hosts              []string
}{
	{true, true, true, []string{
		"localhost", "localhost:7878", "LocalHost:7878", "localhost.", "localhost.:80", "127.0.0.1", "127.0.0.1:65535",
		"127.255.255.254", "[::1]", "[::1]:7878", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:80",
	}},
	{false, true, true, []string{
		"mcp.example.com", "MCP.Example.COM:8443", "mcp.example.com.", "10.1.2.3:7878", "[fd00::1]", "[fd00:0::1]:9",
	}},
	{false, false, true, []string{
		"10.1.2.3", "10.1.2.3:78", "evil.com", "localhost.evil.com", "evil.localhost", "localhost.localdomain",
		"notlocalhost", "localhostt", "local_host", "127.0.0.1.evil.com", "127.0.0.1.nip.io", "sub.mcp.example.com",
		"mcp.example.com.evil.com", "xmcp.example.com", "0.0.0.0", "128.0.0.1", "192.168.0.1:7878", "169.254.169.254",
		"[::]", "[::2]", "[fe80::1]", "0x7f.0.0.1x",
	}},
	{false, false, false, []string{
		"", ".", ".localhost", "localhost..", "local..host", ":7878", "localhost:", "localhost:x", "localhost:-1",
		"localhost:+80", "localhost:65536", "localhost:80:80", "localhost:80@evil.com", "localhost@evil.com",
		"evil.com@localhost", "user:pass@localhost", "localhost,evil.com", "localhost%2eevil.com", "localhost%00.evil.com",
		"127.0.0.1.", "127.1", "2130706433", "127.0.0.01", "127.0.0.256", "::1", "[::1", "::1]", "[::1]x", "[::1]:",
		"[::1%25lo]", "[::1%lo]", "[127.0.0.1]", "[localhost]", "[[::1]]", strings.Repeat("a.", 127) + "com",
	}},
}

// DESIGN 9: "Origin and Host are checked everywhere."
func TestHostIsChecked(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	gates := []string{
		serve(t, newMiddleware(t, auth.Config{}).Wrap(door())),
		serve(t, newMiddleware(t, auth.Config{Hosts: []string{"mcp.example.com", "10.1.2.3:7878", "fd00::1"},
			Proxy: inFront(t)}).Public(door())),
		serve(t, newMiddleware(t, auth.Config{Hosts: []string{"*"}, Tokens: load(t, tokenFile(t, line))}).Public(door())),
	}
	for _, c := range hostSpellings {
		for i, want := range []bool{c.zero, c.named, c.every} {
			for _, host := range c.hosts {
				a := send(t, gates[i], "GET / HTTP/1.1", "Host: "+host)
				switch passed := a.StatusCode == http.StatusOK; {
				case passed != want:
					t.Errorf("gate %d, Host %q: %s, want it passed: %t", i, host, a.Status, want)
				case !passed && a.StatusCode != http.StatusBadRequest: // of the server itself: not a Host at all
					wantRefusal(t, a, http.StatusForbidden, auth.CodeForbidden)
				}
			}
		}
	}
}

// What stands in the request line overrides the Host field, so it is what is checked.
func TestHostOfTheRequestLineIsChecked(t *testing.T) {
	addr := serve(t, newMiddleware(t, auth.Config{}).Wrap(door()))
	a := send(t, addr, "GET http://evil.com/ HTTP/1.1", "Host: localhost")
	wantRefusal(t, a, http.StatusForbidden, auth.CodeForbidden)
	if a := send(t, addr, "GET / HTTP/1.0"); a.StatusCode != http.StatusForbidden {
		t.Errorf("no Host at all: %s, want 403", a.Status)
	}
}

func TestHostsAreNamedWithTheirPorts(t *testing.T) {
	for _, c := range []struct {
		named, host string
		want        bool
	}{
		{"a.example", "a.example", true},
		{"a.example", "a.example:1", true},
		{"a.example:443", "a.example", true}, // clients leave out the port of their scheme
		{"a.example:443", "a.example:443", true}, {"a.example:443", "a.example:8443", false},
		{"a.example:7878", "a.example", false}, {"a.example.", "a.example", true},
		{"[fd00::1]:7878", "[fd00::1]:7878", true}, {"[fd00::1]:7878", "[fd00::1]:7879", false},
		{"::ffff:10.0.0.1", "10.0.0.1", true},
	} {
		if got := passes(newMiddleware(t, auth.Config{Hosts: []string{c.named}, Proxy: inFront(t)}), c.host, ""); got != c.want {
			t.Errorf("named %q, called %q: passed %t, want %t", c.named, c.host, got, c.want)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, c := range hostSpellings {
		for _, host := range c.hosts {
			f.Add(host)
		}
	}
	g := newMiddleware(f, auth.Config{Rate: -1})
	f.Fuzz(func(t *testing.T, host string) {
		if !passes(g, host, "") {
			return
		}
		u, err := url.Parse("http://" + host + "/")
		if err != nil || u.User != nil || u.Host != host || u.Path != "/" || !isLoopback(u.Hostname()) {
			t.Errorf("Host %q passed; a URL reader sees %+v, %v", host, u, err)
		}
	})
}

// isLoopback is told by the standard library alone.
func isLoopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback() || strings.EqualFold(strings.TrimSuffix(name, "."), "localhost")
}

// passes asks a gate without a server in between, as fast as fuzzing needs it.
func passes(g *auth.Middleware, host, origin string) bool {
	passed, r := false, httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	r.Header.Set("X-User", "mia") // for a gate behind inFront
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })).
		ServeHTTP(httptest.NewRecorder(), r)
	return passed
}

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
		{both, "192.0.2.1:1", token, nil, "", ann}, {both, "127.0.0.1:1", token, nil, "", ann},
		{alone, "192.0.2.1:1", token, nil, "", "401"}, {both, "192.0.2.1:1", "", nil, "", "401"},
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
