package dial

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
)

// Client returns an HTTP client, with connections of its own, that keeps to the
// Policy on every request and redirect. A redirect is followed at most five
// times, to http only where that is allowed, and once it has left the first
// origin (scheme, host and port) no header goes along but those that describe
// the request itself. There are no cookies, and bodies come as they were sent,
// never decompressed. The context of a request is the only bound on its whole
// time. Pass the errors of its methods through [Explain]; call
// CloseIdleConnections when done.
func (p Policy) Client() *http.Client {
	return &http.Client{Transport: &guard{policy: p, base: p.transport()}, CheckRedirect: p.checkRedirect}
}

func (p Policy) transport() *http.Transport {
	t := &http.Transport{
		DialContext:            p.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.Roots},
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  60 * time.Second,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    2,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
	if p.Private {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// guard checks each request, also those that no redirect made.
type guard struct {
	policy Policy
	base   *http.Transport
}

// RoundTrip is that of the transport, for URLs that the Policy allows.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.policy.checkWeb(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	resp, err := g.base.RoundTrip(r)
	if err != nil {
		return nil, Explain(r.Context(), r.URL.Hostname(), err)
	}
	if _, err := resp.Location(); resp.StatusCode/100 == 3 && err != nil && !errors.Is(err, http.ErrNoLocation) {
		_ = resp.Body.Close() // the client's own error would repeat what the server sent
		return nil, refuse("refused: %s redirects to what is not a URL", r.URL.Hostname())
	}
	return resp, nil
}

func (p Policy) checkWeb(u *url.URL) error {
	if s := strings.ToLower(u.Scheme); s == "ssh" || s == "file" {
		return refuse("refused: a %s URL is not read over http", s)
	}
	return p.CheckURL(u)
}

// CloseIdleConnections is called by the client's method of the name.
func (g *guard) CloseIdleConnections() { g.base.CloseIdleConnections() }

func (p Policy) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return refuse("refused: %s redirects more than %d times", via[0].URL.Hostname(), maxRedirects)
	}
	if err := p.checkWeb(r.URL); err != nil {
		return err
	}
	r.Header.Del("Referer")
	if slices.ContainsFunc(via, func(v *http.Request) bool { return origin(v.URL) != origin(r.URL) }) {
		keepPlain(r.Header)
	}
	return nil
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}

// keepPlain drops every header that might hold a secret, whatever its name.
func keepPlain(h http.Header) {
	for name := range h {
		switch name {
		case "Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Git-Protocol", "Range", "User-Agent":
		default:
			delete(h, name)
		}
	}
}
