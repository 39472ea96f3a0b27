// Package completions answers /v1/chat/completions of the OpenAI API.
//
// A completion is a run of its own: the client sends the whole conversation, and a run whose client leaves is
// cancelled. If the run asks something, the answer ends with the question, and the user's next message answers it:
// the client sends a conversation that is the run's up to the question, or names the chat in a header X-Chat-Id or
// Open WebUI's own. A text that is taken back cannot be: what differs follows after a line.
package completions
