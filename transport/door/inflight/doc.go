// Package inflight counts requests in flight, so that a server can limit them and wait for their end.
package inflight
