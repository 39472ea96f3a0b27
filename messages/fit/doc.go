// Package fit validates JSON values against JSON Schemas, and explains in words what does not fit.
package fit
