package dial

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const (
	connectTimeout = 30 * time.Second // for resolving the name and trying all addresses
	tryTimeout     = 4 * time.Second  // for one address, while others are left
	maxCandidates  = 8                // addresses of a name that are tried
)

// DialContext connects to host:port over "tcp", "tcp4" or "tcp6". It resolves the host once and dials only addresses
// that it has checked. For errors see the package comment.
func (p Policy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return nil, refuse("refused: %.80q is not of the form host:port", address)
	}
	if err := checkPort(port); err != nil {
		return nil, err
	}
	whole, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	addrs, err := p.candidates(whole, network, host)
	if err != nil {
		return nil, Explain(ctx, host, err)
	}
	conn, err := p.tryAll(whole, network, addrs, port)
	return conn, Explain(ctx, host, err)
}

// candidates returns those addresses of the host that may be dialed, at least one.
func (p Policy) candidates(ctx context.Context, network, host string) ([]netip.Addr, error) {
	literal, err := parseHost(host)
	if err != nil {
		return nil, err
	}
	if literal.IsValid() {
		return []netip.Addr{literal}, p.checkLiteral(literal)
	}
	resolver := net.DefaultResolver
	if p.network != nil && p.network.resolver != nil {
		resolver = p.network.resolver
	}
	found, err := resolver.LookupNetIP(ctx, strings.Replace(network, "tcp", "ip", 1), host)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	var refusal error
	for _, addr := range found {
		addr = addr.Unmap() // resolvers may return IPv4 addresses as IPv6
		if why := p.barsResolved(addr); why != "" {
			refusal = refuse("refused: %s resolves to %s", host, why)
			continue
		}
		addrs = append(addrs, addr)
	}
	if len(addrs) == 0 && refusal == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(addrs) == 0 {
		return nil, refusal
	}
	return interleave(addrs), nil
}

// barsResolved is bars, worded to follow "resolves to".
func (p Policy) barsResolved(addr netip.Addr) string {
	if isMetadata(addr) {
		return addr.String() + ", the metadata service of a cloud, which is never read"
	}
	if kind := kindOf(addr); kind != "" && !p.Private {
		return "the " + kind + " address " + addr.String() + p.advice("; --allow-private allows it on the command line")
	}
	return ""
}

// interleave moves the first address of the other family to the second place, so that a family without a route costs
// only one attempt.
func interleave(addrs []netip.Addr) []netip.Addr {
	other := slices.IndexFunc(addrs, func(a netip.Addr) bool { return a.Is4() != addrs[0].Is4() })
	if other > 1 {
		addr := addrs[other]
		addrs = slices.Insert(slices.Delete(addrs, other, other+1), 1, addr)
	}
	return addrs[:min(len(addrs), maxCandidates)]
}

// tryAll connects to the first address that answers. It returns the first error, which is the most telling one.
func (p Policy) tryAll(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	var first error
	for i, addr := range addrs {
		conn, err := p.try(ctx, network, net.JoinHostPort(addr.String(), port), i == len(addrs)-1)
		if err == nil {
			return conn, nil
		}
		first = cmp.Or(first, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// try connects to one address. All but the last have a short timeout, because another may be better.
func (p Policy) try(ctx context.Context, network, address string, last bool) (net.Conn, error) {
	if !last {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, tryTimeout)
		defer cancel()
	}
	if p.network != nil && p.network.connect != nil {
		return p.network.connect(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// Explain turns an error of a connection or a [Policy.Client] into an error for users: the cause of ctx if ctx has
// ended; the [messages.Error] in err if there is one; or else an error with the code transport_closed that names the
// host. It returns nil for nil.
func Explain(ctx context.Context, host string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if known, ok := errors.AsType[*messages.Error](err); ok {
		return known
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok { // its text would repeat the URL
		err = wrapped.Err
	}
	dns, named := errors.AsType[*net.DNSError](err)
	says, why := "the connection to %s failed: %s%s", err.Error()
	switch {
	case named && dns.IsNotFound:
		return messages.Errorf(messages.CauseTransportClosed,
			"there is no host %s, or no network to ask; check the spelling and the connection%s", host, hint())
	case named: // the resolver failed
		says, why = "the name %s could not be resolved: %s%s", dns.Err
	}
	failure := messages.Errorf(messages.CauseTransportClosed, says, host, words.Clip(words.OneLine(why), 300), hint())
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, roots := errors.AsType[x509.SystemRootsError](err)
	failure.Retryable = !certificate && !roots // another attempt would fail too
	return failure
}

// hint tells users behind a proxy why a connection may fail.
func hint() string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if os.Getenv(name) != "" {
			return " (" + name + " is set; it is used with --allow-private only)"
		}
	}
	return ""
}
