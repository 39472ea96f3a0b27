// Package client calls the HTTP API of a lastword server.
//
// [New] returns a [Client]. [Client.Follow] reads the events of a run. It survives lost connections and restarts of the
// server: it reconnects with its cursor, and checks that no event is missing or comes twice. Errors are *messages.Error
// with the server's error code, or transport_closed if the server cannot be reached.
package client
