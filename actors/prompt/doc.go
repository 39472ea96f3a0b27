// Package prompt is the prompt job: one streamed completion, as a run with the one task respond.
//
// [call.Respond] records the call: the text "answer" and the thoughts as they arrive, and llm.completed with the
// evidence of the end and the verdict. A verdict other than completed fails the run with its cause. A cancel closes
// the connection to the model and ends the run as canceled. The job does not retry: the client does, if no token has
// arrived.
//
// The tools that a caller offers are the caller's: the run ends with the calls of them as its result, and their results
// are earlier messages of the caller's next run.
package prompt
