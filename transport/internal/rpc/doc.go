// Package rpc serves protocols of JSON-RPC 2.0 at a door, over POST requests and WebSockets.
package rpc
