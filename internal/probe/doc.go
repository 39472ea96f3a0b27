// Package probe checks what a model server can do, and how far its answers can be trusted.
//
// [Run] asks the server short questions through package llm, and records what it received. Each [Check] reports what it
// has seen and, unless it passes, what to do about it. Facts that other commands need are stored in a [Profile], a file
// without secrets. Run offers tools to the model, but never calls one.
package probe
