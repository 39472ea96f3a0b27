// Package environment holds the program's environment variables, and derives the user's folders from them.
package environment
