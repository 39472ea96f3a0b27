// Package completions serves /v1/chat/completions of the OpenAI API.
//
// Each completion is a separate run. The client sends the whole conversation, and if it leaves, the run is cancelled.
// If the run asks something, the answer ends with the question, and the user's next message answers it. The server
// recognizes the chat by its messages, or by the header X-Chat-Id or Open WebUI's own. The API cannot take text back;
// if text changes, the new text follows after a line.
package completions
