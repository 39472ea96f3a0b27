// Package client calls the HTTP API of a lastword server.
//
// [New] returns a [Client]. [Client.Follow] reads a run's events and survives cut connections and restarts of the server:
// it comes back with its cursor, and checks that nothing is missing and nothing comes twice. Errors are *messages.Error
// with the code that the server gave, or transport_closed where it cannot be reached.
package client
