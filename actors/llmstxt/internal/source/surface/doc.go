// Package surface defines the public surface of a source file: its own description, and its exported names with
// signature, first sentence and line. Other packages extract it for each language.
package surface
