package dial

import (
	"context"
	"net"
	"net/http"
	"net/netip"
)

// Over puts a test's own name server and wires in the place of the world.
func (p Policy) Over(names *net.Resolver, connect func(ctx context.Context, network, address string) (net.Conn, error)) Policy {
	p.network = &network{resolver: names, connect: connect}
	return p
}

// Transport is what a client rests on.
func (p Policy) Transport() *http.Transport { return p.transport() }

// KindOf is what the checks hold an address to be.
func KindOf(addr netip.Addr) string { return kindOf(addr) }
