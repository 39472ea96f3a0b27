// Package resolve finds what the imports of a repository's files mean, by each language's rules, as far as they need
// nothing but the files' names and the manifests. What cannot be told is left out, as are standard libraries.
package resolve
