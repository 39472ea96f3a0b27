// Package history turns a conversation into the messages that a server of language models accepts.
//
// A conversation is what was said: the messages of the user and the assistant, the assistant's calls of tools and
// their results. It may end anywhere, because a turn can be canceled. [Wire] makes of it what the model is sent.
package history
