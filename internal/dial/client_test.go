package dial_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// The environment's proxy is read once in a process. Only hosts under proxied.example meet it.
func TestMain(m *testing.M) {
	proxy := "http://192.168.77.7:3128"
	for _, set := range [][2]string{{"https_proxy", ""}, {"http_proxy", ""}, {"no_proxy", ""},
		{"HTTPS_PROXY", proxy}, {"HTTP_PROXY", proxy}, {"NO_PROXY", "example.com,.test"}} {
		if err := os.Setenv(set[0], set[1]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// web is a server over TLS that the policy believes, on loopback.
func web(t *testing.T, handler http.HandlerFunc) (*httptest.Server, dial.Policy) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, dial.Policy{Private: true, Roots: roots}
}

// get reads a URL as callers do.
func get(t *testing.T, p dial.Policy, target string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	must(t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	client := p.Client()
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		return nil, "", dial.Explain(t.Context(), r.URL.Hostname(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func expectRefusal(t *testing.T, err error, parts ...string) {
	t.Helper()
	if messages.CodeOf(err) != "invalid_input" {
		t.Errorf("got %v, want a refusal", err)
		return
	}
	fatal.IfLacking(t, err.Error(), parts...)
}

// A caller cannot go round the checks by asking the client for its own URL.
func TestClientChecksTheFirstURL(t *testing.T) {
	s, p := web(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	host := strings.TrimPrefix(s.URL, "https://")
	for _, target := range []string{s.URL, "https://localhost/", "http://" + host, "https://user:hunter2@" + host,
		"ftp://" + host, "https://0x7f.1/"} {
		_, _, err := get(t, dial.Policy{Roots: p.Roots}, target)
		expectRefusal(t, err)
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats a credential: %v", err)
		}
	}
	_, _, err := get(t, dial.Policy{SSH: true, File: true}, "file:///etc/passwd")
	expectRefusal(t, err, "not read over http")
}

func TestClientBelievesKnownAuthoritiesOnly(t *testing.T) {
	s, p := web(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	p.Roots = x509.NewCertPool()
	_, _, err := get(t, p, s.URL)
	expectRetryable(t, err, false, "127.0.0.1", "certificate")
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

// The public server is real but for its address; where it redirects to is judged as the first URL was.
func TestClientChecksRedirects(t *testing.T) {
	for part, refused := range fatal.Table[map[string][]string](t, "testdata/redirects.json") {
		for _, to := range refused {
			asked := 0
			s, p := web(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				redirect(to)(w, r)
			})
			_, resolver := serveNames(t, "example.com 93.184.215.14", "inside.test 10.0.0.7", "metadata.test 169.254.169.254")
			w := &wires{to: s.Listener.Addr().String()}
			p.Private = false
			_, _, err := get(t, p.Over(resolver, w.connect), "https://example.com/")
			expectRefusal(t, err, part)
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a credential: %v", err)
			}
			if want := map[bool]int{true: 6, false: 1}[strings.HasPrefix(part, "more")]; asked != want {
				t.Errorf("%s: %d requests, want %d", to, asked, want)
			}
			if strings.Join(slices.Compact(w.dialed()), " ") != "93.184.215.14:443" {
				t.Errorf("%s: dialed %q", to, w.dialed())
			}
		}
	}
}

func TestClientFollowsRedirectsThatAreAllowed(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "plain") }))
	t.Cleanup(plain.Close)
	s, p := web(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/5":
			fmt.Fprint(w, "five")
		case "/plain":
			redirect(plain.URL)(w, r)
		default:
			redirect(fmt.Sprintf("/%c", r.URL.Path[1]+1))(w, r)
		}
	})
	if _, body, err := get(t, p, s.URL+"/0"); body != "five" || err != nil {
		t.Errorf("five redirects: %q, %v", body, err)
	}
	_, _, err := get(t, p, s.URL+"/plain")
	expectRefusal(t, err, "--allow-http")
	p.HTTP = true
	if _, body, err := get(t, p, s.URL+"/plain"); body != "plain" || err != nil {
		t.Errorf("http that is allowed: %q, %v", body, err)
	}
}

// Secrets stay with the first origin, also when a redirect comes back to it, and whatever header holds them.
func TestClientKeepsSecretsWithTheFirstOrigin(t *testing.T) {
	seen := map[string]http.Header{}
	note := func(r *http.Request) { seen[r.Host+r.URL.Path] = r.Header.Clone() }
	var first, second *httptest.Server
	second, _ = web(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		redirect(first.URL+"/back")(w, r)
	})
	first, p := web(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case "/":
			redirect("/same?signature=secret")(w, r)
		case "/same":
			redirect(second.URL+"/other")(w, r)
		}
	})
	p.Roots.AddCert(second.Certificate())
	_, _, err := get(t, p, first.URL+"/", "Authorization: Bearer secret", "Private-Token: secret", "Cookie: a=secret",
		"Git-Protocol: version=2", "Accept: x/y")
	must(t, err)
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for at, want := range map[string]string{
		host(first) + "/": "Bearer secret", host(first) + "/same": "Bearer secret",
		host(second) + "/other": "", host(first) + "/back": "",
	} {
		h, asked := seen[at]
		if !asked || h.Get("Authorization") != want || h.Get("Private-Token") == "" != (want == "") {
			t.Errorf("%s saw %v", at, h)
		}
		if want == "" && strings.Contains(fmt.Sprint(h), "secret") {
			t.Errorf("%s saw a secret: %v", at, h)
		}
		if h.Get("Git-Protocol") != "version=2" || h.Get("Accept") != "x/y" || h.Get("Referer") != "" {
			t.Errorf("%s saw %v", at, h)
		}
	}
}

func TestClientKeepsNoCookies(t *testing.T) {
	s, p := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			redirect("/next")(w, r)
			return
		}
		fmt.Fprint(w, len(r.Cookies()))
	})
	if _, body, err := get(t, p, s.URL); body != "0" || err != nil {
		t.Errorf("got %s cookies, %v", body, err)
	}
}

func TestClientNeverDecompresses(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, "hello")
	_ = z.Close()
	s, p := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("X-Accepts", r.Header.Get("Accept-Encoding"))
		_, _ = w.Write(packed.Bytes())
	})
	resp, body, err := get(t, p, s.URL)
	if err != nil || body != packed.String() || resp.Header.Get("X-Accepts") != "" || resp.ProtoMajor != 2 {
		t.Errorf("got %q by %s, %v, accepted %q", body, resp.Proto, err, resp.Header.Get("X-Accepts"))
	}
}

func TestClientBoundsHeaders(t *testing.T) {
	for _, protocol := range []bool{true, false} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 256<<10))
		}))
		s.EnableHTTP2 = protocol
		s.StartTLS()
		defer s.Close()
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		_, _, err := get(t, dial.Policy{Private: true, Roots: roots}, s.URL)
		expectRetryable(t, err, true, "127.0.0.1")
	}
}

// Each phase of a request that can hang has its own bound; the context has the rest.
func TestClientTimeouts(t *testing.T) {
	tr := dial.Policy{}.Transport()
	if tr.TLSHandshakeTimeout <= 0 || tr.ResponseHeaderTimeout <= 0 || tr.IdleConnTimeout <= 0 {
		t.Errorf("a timeout is missing: %+v", tr)
	}
}

func TestClientEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	s, p := web(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(gone)
		<-r.Context().Done()
	})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	must(t, err)
	_, err = p.Client().Do(r)
	if err = dial.Explain(ctx, "host", err); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// A proxy resolves names where nobody checks them.
func TestClientUsesAProxyWithPrivateOnly(t *testing.T) {
	_, resolver := serveNames(t, "proxied.example 93.184.215.14")
	for private, want := range map[bool]string{false: "93.184.215.14:443", true: "192.168.77.7:3128"} {
		var dials []string
		p := dial.Policy{Private: private}.Over(resolver, func(_ context.Context, _, address string) (net.Conn, error) {
			dials = append(dials, address)
			return nil, syscall.ECONNREFUSED
		})
		_, _, err := get(t, p, "https://proxied.example/")
		expectRetryable(t, err, true, "HTTPS_PROXY is set; it is used with --allow-private only")
		if !slices.Equal(dials, []string{want}) {
			t.Errorf("with Private %t: dialed %q, want %s", private, dials, want)
		}
	}
	_, _, err := get(t, dial.Policy{Private: true}, "https://169.254.169.254/")
	expectRefusal(t, err, "metadata")
}

func TestExplainRepeatsNoURL(t *testing.T) {
	failure := &url.Error{Op: "Get", URL: "https://hunter2@host/?sig=hunter2", Err: io.ErrUnexpectedEOF}
	err := dial.Explain(t.Context(), "host", failure)
	expectRetryable(t, err, true, "the connection to host failed: unexpected EOF")
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error repeats the URL: %v", err)
	}
	if dial.Explain(t.Context(), "host", nil) != nil {
		t.Error("nothing was explained")
	}
}

func TestExplainIsOnePrintableLine(t *testing.T) {
	err := dial.Explain(t.Context(), "host", errors.New("bad\r\n\x1b[2J\u202e"+strings.Repeat("x", 1000)))
	if strings.ContainsAny(err.Error(), "\r\n\x1b\u202e") || len(err.Error()) > 500 {
		t.Errorf("got %q", err)
	}
}

var must = fatal.IfError
