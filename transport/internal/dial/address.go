package dial

import (
	"encoding/binary"
	"net/netip"
)

// kindOf says why an address is not public, or returns "". It knows IANA's registries of special-purpose addresses.
// The few that are globally reachable serve protocols, not repositories, and count as special inside a special block.
func kindOf(addr netip.Addr) string {
	switch {
	case addr.Is4():
		return kindOf4(addr.As4())
	case addr.Is4In6():
		return "IPv4-mapped"
	}
	return kindOf6(addr.As16())
}

func kindOf4(b [4]byte) string {
	two := binary.BigEndian.Uint16(b[:2])
	switch {
	case b == [4]byte{}:
		return "unspecified"
	case b[0] == 0:
		return "this-network"
	case b[0] == 127:
		return "loopback"
	case b[0] == 10, two&0xfff0 == 0xac10, two == 0xc0a8:
		return "private"
	case two == 0xa9fe:
		return "link-local"
	case two&0xffc0 == 0x6440:
		return "carrier-grade NAT"
	case two&0xfffe == 0xc612:
		return "benchmark"
	case b[0]&0xf0 == 0xe0:
		return "multicast"
	case b == [4]byte{255, 255, 255, 255}:
		return "broadcast"
	case b[0]&0xf0 == 0xf0:
		return "reserved"
	}
	return kindOf24([3]byte(b[:3]))
}

func kindOf24(b [3]byte) string {
	switch b {
	case [3]byte{192, 0, 2}, [3]byte{198, 51, 100}, [3]byte{203, 0, 113}:
		return "documentation"
	case [3]byte{192, 0, 0}:
		return "reserved"
	case [3]byte{192, 88, 99}:
		return "6to4 relay"
	}
	return ""
}

func kindOf6(b [16]byte) string {
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	switch {
	case high == 0:
		return kindOfZero(low)
	case high == 0x0064_ff9b_0000_0000 && low>>32 == 0, high>>16 == 0x0064_ff9b_0001:
		return "NAT64"
	case high>>1 == 0x0100_0000_0000_0000>>1: // 100::/64 and 100:0:0:1::/64
		return "discard"
	case high>>57 == 0xfc>>1:
		return "unique local"
	case high>>54 == 0xfe80>>6:
		return "link-local"
	case high>>54 == 0xfec0>>6:
		return "site-local"
	case high>>56 == 0xff:
		return "multicast"
	case high>>61 != 1: // 2000::/3 is all that has been given out
		return "reserved"
	}
	return kindOfGlobal(high)
}

// kindOfZero classifies the addresses that begin with 64 zero bits.
func kindOfZero(low uint64) string {
	switch {
	case low == 0:
		return "unspecified"
	case low == 1:
		return "loopback"
	case low>>32 == 0:
		return "IPv4-compatible"
	case low>>32 == 0xffff_0000:
		return "IPv4-translated"
	}
	return "reserved"
}

func kindOfGlobal(high uint64) string {
	switch {
	case high>>32 == 0x2001_0000:
		return "Teredo"
	case high>>32 == 0x2001_0db8, high>>44 == 0x3fff0:
		return "documentation"
	case high>>16 == 0x2001_0002_0000:
		return "benchmark"
	case high>>41 == 0x2001_0000>>9: // 2001::/23, protocol assignments
		return "reserved"
	case high>>48 == 0x2002:
		return "6to4"
	}
	return ""
}

// isMetadata looks into IPv6 forms of IPv4 addresses: the kernel or a translator converts them back.
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

// embedded returns the IPv4 address inside an IPv6 address, or the address itself.
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
