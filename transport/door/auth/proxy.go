package auth

import (
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Proxy stands in front of the server, checks who calls, and names the caller in a header field.
type Proxy struct {
	header string
	peers  []netip.Prefix
	unix   bool // whoever can open the server's socket is the proxy
}

// NewProxy returns a Proxy that calls from one of the peers: addresses or networks such as 10.1.0.0/16, or unix for a
// server on a socket. Errors: invalid_input.
func NewProxy(header string, peers []string) (*Proxy, error) {
	p := &Proxy{header: textproto.CanonicalMIMEHeaderKey(header)}
	if header == "" || strings.ContainsFunc(header, notInName) || p.header == "Authorization" || p.header == "Cookie" {
		return nil, messages.InvalidInput("%.100q is no header field for a caller's name; take one that the proxy alone sets, such as X-Forwarded-User", header)
	}
	for _, peer := range peers {
		network, err := netip.ParsePrefix(peer)
		if addr, no := netip.ParseAddr(peer); no == nil {
			network, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		switch {
		case peer == "unix":
			p.unix = true
		case err != nil || network.Bits() == 0:
			return nil, messages.InvalidInput("%.100q is not the peer that stands in front; write its address, its network such as 10.1.0.0/16, or unix", peer)
		default:
			p.peers = append(p.peers, network)
		}
	}
	if len(peers) == 0 {
		return nil, messages.InvalidInput("a proxy that names callers needs a peer: the address that it calls from, such as 127.0.0.1")
	}
	return p, nil
}

// calls reports whether the request comes from the proxy.
func (p *Proxy) calls(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil { // a Unix socket
		return p.unix
	}
	addr := from.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(p.peers, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// caller returns the name of the caller that the proxy sends with the request, or "". Errors: forbidden if somebody else
// sends one, bad_request if it is no name.
func (p *Proxy) caller(r *http.Request) (string, error) {
	if p == nil || len(r.Header[p.header]) == 0 {
		return "", nil
	}
	names := r.Header[p.header]
	switch {
	case !p.calls(r):
		return "", messages.Errorf(CodeForbidden, "the request has the field %s, but %.100s is not the proxy that may send it; "+
			"leave it out, or ask the operator to name this peer", p.header, r.RemoteAddr)
	case len(names) > 1 || !IsPrincipal(names[0]):
		return "", messages.Errorf(CodeBadRequest, "the field %s must hold one name of 1 to 64 of A-Z a-z 0-9 . _ @ + -; "+
			"have the proxy replace what callers send", p.header)
	}
	return names[0], nil
}

// principal is the caller that the proxy names. It is never an admin. What a page of another site has made a browser ask
// for, with the browser's login at the proxy, may read at most.
func (p *Proxy) principal(name string, r *http.Request) Principal {
	who := Principal{Name: name, Scopes: []Scope{ReadRuns, WriteRuns}}
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Header.Get("Origin") == "" && !slices.Contains([]string{"", "same-origin", "none"}, site) {
		return who.reader()
	}
	return who
}

// enter serves a request that the proxy has sent, or answers one that it has not.
func (m *Middleware) enter(w http.ResponseWriter, r *http.Request, name string, door http.Handler) {
	switch {
	case name != "" && m.within(w, m.byName.take(name)):
		who := m.config.Proxy.principal(name, r)
		r = m.locate(w, r, true) // the login at the proxy is the page's session
		r.Header.Del("Authorization")
		r.Header.Del(m.config.Proxy.header)
		m.share(w, r.WithContext(With(r.Context(), who)), name, door)
	case name == "" && m.within(w, m.byAddr.take(remote(r))):
		m.unauthenticated(w, r, messages.Errorf(CodeUnauthorized, "the request names no caller: call through the proxy, which sets %s", m.config.Proxy.header))
	}
}
