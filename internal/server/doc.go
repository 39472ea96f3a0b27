// Package server runs an HTTP server that limits connections and the duration of requests, and that waits for requests
// in flight when it stops. A long stream must end when auth.Draining is closed.
package server
