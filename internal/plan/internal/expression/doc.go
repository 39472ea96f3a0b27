// Package expression evaluates the guards and "${...}" templates of plans. Expressions are checked for unknown names
// and wrong types before anything runs, and their evaluation is bounded. An expression has no side effects and no
// clock.
//
// Expressions are Starlark, a subset of Python, over JSON values. They have no lambda, and no formatting
// with %. A member of an object is x.name or x["name"]; a missing member is None. [functionNames] and [methodNames] list what
// an expression may call.
//
// Starlark bounds steps but not memory. So each operator and each call pays for all values that it takes and returns.
package expression
