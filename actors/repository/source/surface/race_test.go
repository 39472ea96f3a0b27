//go:build race

package surface_test

// slower is how much more time the race detector takes.
const slower = 12
