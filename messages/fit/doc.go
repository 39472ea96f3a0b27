// Package fit validates JSON values against JSON Schemas, and explains in words what does not fit. Programs, people and
// models all get these words.
package fit
