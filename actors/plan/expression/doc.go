// Package expression reads the guards and the templates of plans: "${...}" in a text, checked for unknown names and
// wrong types before anything runs, and bounded when it does. An expression has no side effects, no clock and no loops
// but one predicate, such as filter(list, .ok): it takes time and memory in proportion to what it reads.
//
// The language is that of github.com/expr-lang/expr without its variables and most of its functions; [Functions] lists
// what is left.
package expression
