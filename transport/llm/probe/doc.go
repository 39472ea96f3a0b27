// Package probe checks what a server of language models can do, and can be trusted to do.
//
// [Run] checks the server with small questions over the client of package llm and looks at the wire beside it. Each
// [Check] says what was seen and, where it does not pass, what can be done. What was learned is a [Profile], which has
// no secrets and is kept in a file. Nothing that a model answers is acted on: the tools that are offered do nothing.
package probe
