package git

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// openHTTP returns a source. It does not connect yet.
func openHTTP(u *url.URL, o Options, m *meter) (source, error) {
	client := o.Allow.Client()
	guarded := &http.Client{Transport: &meteredTransport{base: client.Transport, meter: m},
		CheckRedirect: client.CheckRedirect}
	s, err := githttp.NewClient(guarded).NewUploadPackSession(endpoint(u), credentials(u, o))
	if err != nil {
		return nil, invalid("%s cannot be read: %s", u.Hostname(), oneLine(err.Error()))
	}
	return &wire{session: s, host: u.Hostname(), meter: m, limits: o.Limits.orDefaults(),
		closing: client.CloseIdleConnections}, nil
}

// endpoint converts a URL for go-git, whose own parser accepts more than URLs.
func endpoint(u *url.URL) *transport.Endpoint {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port, _ := strconv.Atoi(u.Port()) // the policy has checked it
	path := strings.TrimRight(u.EscapedPath(), "/")
	return &transport.Endpoint{Protocol: strings.ToLower(u.Scheme), Host: host, Port: port, Path: path}
}

// credentials returns the token for the host. Without one it returns an untyped nil, as go-git requires.
func credentials(u *url.URL, o Options) transport.AuthMethod {
	host := strings.ToLower(u.Hostname())
	if o.Token == nil || !strings.EqualFold(u.Scheme, "https") && !isThisMachine(host) {
		return nil
	}
	token := o.Token(host)
	if token == "" {
		return nil
	}
	o.Secrets.Add("token", token)
	return &githttp.BasicAuth{Username: cmp.Or(o.User, userFor(host)), Password: token}
}

// isThisMachine reports whether the host is this machine.
func isThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// userFor returns the user name that goes with a token. Most hosts check only the token.
func userFor(host string) string {
	switch {
	case strings.Contains(host, "gitlab"):
		return "oauth2"
	case strings.Contains(host, "bitbucket"):
		return "x-token-auth"
	}
	return "x-access-token"
}

// meteredTransport counts received bytes, and drops the bodies of error responses, which go-git would read without a
// limit.
type meteredTransport struct {
	base  http.RoundTripper
	meter *meter
}

// RoundTrip implements http.RoundTripper.
func (t *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		_ = resp.Body.Close()
		resp.Body = http.NoBody
		return resp, nil
	}
	resp.Body = metered{resp.Body, t.meter}
	return resp, nil
}
