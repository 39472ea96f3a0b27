// Package jsonwalk iterates over the members of JSON objects and the elements of JSON arrays without decoding them.
// It takes one pass, and accepts the texts that encoding/json accepts. It also finds duplicate keys.
package jsonwalk
