package stable

import (
	"iter"
	"reflect"
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

// DeleteFunc removes the elements for which del returns true, as slices.DeleteFunc does.
func DeleteFunc[E any](list []E, del func(E) bool) []E {
	kept := partition(len(list), func(i int) bool { return !del(list[i]) }, reflect.Swapper(list))
	clear(list[kept:])
	return list[:kept]
}

// partition moves the elements to keep to the front, in their order, and returns their number.
func partition(n int, keep func(int) bool, swap func(i, j int)) (kept int) {
	for i := range n {
		if keep(i) {
			if kept < i {
				swap(kept, i)
			}
			kept++
		}
	}
	return kept
}
