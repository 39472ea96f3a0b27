// Package stable sorts lists and keeps the order of equal elements. All types share one compiled sort here. The compiler
// makes a copy of the sorts in package slices for each type of element, of 8 to 15 kB in the program.
package stable
