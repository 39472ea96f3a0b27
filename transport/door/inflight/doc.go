// Package inflight counts the requests in flight.
package inflight
