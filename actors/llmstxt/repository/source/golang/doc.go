// Package golang reads Go, through the standard library's parser.
package golang
