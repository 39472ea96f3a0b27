package dial

import (
	"crypto/tls"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxRedirects   = 5        // redirects of one request
	maxHeaderBytes = 64 << 10 // size of a response's header
)

// Client returns an HTTP client with its own connections, which applies the Policy to every request and redirect. It
// follows at most five redirects, and only to https unless http is allowed. To another origin (scheme, host and port)
// it sends only headers that describe the request, and no body. It keeps no cookies and does not decompress bodies. Only the context
// limits the total time of a request. Pass errors through [Explain], and call CloseIdleConnections at the end.
func (p Policy) Client() *http.Client {
	return &http.Client{Transport: &guard{policy: p, base: p.transport()}, CheckRedirect: p.checkRedirect}
}

// transport uses the environment's proxy only with Private: a proxy connects by itself, so it would defeat the address
// checks.
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

// guard is a transport that checks each request, including redirects.
type guard struct {
	policy Policy
	base   *http.Transport
}

// RoundTrip sends the request if the Policy allows its URL.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	err := g.policy.checkWeb(r.URL)
	if err == nil {
		err = checkProxied(g.base, r)
	}
	if err != nil {
		closeBody(r)
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

// checkWeb checks a URL that an HTTP client requests. A redirect may lead to another scheme.
func (p Policy) checkWeb(u *url.URL) error {
	if s := strings.ToLower(u.Scheme); s == "ssh" || s == "file" {
		return refuse("refused: a %s URL is not read over http", s)
	}
	return p.checkURL(u)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (g *guard) CloseIdleConnections() { g.base.CloseIdleConnections() }

// checkRedirect applies the policy to each hop. Another origin gets no credentials.
func (p Policy) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return refuse("refused: %s redirects more than %d times", via[0].URL.Hostname(), maxRedirects)
	}
	if err := p.checkWeb(r.URL); err != nil {
		return err
	}
	r.Header.Del("Referer")
	if slices.ContainsFunc(via, func(v *http.Request) bool { return origin(v.URL) != origin(r.URL) }) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return refuse("refused: %s redirects elsewhere what is not only read, and nothing is sent there", via[0].URL.Hostname())
		}
		// Remove all headers that might hold a secret, whatever their names.
		maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return !slices.Contains(plain, name) })
	}
	return nil
}

// plain are the headers that describe a request and hold no secret.
var plain = []string{"Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Git-Protocol", "Range", "User-Agent"}

// RetryAfter returns how long a server asks to wait, by the fields Retry-After-Ms or Retry-After in either form, or 0.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	retryAfter := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(retryAfter, 64); err == nil && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if date, err := http.ParseTime(retryAfter); err == nil {
		return max(time.Until(date), 0)
	}
	return 0
}

// origin returns scheme, host and port, in a form that can be compared.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}
