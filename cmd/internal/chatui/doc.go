// Package chatui is the conversation on a terminal: what the user writes, and what a model answers, thinks and calls.
//
// What is finished goes up into the terminal's own scrollback, where it can be searched and copied. Below it is what
// still changes: the last block of the answer, the tools that run, and the line that the user edits. A turn is shown
// from its events and their State alone.
package chatui
