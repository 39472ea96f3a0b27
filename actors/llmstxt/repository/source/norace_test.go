//go:build !race

package source_test

const slower = 1
