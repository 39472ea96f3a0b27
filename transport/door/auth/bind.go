package auth

import (
	"net"
	"net/netip"
	"strings"
)

// CheckBind refuses an address that other machines can reach if the server asks for no token. addr is net.Listen's
// argument or the listener's address. localhost counts as loopback, other names do not. Errors: invalid_input, saying
// what to do.
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

func isLoopbackBind(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
