// Package lazyregexp has regular expressions that are compiled at their first use. The packages of llms.txt have two
// hundred in their variables, and most commands need none. It is modelled on Go's own internal/lazyregexp. In tests the
// expressions are compiled at once, so that a wrong one fails every test of its package.
package lazyregexp
