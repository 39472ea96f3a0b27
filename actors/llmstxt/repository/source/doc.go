// Package source reads the source files of a repository. Go goes through the standard library's parser. What the files of
// other languages declare is found by patterns of their lines (package lines), what they import and say of themselves by
// functions that languages share (package language).
package source
