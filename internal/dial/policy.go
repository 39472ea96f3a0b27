package dial

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Policy says what is allowed besides https to public addresses.
type Policy struct {
	HTTP    bool // http, and redirects from https to http
	Private bool // addresses that are not public, and the proxy of the environment
	SSH     bool // ssh
	File    bool // file URLs
	// Fixed says that the user cannot allow more, so that refusals name no flag except --allow-http.
	Fixed bool
	// Roots are the trusted certificate authorities; nil means the system's.
	Roots *x509.CertPool

	network *network
}

// network replaces the real network in tests.
type network struct {
	resolver *net.Resolver
	connect  func(ctx context.Context, network, address string) (net.Conn, error)
}

// Parse parses and checks a URL. Errors: invalid_input.
func (p Policy) Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil { // the error's text would repeat the URL
		return nil, refuse("refused: this is not a URL; write it as https://host/path")
	}
	return u, p.checkURL(u)
}

// checkURL checks the scheme, the spelling of the host, that there are no credentials, and, if the host is an address,
// that it is allowed. It does not use DNS.
func (p Policy) checkURL(u *url.URL) error {
	if err := p.checkScheme(u); err != nil {
		return err
	}
	if err := checkUser(u); err != nil {
		return err
	}
	if strings.EqualFold(u.Scheme, "file") {
		return checkFile(u)
	}
	if err := checkPort(u.Port()); err != nil {
		return err
	}
	addr, err := parseHost(u.Hostname())
	name := "." + strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case err != nil:
		return err
	case addr.IsValid():
		return p.checkLiteral(addr)
	case strings.HasSuffix(name, ".localhost") && !p.Private:
		return refuse("refused: %s is this machine%s", u.Hostname(), p.advice("; --allow-private allows it on the command line"))
	}
	return nil
}

// checkScheme refuses schemes that the policy does not allow. The error names what allows them.
func (p Policy) checkScheme(u *url.URL) error {
	scheme := strings.ToLower(u.Scheme)
	switch {
	case u.Opaque != "" || scheme == "":
		return refuse("refused: this is not a whole URL; write it as https://host/path")
	case scheme == "https", scheme == "http" && p.HTTP, scheme == "ssh" && p.SSH, scheme == "file" && p.File:
		return nil
	case scheme == "http":
		return refuse("refused: http is neither encrypted nor authenticated; use https, or --allow-http on the command line")
	case scheme == "ssh":
		return refuse("refused: ssh is not allowed; use https%s", p.advice(", or --allow-ssh on the command line"))
	case scheme == "file":
		return refuse("refused: file URLs are not allowed%s",
			p.advice("; name the file or folder itself, or --allow-private on the command line"))
	}
	return refuse("refused: the scheme %.20q is not supported; use https", scheme)
}

// checkUser allows a user name only for ssh, whose URLs often contain "git@".
func checkUser(u *url.URL) error {
	if u.User == nil {
		return nil
	}
	if _, secret := u.User.Password(); strings.EqualFold(u.Scheme, "ssh") && !secret {
		return nil
	}
	return refuse("refused: the URL holds credentials, which logs and other users' process lists show; " +
		"put the token in LASTWORD_GIT_TOKENS as host=token, or for GitHub in LASTWORD_GIT_TOKEN (or GH_TOKEN or " +
		"GITHUB_ACCESS_TOKEN) and remove it from the URL")
}

// checkFile refuses file URLs that name another machine, as Windows shares do.
func checkFile(u *url.URL) error {
	if u.Host != "" && u.Host != "localhost" {
		return refuse("refused: a file URL names no other machine; write it as file:///path")
	}
	if !strings.HasPrefix(u.Path, "/") {
		return refuse("refused: a file URL holds an absolute path; write it as file:///path")
	}
	return nil
}

func checkPort(port string) error {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return refuse("refused: %.20q is not a port; ports are 1 to 65535", port)
	}
	return nil
}

// checkLiteral checks an address that the URL itself contains.
func (p Policy) checkLiteral(addr netip.Addr) error {
	if why := p.bars(addr); why != "" {
		return refuse("refused: %s is %s", addr, why)
	}
	return nil
}

// bars says why the address may not be dialed, worded to follow "is". It returns "" if it may.
func (p Policy) bars(addr netip.Addr) string {
	if isMetadata(addr) {
		return metadata
	}
	if kind := kindOf(addr); kind != "" && !p.Private {
		return article(kind) + " " + kind + " address" + p.advice("; --allow-private allows it on the command line")
	}
	return ""
}

// article returns the indefinite article for a noun.
func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiouI") && !strings.HasPrefix(noun, "uniq") {
		return "an"
	}
	return "a"
}

// advice returns the words about a flag, unless the user cannot set that flag.
func (p Policy) advice(words string) string {
	if p.Fixed {
		return ""
	}
	return words
}

func refuse(format string, args ...any) error { return messages.InvalidInput(format, args...) }

// parseHost returns the address that the host is, or the zero Addr for a name. Other spellings that a resolver might
// take for an address (2130706433, 0x7f.1, 127.1) are errors. So are names outside ASCII, which some libraries convert.
func parseHost(host string) (netip.Addr, error) {
	if host == "" {
		return netip.Addr{}, refuse("refused: the URL names no host; write it as https://host/path")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" && !addr.IsLinkLocalUnicast() {
			return addr, refuse("refused: only a link-local address has a zone")
		}
		return addr, nil
	}
	name := strings.TrimSuffix(host, ".")
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return netip.Addr{}, refuse("refused: %.80q is not a host name; write it in ASCII letters, "+
				"digits, dots and hyphens (an international name in its xn-- form)", host)
		}
	}
	if len(name) > 253 {
		return netip.Addr{}, refuse("refused: the host name is longer than 253 characters")
	}
	if isNumber(name[strings.LastIndexByte(name, '.')+1:]) {
		return netip.Addr{}, refuse("refused: %.80q looks like an address in an unusual spelling; "+
			"write an IPv4 address as four decimal numbers", host)
	}
	return netip.Addr{}, nil
}

// isLabel reports whether the label of a host name is valid. It allows underscores, which occur in practice.
func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return strings.IndexFunc(label, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	}) < 0
}

// isNumber reports whether URL parsers would take the host for an IPv4 address, because of its last label.
func isNumber(label string) bool {
	digits := "0123456789"
	if rest, hex := strings.CutPrefix(strings.ToLower(label), "0x"); hex {
		label, digits = rest, "0123456789abcdefABCDEF"
	}
	return strings.Trim(label, digits) == ""
}
