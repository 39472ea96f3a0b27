// Package resolve determines what the imports in a repository refer to, by the rules of each language, as far as file
// names and manifests are sufficient. It leaves out what cannot be determined, and standard libraries.
package resolve
