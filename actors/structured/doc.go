// Package structured has a language model answer with a Go value.
//
// [Ask] makes the schema of the answer from the value's type, its fields in order, and tells the strings of the answer
// while it is still incomplete. What it takes in the end is one JSON object of that schema, no key twice; anything else
// is sent back with all that is wrong with it, twice at most, and then fails as invalid_output. A [Ladder] remembers by
// which means a server can be kept to a schema.
//
// An answer is data. Nothing in it is run, and the only tool ever offered is the form of the answer itself.
package structured
