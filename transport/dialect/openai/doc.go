// Package openai answers clients of the OpenAI API: /v1/models, /v1/chat/completions and /v1/responses.
//
// The models are the jobs whose answer is a text. A chat completion is a run of its own: the client sends the whole
// conversation, and a run whose client leaves is cancelled. If the run asks something, the answer ends with the
// question; with a header X-Chat-Id, or Open WebUI's own, the next message of the chat is the answer. A text that is
// taken back cannot be: what differs follows after a line.
//
// A response is a segment of a run, see package view; its id is that of the run with the segment's number. With
// background it outlives its client. A sequence_number is the number of the run's last milestone, shifted by 26 bits,
// plus a position after it, which is the same however the log was merged: each byte of a text counts, and each other
// event is one. So a stream goes on after any number that somebody was sent.
package openai
