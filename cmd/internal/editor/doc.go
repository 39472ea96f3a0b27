// Package editor implements the command acp, with which editors use lastword as their chat agent.
package editor
