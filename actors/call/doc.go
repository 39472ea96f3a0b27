// Package call calls a model from a task, and records the call in the run's events: llm.started, the text and
// thoughts as they arrive, and llm.completed with the verdict and its evidence.
//
// [Recorded] wraps a model.Stream so that each call is recorded, without the answer's text. [Respond] makes one such
// call and also records the text, as a prompt or a turn of a chat needs it.
package call
