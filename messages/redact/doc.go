// Package redact takes the secrets of a process out of what it says.
//
// A secret is a value that the process was given: a key, a token, a password. [Secrets] finds it wherever a stranger
// repeats it: as it is, escaped for JSON, HTML, Markdown or a URL, once or twice over, and inside base64, as the header
// of Basic authentication has it. What stands in its place says what it was, such as "[token]". The first half of a
// secret is as secret as the whole: who cuts a text may cut it there. The package uses the standard library and package
// messages alone.
package redact
