// Package language says what is known of reading a language, and holds what languages share of it: how imports are
// written on a line, and where the comment stands that a file begins with.
package language
