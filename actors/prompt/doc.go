// Package prompt is the job that makes one streamed completion, in a run with the single task respond.
//
// [call.Respond] records the call: the text "answer" and the thoughts as they arrive, and llm.completed with the
// verdict and its evidence. Any verdict except completed fails the run with its cause. A cancel closes the connection
// to the model and ends the run as canceled. The job does not retry; the client retries, if no token has arrived.
//
// Tools that a caller offers stay with the caller: the run ends with the tool calls as its result, and the caller's
// next run contains their results as earlier messages.
package prompt
