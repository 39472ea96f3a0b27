// Package history converts a conversation to the messages that a server of language models accepts.
//
// A conversation consists of the messages of the user and the assistant, the assistant's tool calls, and their
// results. It may end anywhere, because a turn can be canceled. [Wire] returns the messages to send.
package history
