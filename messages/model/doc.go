// Package model says what is said to and by a language model: the [Request], the parts of its streamed answer, and the
// [Verdict] on how it ended.
//
// An answer is a [Stream]: pieces of text and thought as they come, complete thoughts and tool calls, and exactly one
// [End], last. The End carries the [Evidence] of the transport and the verdict that [Judge] computes from it; nothing
// else decides whether an answer is complete. The package uses the standard library and package messages alone.
package model
