// Package schema holds what callers give to JSON Schemas, and says in words what does not fit.
package schema
