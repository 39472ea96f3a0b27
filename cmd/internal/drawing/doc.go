// Package drawing draws plans: as text for terminals, and in the language of Mermaid.
package drawing
