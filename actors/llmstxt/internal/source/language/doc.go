// Package language describes how to read each language, and has the functions that languages share: for imports on a
// line, and for the comment at the beginning of a file.
package language
