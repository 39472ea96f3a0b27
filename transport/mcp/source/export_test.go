package source

import "time"

// Hurry lets servers that have ended be started again at once.
func (s *Source) Hurry() {
	for _, one := range s.servers {
		one.pause = time.Nanosecond
	}
}

// RPCError is a JSON-RPC error of a server.
type RPCError = rpcError
