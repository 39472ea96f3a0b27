// Package redact removes the secrets of a process from its output.
//
// A secret is a value that the process was given: a key, a token, a password. [Secrets] finds it wherever it is
// repeated: plain, escaped for JSON, HTML, Markdown or a URL, once or twice, and inside base64, as in the header of
// Basic authentication. A mark such as "[token]" replaces it. The first half of a secret counts as a secret too,
// because a text may be cut there.
package redact
