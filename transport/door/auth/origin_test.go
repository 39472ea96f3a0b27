package auth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// originSpellings: whether a request to localhost:7878 passes a gate that names no origin, and one that names
// https://app.example.com, http://old.example.com:8080 and vscode-webview://abc.
var originSpellings = []struct {
	zero, named bool
	origins     []string
}{
	{true, true, []string{"http://localhost:7878", "http://127.0.0.1:7878"}},
	{false, false, []string{
		"http://localhost", "https://localhost:3000", "http://LOCALHOST:6274", "http://localhost.:6274",
		"http://127.0.0.1:6274", "https://127.9.9.9", "http://[::1]:6274", "null", "http://evil.com",
		"https://evil.com:7878", "http://app.example.com", "https://app.example.com:8443",
		"https://app.example.com.evil.com", "https://x.app.example.com", "http://old.example.com", "vscode-webview://abcd",
		"http://localhost.evil.com", "http://evil.localhost", "http://localhost@evil.com", "http://evil.com@localhost",
		"http://localhost:80@evil.com", "http://localhost/evil.com", "http://evil.com/localhost",
		"http://localhost#evil.com", "http://localhost?evil.com", "http://localhost\\evil.com", "http://localhost:",
		"http://localhost:99999", "http://localhost:80:80", "http://[::1", "http://[::1%25lo]", "http://0.0.0.0:7878",
		"http://2130706433", "http://127.1", "http://", "://localhost", "//localhost", "localhost", "http:localhost",
		"http:/localhost", "file://", "file://localhost", "ftp://localhost", "javascript://localhost",
		"chrome-extension://abc", "http://localhost http://evil.com", "http://evil.com, http://localhost", "*",
	}},
	{false, true, []string{
		"https://app.example.com", "HTTPS://App.Example.com", "http://old.example.com:8080", "vscode-webview://abc",
	}},
}

func namedOrigins() auth.Config {
	return auth.Config{Origins: []string{"https://app.example.com:443", "http://old.example.com:8080", "vscode-webview://abc"}}
}

// DESIGN 9: "Origin and Host are checked everywhere." What passes may be read by the page, what does not may not.
func TestOriginIsChecked(t *testing.T) {
	gates := []string{
		serve(t, newMiddleware(t, auth.Config{}).Wrap(door())),
		serve(t, newMiddleware(t, namedOrigins()).Wrap(door())),
	}
	for _, c := range originSpellings {
		for i, want := range []bool{c.zero, c.named} {
			for _, origin := range c.origins {
				a := send(t, gates[i], "POST /mcp HTTP/1.1", "Host: localhost:7878", "Origin: "+origin, "Content-Length: 0")
				switch passed := a.StatusCode == http.StatusOK; {
				case passed != want:
					t.Errorf("gate %d, Origin %q: %s, want it passed: %t", i, origin, a.Status, want)
				case passed && a.Header.Get("Access-Control-Allow-Origin") != origin:
					t.Errorf("Origin %q passed, but its page may not read the answer: %v", origin, a.Header)
				case !passed:
					wantRefusal(t, a, http.StatusForbidden, auth.CodeForbidden)
				}
			}
		}
	}
}

// A page of the called host is the server's own; one of another port is not.
func TestOriginOfTheCalledHost(t *testing.T) {
	g := newMiddleware(t, auth.Config{Hosts: []string{"mcp.example.com", "10.1.2.3"}, Proxy: inFront(t)})
	for _, c := range []struct {
		host, origin string
		want         bool
	}{
		{"mcp.example.com", "https://mcp.example.com", true},
		{"mcp.example.com", "http://mcp.example.com", true},
		{"mcp.example.com:443", "https://mcp.example.com", true},
		{"mcp.example.com", "https://MCP.example.com:443", true},
		{"mcp.example.com:8443", "https://mcp.example.com:8443", true},
		{"mcp.example.com:8443", "https://mcp.example.com", false},
		{"mcp.example.com", "https://mcp.example.com:8443", false},
		{"mcp.example.com", "https://example.com", false},
		{"10.1.2.3:7878", "http://10.1.2.3:7878", true},
		{"10.1.2.3:7878", "http://10.1.2.4:7878", false},
		{"localhost:7878", "https://mcp.example.com", false},
	} {
		if got := passes(g, c.host, c.origin); got != c.want {
			t.Errorf("page of %s calls %s: passed %t, want %t", c.origin, c.host, got, c.want)
		}
	}
}

// A page of another port of this machine may call only with a token, so that what it has not been given stays hidden.
func TestOtherPortsOfLoopback(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	for c, want := range map[*auth.Config]int{
		{}: http.StatusForbidden,
		{Origins: []string{"http://localhost:6274"}}: http.StatusOK,
		{Tokens: load(t, tokenFile(t, line))}:        http.StatusUnauthorized,
	} {
		a := send(t, serve(t, newMiddleware(t, *c).Wrap(door())), "GET / HTTP/1.1", "Host: localhost:7878",
			"Origin: http://localhost:6274")
		if a.StatusCode != want {
			t.Errorf("%+v: %s, want %d", c, a.Status, want)
		}
	}
}

func TestTwoOriginsAreRefused(t *testing.T) {
	addr := serve(t, newMiddleware(t, auth.Config{}).Wrap(door()))
	a := send(t, addr, "GET / HTTP/1.1", "Host: localhost", "Origin: http://localhost", "Origin: http://evil.com")
	wantRefusal(t, a, http.StatusForbidden, auth.CodeForbidden)
}

// Without an Origin there is no page to be told what it may read, but a cache must know that there might have been one.
func TestNoOrigin(t *testing.T) {
	a := send(t, serve(t, newMiddleware(t, auth.Config{}).Wrap(door())), "GET / HTTP/1.1", "Host: localhost")
	h := a.Header
	if a.StatusCode != http.StatusOK || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Vary") != "Origin" {
		t.Errorf("%s %v", a.Status, h)
	}
	if h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a browser may take the answer for what it is not: %v", h)
	}
}

// A browser asks before it sends a token, so the question is answered without one.
func TestPreflight(t *testing.T) {
	_, line := newLine(t, "mia", auth.Admin)
	addr := serve(t, newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, line))}).Wrap(door()))
	ask := []string{
		"OPTIONS /mcp HTTP/1.1", "Host: localhost", "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: authorization,mcp-param-Repo_1, Mcp-Param-, mcp-param-a b,cookie, Mcp-Param-Two, x-stainless-os",
	}
	a := send(t, addr, append(ask, "Origin: http://localhost:6274")...)
	if a.StatusCode != http.StatusNoContent || a.body != "" {
		t.Fatalf("%s %q, want 204", a.Status, a.body)
	}
	h := a.Header
	if h.Get("Access-Control-Allow-Origin") != "http://localhost:6274" ||
		h.Get("Access-Control-Allow-Credentials") != "" ||
		h.Get("Access-Control-Allow-Methods") != "GET, POST, DELETE, OPTIONS" || h.Get("Vary") != "Origin" {
		t.Errorf("headers %v", h)
	}
	want := []string{"Authorization", "Content-Type", "Idempotency-Key", "Prefer", "If-None-Match", "Last-Event-ID",
		"Traceparent", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "User-Agent", "X-AI-SDK", "X-Chat-Id",
		"mcp-param-Repo_1", "Mcp-Param-Two", "x-stainless-os"}
	if got := strings.Split(h.Get("Access-Control-Allow-Headers"), ", "); !slices.Equal(got, want) {
		t.Errorf("allowed headers %q, want %q", got, want)
	}
	wantRefusal(t, send(t, addr, append(ask, "Origin: https://evil.com")...), http.StatusForbidden, auth.CodeForbidden)

	// What is no such question needs a token like any request, and its answer can be read by the page.
	a = send(t, addr, "OPTIONS /mcp HTTP/1.1", "Host: localhost", "Origin: http://localhost:6274")
	wantRefusal(t, a, http.StatusUnauthorized, "unauthorized")
	want = []string{"Location", "ETag", "Preference-Applied", "WWW-Authenticate", "Retry-After", "Mcp-Session-Id"}
	if got := strings.Split(a.Header.Get("Access-Control-Expose-Headers"), ", "); !slices.Equal(got, want) {
		t.Errorf("exposed headers %q, want %q", got, want)
	}
}

// The question is not the door's to answer, nor does it count among the calls.
func TestPreflightReachesNoDoor(t *testing.T) {
	reached := false
	addr := serve(t, newMiddleware(t, auth.Config{Rate: 1, Burst: 1}).Wrap(http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { reached = true })))
	for range 3 {
		a := send(t, addr, "OPTIONS /mcp HTTP/1.1", "Host: localhost", "Access-Control-Request-Method: POST",
			"Origin: http://localhost")
		if a.StatusCode != http.StatusNoContent || reached {
			t.Errorf("%s, and the door was reached: %v", a.Status, reached)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	for _, c := range originSpellings {
		for _, origin := range c.origins {
			f.Add(origin)
		}
	}
	g := newMiddleware(f, auth.Config{Rate: -1})
	f.Fuzz(func(t *testing.T, origin string) {
		if origin == "" || !passes(g, "localhost:7878", origin) {
			return
		}
		u, err := url.Parse(origin)
		if err != nil || u.User != nil || u.Path+u.RawQuery+u.Fragment != "" || !isLoopback(u.Hostname()) ||
			u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Scheme+"://"+u.Host, origin) {
			t.Errorf("Origin %q passed; a URL reader sees %+v, %v", origin, u, err)
		}
	})
}

func TestMetadataPath(t *testing.T) {
	const root = "/.well-known/oauth-protected-resource"
	for resource, want := range map[string]string{
		"": root, "/": root, "/mcp": root + "/mcp", "https://mcp.example.com": root,
		"https://mcp.example.com/": root, "https://mcp.example.com/a/b/?c#d": root + "/a/b",
		"https://mcp.example.com/a%2Fb": root + "/a%2Fb", "http://[::1": root,
	} {
		if got := auth.MetadataPath(resource); got != want {
			t.Errorf("%q: %q, want %q", resource, got, want)
		}
	}
}

// Over TLS the called host is one of https.
func TestResourceMetadataOverTLS(t *testing.T) {
	s := httptest.NewTLSServer(newMiddleware(t, auth.Config{}).Public(auth.ResourceMetadata("/mcp", nil, nil)))
	defer s.Close()
	resp, err := s.Client().Get(s.URL)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	var got struct{ Resource string }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.Resource != s.URL+"/mcp" {
		t.Errorf("resource %q, %v, want %s/mcp", got.Resource, err, s.URL)
	}
}

func TestResourceMetadata(t *testing.T) {
	for _, c := range []struct {
		resource string
		servers  []string
		scopes   []auth.Scope
		want     string
	}{
		{"https://mcp.example.com/mcp", []string{"https://auth.example.com"}, []auth.Scope{auth.ReadRuns, auth.WriteRuns},
			`{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],` +
				`"scopes_supported":["run:read","run:write"],"bearer_methods_supported":["header"]}`},
		{"/mcp", nil, nil, `{"resource":"http://localhost:7878/mcp","bearer_methods_supported":["header"]}`},
	} {
		addr := serve(t, newMiddleware(t, auth.Config{}).Public(auth.ResourceMetadata(c.resource, c.servers, c.scopes)))
		a := send(t, addr, "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1", "Host: localhost:7878")
		var got, want any
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatalf("%q: %v", a.body, err)
		}
		must(t, json.Unmarshal([]byte(c.want), &want))
		if !reflect.DeepEqual(got, want) || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s, want %s", a.Header.Get("Content-Type"), a.body, c.want)
		}
		a = send(t, addr, "POST / HTTP/1.1", "Host: localhost", "Content-Length: 0")
		wantRefusal(t, a, http.StatusMethodNotAllowed, auth.CodeNotAllowed)
	}
}
