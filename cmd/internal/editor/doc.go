// Package editor is the command acp: the chat of an editor that starts lastword as its agent.
package editor
