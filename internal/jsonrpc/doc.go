// Package jsonrpc reads and writes the messages of JSON-RPC 2.0.
package jsonrpc
