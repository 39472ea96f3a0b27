// Package model defines the [Request] to a language model, the parts of its streamed answer, and the [Verdict] on how
// the answer ended.
//
// A [Stream] yields pieces of text and thoughts as they arrive, complete thoughts, tool calls, and one [End] as the
// last part. The End carries the [Evidence] of the transport and the verdict that [Judge] derives from it; nothing
// else decides whether an answer is complete. The package imports only the standard library and package messages.
package model
