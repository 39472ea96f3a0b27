//go:build race

package source_test

// slower is how much more time the race detector takes.
const slower = 12
