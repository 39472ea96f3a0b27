// Package words formats, shortens and cleans texts for people, and suggests names for mistyped ones.
package words
