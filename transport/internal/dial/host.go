package dial

import (
	"net/netip"
	"strings"
)

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
