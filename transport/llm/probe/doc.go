// Package probe checks what a server of language models can do and how far to trust its answers.
//
// [Run] asks the server short questions through the client of package llm and records what the connection carried.
// Each [Check] reports what it saw and, unless it passes, what to do about it. The facts that other commands need
// are a [Profile], which holds no secret and is kept in a file. Run offers tools to the model, and calls none.
package probe
