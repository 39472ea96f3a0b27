package auth_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// hostSpellings: whether a gate lets a Host pass that names no host, one that names mcp.example.com, 10.1.2.3:7878 and
// fd00::1, and one that names every host (*).
var hostSpellings = []struct {
	host               string
	zero, named, every bool
}{
	{"localhost", true, true, true},
	{"localhost:7878", true, true, true},
	{"LocalHost:7878", true, true, true},
	{"localhost.", true, true, true},
	{"localhost.:80", true, true, true},
	{"127.0.0.1", true, true, true},
	{"127.0.0.1:65535", true, true, true},
	{"127.255.255.254", true, true, true},
	{"[::1]", true, true, true},
	{"[::1]:7878", true, true, true},
	{"[0:0:0:0:0:0:0:1]", true, true, true},
	{"[::ffff:127.0.0.1]:80", true, true, true},

	{"mcp.example.com", false, true, true},
	{"MCP.Example.COM:8443", false, true, true},
	{"mcp.example.com.", false, true, true},
	{"10.1.2.3:7878", false, true, true},
	{"10.1.2.3", false, false, true},
	{"10.1.2.3:78", false, false, true},
	{"[fd00::1]", false, true, true},
	{"[fd00:0::1]:9", false, true, true},

	{"evil.com", false, false, true},
	{"localhost.evil.com", false, false, true},
	{"evil.localhost", false, false, true},
	{"localhost.localdomain", false, false, true},
	{"notlocalhost", false, false, true},
	{"localhostt", false, false, true},
	{"local_host", false, false, true},
	{"127.0.0.1.evil.com", false, false, true},
	{"127.0.0.1.nip.io", false, false, true},
	{"sub.mcp.example.com", false, false, true},
	{"mcp.example.com.evil.com", false, false, true},
	{"xmcp.example.com", false, false, true},
	{"0.0.0.0", false, false, true},
	{"128.0.0.1", false, false, true},
	{"192.168.0.1:7878", false, false, true},
	{"169.254.169.254", false, false, true},
	{"[::]", false, false, true},
	{"[::2]", false, false, true},
	{"[fe80::1]", false, false, true},
	{"0x7f.0.0.1x", false, false, true},

	{"", false, false, false},
	{".", false, false, false},
	{".localhost", false, false, false},
	{"localhost..", false, false, false},
	{"local..host", false, false, false},
	{":7878", false, false, false},
	{"localhost:", false, false, false},
	{"localhost:x", false, false, false},
	{"localhost:-1", false, false, false},
	{"localhost:+80", false, false, false},
	{"localhost:65536", false, false, false},
	{"localhost:80:80", false, false, false},
	{"localhost:80@evil.com", false, false, false},
	{"localhost@evil.com", false, false, false},
	{"evil.com@localhost", false, false, false},
	{"user:pass@localhost", false, false, false},
	{"localhost,evil.com", false, false, false},
	{"localhost%2eevil.com", false, false, false},
	{"localhost%00.evil.com", false, false, false},
	{"127.0.0.1.", false, false, false},
	{"127.1", false, false, false},
	{"2130706433", false, false, false},
	{"127.0.0.01", false, false, false},
	{"127.0.0.256", false, false, false},
	{"::1", false, false, false},
	{"[::1", false, false, false},
	{"::1]", false, false, false},
	{"[::1]x", false, false, false},
	{"[::1]:", false, false, false},
	{"[::1%25lo]", false, false, false},
	{"[::1%lo]", false, false, false},
	{"[127.0.0.1]", false, false, false},
	{"[localhost]", false, false, false},
	{"[[::1]]", false, false, false},
	{strings.Repeat("a.", 127) + "com", false, false, false},
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
			a := send(t, gates[i], "GET / HTTP/1.1", "Host: "+c.host)
			switch passed := a.StatusCode == http.StatusOK; {
			case passed != want:
				t.Errorf("gate %d, Host %q: %s, want it passed: %t", i, c.host, a.Status, want)
			case !passed && a.StatusCode != http.StatusBadRequest: // of the server itself: not a Host at all
				wantRefusal(t, a, http.StatusForbidden, auth.CodeForbidden)
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
		{"a.example:443", "a.example:443", true},
		{"a.example:443", "a.example:8443", false},
		{"a.example:7878", "a.example", false},
		{"a.example.", "a.example", true},
		{"[fd00::1]:7878", "[fd00::1]:7878", true},
		{"[fd00::1]:7878", "[fd00::1]:7879", false},
		{"::ffff:10.0.0.1", "10.0.0.1", true},
	} {
		if got := passes(newMiddleware(t, auth.Config{Hosts: []string{c.named}, Proxy: inFront(t)}), c.host, ""); got != c.want {
			t.Errorf("named %q, called %q: passed %t, want %t", c.named, c.host, got, c.want)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, c := range hostSpellings {
		f.Add(c.host)
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
	passed := false
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	r.Header.Set("X-User", "mia") // for a gate behind inFront
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })).
		ServeHTTP(httptest.NewRecorder(), r)
	return passed
}
