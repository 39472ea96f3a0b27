package auth

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// endpoint is the host of a Host field or of an origin: a name or an address, with an optional port.
type endpoint struct {
	name string // as written, without a final dot
	addr netip.Addr
	port string
}

// parseEndpoint parses name[:port], IPv4[:port] or [IPv6][:port]. It refuses users, zones, paths, and unusual spellings
// of an address that a resolver might read differently.
func parseEndpoint(text string) (endpoint, bool) {
	host, port, ok := cutPort(text)
	if !ok || host == "" {
		return endpoint{}, false
	}
	if host[0] == '[' {
		inner, closed := strings.CutSuffix(host[1:], "]")
		addr, err := netip.ParseAddr(inner)
		return endpoint{addr: addr.Unmap(), port: port}, closed && err == nil && addr.Is6() && addr.Zone() == ""
	}
	name := strings.TrimSuffix(host, ".")
	label := name[strings.LastIndexByte(name, '.')+1:]
	if label != "" && strings.Trim(label, "0123456789") == "" { // a URL parser would take the host for an IPv4 address
		addr, err := netip.ParseAddr(host)
		return endpoint{addr: addr, port: port}, err == nil && addr.Is4()
	}
	return endpoint{name: name, port: port}, isName(name)
}

// cutPort splits off ":port". ok is false if the port is not a number up to 65535.
func cutPort(text string) (host, port string, ok bool) {
	pos := strings.LastIndexByte(text, ':')
	if pos < 0 || strings.HasSuffix(text, "]") {
		return text, "", true
	}
	host, port = text[:pos], text[pos+1:]
	if strings.Trim(port, "0123456789") != "" || len(port) > len("65535") {
		return "", "", false
	}
	n, err := strconv.Atoi(port)
	return host, port, err == nil && n <= 65535
}

// isName reports whether name is a valid host name.
func isName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.ContainsFunc(label, notInName) {
			return false
		}
	}
	return len(name) <= 253
}

// notInName reports whether a character occurs in no label of a host name and in no name of a header field.
func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

func (e endpoint) loopback() bool {
	return e.addr.IsLoopback() || strings.EqualFold(e.name, "localhost")
}

func (e endpoint) sameHost(o endpoint) bool {
	return e.addr == o.addr && strings.EqualFold(e.name, o.name)
}

// hosts are the host names that a server answers for.
type hosts struct {
	any  bool
	list []endpoint
}

// newHosts parses the names that the Host field may have. A lone "*" allows all.
func newHosts(names []string) (hosts, error) {
	var h hosts
	for _, name := range names {
		if name == "*" {
			h.any = true
			continue
		}
		e, ok := parseEndpoint(name)
		if addr, err := netip.ParseAddr(name); err == nil && addr.Is6() { // people write IPv6 addresses without brackets
			e, ok = endpoint{addr: addr.Unmap()}, addr.Zone() == ""
		}
		if !ok {
			return h, messages.InvalidInput("%.100q is not a host; write name, name:port, or * for every host", name)
		}
		h.list = append(h.list, e)
	}
	return h, nil
}

// allow reports whether the host is loopback or one of the list. Loopback is safe: no foreign site can make a browser
// send it.
func (h hosts) allow(e endpoint) bool {
	if h.any || e.loopback() {
		return true
	}
	for _, named := range h.list {
		// A host without a port matches every port. Clients leave out the default ports.
		usual := e.port == "" && (named.port == "443" || named.port == "80")
		if named.sameHost(e) && (named.port == "" || named.port == e.port || usual) {
			return true
		}
	}
	return false
}

// CheckBind returns an error (invalid_input) if the server needs no token but addr can be reached by other machines.
// addr is the argument of net.Listen or the listener's address. The name localhost counts as loopback, other names do
// not.
func CheckBind(addr string, authenticated bool) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return messages.InvalidInput("%.100q is not an address to listen at; write host:port, for example 127.0.0.1:7878", addr)
	}
	if authenticated || isLoopbackBind(addr) {
		return nil
	}
	return messages.InvalidInput("refused to listen at %.100s without tokens: whoever reaches it could start runs and read "+
		"all; listen at a loopback address such as 127.0.0.1:7878, or give a token file", addr)
}

// CheckHosts returns an error (invalid_input) if callers need no token but may use the name of another machine: then
// something in front lets others in.
func CheckHosts(names []string, authenticated bool) error {
	h, err := newHosts(names)
	if err != nil || authenticated {
		return err
	}
	for i, name := range names {
		if h.any || !h.list[i].loopback() {
			return messages.InvalidInput("refused to answer for %.100s without tokens: whoever reaches that name could start runs and read all; "+
				"give a token file, or name the proxy that says who calls", name)
		}
	}
	return nil
}

// isLoopbackBind reports whether only this machine reaches the address. Names other than localhost may resolve to
// anything.
func isLoopbackBind(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
