// Package golang extracts the public surface of Go packages with the standard library's parser.
package golang
