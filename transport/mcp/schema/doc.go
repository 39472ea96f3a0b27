// Package schema reads the JSON Schemas of tools and questions, holds arguments to them, and says in people's words
// what does not fit.
package schema
