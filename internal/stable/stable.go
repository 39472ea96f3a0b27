package stable

import (
	"iter"
	"slices"
	"sort"
)

// Sort sorts the list. compare returns less than zero if a comes before b, as in package slices.
func Sort[E any](list []E, compare func(a, b E) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Sorted returns the elements of seq in order.
func Sorted[E any](seq iter.Seq[E], compare func(a, b E) int) []E {
	list := slices.Collect(seq)
	Sort(list, compare)
	return list
}
