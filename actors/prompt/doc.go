// Package prompt is the prompt job: one streamed completion, as a run with the one task respond.
//
// The run says what [call.Respond] tells: the text "answer" as it comes, the thoughts beside it, and llm.completed with
// the evidence of the end and the verdict on it. A verdict other than completed ends the run with its cause; a cancel
// closes the connection to the model and ends the run as canceled. No tools are offered, and nothing is tried again
// here: a client tries again while nobody has seen a token.
package prompt
