//go:build !race

package surface_test

const slower = 1
