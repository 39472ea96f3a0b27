// Package tool holds the tools that a language model may call: Go functions with arguments of a JSON Schema.
//
// A [Set] runs them. Whatever goes wrong with a call is a [Result] that says to the model what to do: an unknown tool,
// arguments that do not fit, an error, a panic, a timeout. [Repository] are tools that read a folder.
package tool
