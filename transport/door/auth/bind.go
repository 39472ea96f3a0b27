package auth

import (
	"net"
	"net/netip"
	"strings"
)

// CheckBind returns an error (invalid_input) if the server needs no token but addr can be reached by other machines.
// addr is the argument of net.Listen or the listener's address. The name localhost counts as loopback, other names do
// not.
func CheckBind(addr string, authenticated bool) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return invalid("%.100q is not an address to listen at; write host:port, for example 127.0.0.1:7878", addr)
	}
	if authenticated || isLoopbackBind(addr) {
		return nil
	}
	return invalid("refused to listen at %.100s without tokens: whoever reaches it could start runs and read "+
		"all; listen at a loopback address such as 127.0.0.1:7878, or give a token file", addr)
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
