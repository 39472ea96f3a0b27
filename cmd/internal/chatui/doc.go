// Package chatui shows a conversation with a model on a terminal: it reads the user's messages, and shows answers,
// thoughts and tool calls.
//
// What is finished moves up into the terminal's own scrollback, where it can be searched and copied. Below it is what
// still changes: the last block of the answer, the tools in progress, and the line that the user edits. A turn is shown
// only from its events and their State.
package chatui
