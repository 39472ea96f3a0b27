// Package tally counts what runs while somebody waits for the end.
package tally
