// Package structured makes a language model answer with a Go value.
//
// [Ask] derives the JSON Schema of the answer from the value's type, and streams the strings of the answer while it
// is still incomplete. It accepts one JSON object of that schema without repeated keys. It sends any other answer
// back with a list of the problems, at most twice, and then fails with invalid_output. A [Ladder] remembers the
// strictest way to get JSON from a server.
//
// Answers are only data: the one tool that Ask ever offers takes the answer itself.
package structured
