package dial

import (
	"net/netip"
	"strings"
	"sync"
)

// kinds lists the blocks of addresses that are not public, from IANA's registries of special-purpose addresses. The
// first block that contains an address wins. The few globally reachable addresses in special blocks serve protocols,
// not repositories, so they count as special.
var kinds = []struct {
	kind   string // "" means public
	blocks string
}{
	{"unspecified", "0.0.0.0/32 ::/128"},
	{"this-network", "0.0.0.0/8"},
	{"loopback", "127.0.0.0/8 ::1/128"},
	{"private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16"},
	{"link-local", "169.254.0.0/16 fe80::/10"},
	{"carrier-grade NAT", "100.64.0.0/10"},
	{"benchmark", "198.18.0.0/15 2001:2::/48"},
	{"multicast", "224.0.0.0/4 ff00::/8"},
	{"broadcast", "255.255.255.255/32"},
	{"documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"},
	{"6to4 relay", "192.88.99.0/24"},
	{"IPv4-compatible", "::/96"},
	{"IPv4-translated", "::ffff:0:0:0/96"},
	{"NAT64", "64:ff9b::/96 64:ff9b:1::/48"},
	{"discard", "100::/63"}, // 100::/64 and 100:0:0:1::/64
	{"unique local", "fc00::/7"},
	{"site-local", "fec0::/10"},
	{"Teredo", "2001::/32"},
	{"6to4", "2002::/16"},
	{"reserved", "240.0.0.0/4 192.0.0.0/24 2001::/23"}, // 2001::/23 is for protocol assignments
	{"", "0.0.0.0/0 2000::/3"},                         // 2000::/3 is all allocated IPv6 space
	{"reserved", "::/0"},
}

// block is a range of addresses. kind says why they are not public; it is empty for public ones.
type block struct {
	netip.Prefix
	kind string
}

// blocks are the ranges of kinds, parsed at the first use. The first range that contains an address counts.
var blocks = sync.OnceValue(func() (list []block) {
	for _, k := range kinds {
		for b := range strings.FieldsSeq(k.blocks) {
			list = append(list, block{netip.MustParsePrefix(b), k.kind})
		}
	}
	return list
})

// kindOf says why an address is not public. It returns "" for a public address.
func kindOf(addr netip.Addr) string {
	if addr.Is4In6() {
		return "IPv4-mapped"
	}
	for _, b := range blocks() {
		if b.Contains(addr.WithZone("")) {
			return b.kind
		}
	}
	return "unspecified" // not a valid address
}

// isMetadata reports whether the address is a cloud's metadata service. It also checks IPv4 addresses within IPv6
// addresses, because the kernel or a translator would convert those back.
func isMetadata(addr netip.Addr) bool {
	switch embedded(addr.WithZone("")).String() {
	case "169.254.169.254", // most clouds
		"169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23", // Amazon
		"fd20:ce::254",    // Google
		"168.63.129.16",   // Azure
		"192.0.0.192",     // Oracle
		"100.100.100.200": // Alibaba
		return true
	}
	return false
}

// embedded returns the IPv4 address within an IPv6 address, or else the address itself.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return addr
	}
	b := addr.As16()
	switch kindOf(addr) {
	case "IPv4-mapped", "IPv4-compatible", "IPv4-translated", "NAT64":
		return netip.AddrFrom4([4]byte(b[12:]))
	case "6to4":
		return netip.AddrFrom4([4]byte(b[2:6]))
	case "Teredo":
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
	}
	return addr
}
