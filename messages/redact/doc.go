// Package redact takes the secrets of a process out of what it says.
//
// A secret is a value that the process was given: a key, a token, a password. [Secrets] finds it wherever somebody
// repeats it: plain, escaped for JSON, HTML, Markdown or a URL, once or twice, and inside base64, as in the header of
// Basic authentication. A mark such as "[token]" replaces it. The first half of a secret counts as secret too,
// because a text may be cut there.
package redact
