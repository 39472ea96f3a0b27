// Package source reads the source files of a repository. Go is parsed by the standard library. For other languages,
// patterns of lines find declarations (package lines), and shared functions find imports and descriptions (package
// language).
package source
