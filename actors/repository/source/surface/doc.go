// Package surface reads the public surface of source files: what they say of themselves, and the exported names with
// signature, first sentence and line.
//
// Go goes through the standard library's parser. The other languages have scanners: they know strings, comments and
// nesting, not the grammar, so they never fail on a file that is broken, of a newer language version, or cut short.
// They take time linear in the text.
package surface
