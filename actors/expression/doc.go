// Package expression evaluates guards, and "${...}" in a text, as plans have them. They are checked for unknown names
// and wrong types before anything runs, and bounded when they do. An expression has no side effects and no clock.
//
// Expressions are those of Starlark, a part of Python, over values of JSON. They have no lambda, and no formatting of
// texts by %. An object's member is x.name or x["name"]; a member that the object lacks is None. [Functions] and
// [Methods] list what an expression may call.
//
// Starlark bounds steps and not memory. So each operator and each call pays for all values that it takes and gives.
package expression
