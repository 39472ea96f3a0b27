// Package stable sorts lists and deletes from them, and keeps the order of the rest. All types share one compiled form here.
// Of package slices the compiler makes a copy for each type of element: 8 to 15 kB for a sort, 1 kB for DeleteFunc of a struct.
package stable
