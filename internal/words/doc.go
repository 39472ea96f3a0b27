// Package words formats, shortens and cleans texts for people, suggests names for mistyped ones, and unpacks texts of the program.
package words
