package dial

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Named returns an HTTP client for a server that a person has named: an API, a collector, a server of tools. It reaches
// addresses that are not public, but no metadata service. It follows redirects of the server to itself alone, so that no
// header, token or body reaches another origin.
func Named(t *http.Transport) *http.Client {
	return &http.Client{Transport: NamedTransport{t}, CheckRedirect: sameOrigin}
}

// NewTransport returns a transport that uses the environment's proxy and connects to no metadata service.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: barMetadata}).DialContext
	return t
}

// barMetadata refuses a connection to a metadata service, whatever name has led there.
func barMetadata(_, address string, _ syscall.RawConn) error {
	if addrPort, err := netip.ParseAddrPort(address); err == nil && isMetadata(addrPort.Addr()) {
		return refuse("refused: %s is %s", addrPort.Addr(), metadata)
	}
	return nil
}

// NamedTransport is a transport whose proxy gets no request for a metadata service.
type NamedTransport struct{ *http.Transport }

// RoundTrip sends the request.
func (t NamedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := checkProxied(t.Transport, r); err != nil {
		closeBody(r)
		return nil, err
	}
	return t.Transport.RoundTrip(r)
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// sameOrigin refuses redirects to another origin.
func sameOrigin(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return refuse("refused: %s redirects more than %d times", r.URL.Hostname(), maxRedirects)
	}
	if origin(r.URL) != origin(via[0].URL) {
		return refuse("refused: %s redirects elsewhere, and nothing is sent there; give the URL that it redirects to", via[0].URL.Hostname())
	}
	return nil
}

// metadata says what a metadata service is, worded to follow "is".
const metadata = "the address of a cloud's metadata service, which is never read"

// metadataNames are the names that clouds give to their metadata services.
var metadataNames = []string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
	"metadata.tencentyun.com", "metadata.azure.internal", "metadata.platformequinix.com", "metadata.packet.net"}

// lookupTimeout limits the lookup of a name that a proxy resolves anyway.
const lookupTimeout = time.Second

// checkProxied refuses a request for a metadata service if a proxy would send it: the connection's own check sees the
// proxy alone. A name that this machine cannot resolve passes, unless it is known.
func checkProxied(t *http.Transport, r *http.Request) error {
	if t.Proxy == nil {
		return nil
	}
	if proxy, err := t.Proxy(r); err != nil || proxy == nil {
		return err
	}
	return offMetadata(r.Context(), r.URL)
}

// offMetadata refuses a URL whose host is, names or resolves to a metadata service.
func offMetadata(ctx context.Context, u *url.URL) error {
	addr, err := parseHost(u.Hostname())
	if err != nil {
		return err
	}
	found := []netip.Addr{addr}
	if !addr.IsValid() {
		name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		if slices.Contains(metadataNames, name) {
			return refuse("refused: %s is %s", name, metadata)
		}
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		found, _ = net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	}
	for _, one := range found {
		if isMetadata(one.Unmap()) {
			return refuse("refused: %s is %s", u.Hostname(), metadata)
		}
	}
	return nil
}

// ServerTransport returns a transport to a server of lastword, and the server's URL for requests: it dials the socket of a
// base unix:PATH, and any other base is the URL.
func ServerTransport(base string) (*http.Transport, string) {
	t := NewTransport()
	path, ok := strings.CutPrefix(base, "unix:")
	if !ok {
		return t, base
	}
	t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return t, "http://localhost"
}
