// Package surface holds what a source file shows to others: what it says of itself, and the exported names with
// signature, first sentence and line. Each language finds it in a package of its own; what they share of reading
// comments and names is here.
package surface
