// Package fit reads JSON Schemas, holds to them what callers give, and says in words what does not fit.
package fit
