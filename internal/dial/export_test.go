package dial

import (
	"context"
	"net"
	"net/http"
	"net/netip"
)

// Connect is the dialing of an address that was checked.
type Connect = func(ctx context.Context, network, address string) (net.Conn, error)

// Over puts a test's own name server and wires in the place of the world.
func (p Policy) Over(names *net.Resolver, connect Connect) Policy {
	p.network = &network{resolver: names, connect: connect}
	return p
}

// Transport is what a client rests on.
func (p Policy) Transport() *http.Transport { return p.transport() }

// KindOf is what the checks hold an address to be.
func KindOf(addr netip.Addr) string { return kindOf(addr) }
