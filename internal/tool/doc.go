// Package tool defines the tools that a language model may call: Go functions whose arguments have a JSON Schema.
//
// A [Set] runs them. Every fault of a call is a [Result] that tells the model what to do: an unknown tool, arguments
// that do not fit, an error, a panic, a timeout. [Repository] returns tools that read a folder.
package tool
