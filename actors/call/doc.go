// Package call records the calls of a model in a run's events: llm.started, the text and the thoughts as they arrive,
// and llm.completed with the evidence of how the answer ended and the verdict.
//
// [Recorded] wraps a model.Stream so that each of its calls is recorded, without the answer's text. [Respond] makes
// one such call and records the text too, as a prompt and a turn of a chat need it.
package call
