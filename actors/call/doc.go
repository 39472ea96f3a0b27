// Package call says in a run's events what a model is asked and how it answers: llm.started, the text and the thoughts
// as they come, and llm.completed with the evidence of the answer's end and the verdict on it.
//
// [Told] wraps any model.Stream so that each of its calls is told; the answer's text is left to the caller. [Respond]
// makes one such call and says its text too: what a prompt and a turn of a chat do.
package call
