// Package source reads the source files of a repository, each language in a folder of its own.
//
// Go goes through the standard library's parser. The other languages have scanners: they know strings, comments and
// nesting, not the grammar, so they never fail on a file that is broken, of a newer language version, or cut short.
// They take time linear in the text.
package source
