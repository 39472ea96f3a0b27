// Package sanitize makes texts of a repository safe to show to people and models: a [Line], the text of a file
// ([Files]), and escaping for Markdown. Secrets of known shape are redacted, nothing stays hidden, and no character
// controls a terminal.
package sanitize
