// Package expression reads the guards and the templates of plans: "${...}" in a text, checked for unknown names and
// wrong types before anything runs, and bounded when it does. An expression has no side effects and no clock. Its
// only loop is a comprehension, such as [r.outcome for r in list], without another one in its body.
//
// Expressions are those of Starlark, a part of Python, over values of JSON. They have no lambda, no tuples, and no
// formatting of texts by %. An object's member is x.name or x["name"]; a member that the object lacks is None.
// [Functions] and [Methods] list what an expression may call.
//
// The parser is Starlark's. Its interpreter bounds steps and not memory, so this package evaluates the tree itself
// and counts every byte that it builds.
package expression
