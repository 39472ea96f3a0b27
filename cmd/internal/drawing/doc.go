// Package drawing draws plans, as text for terminals and as Mermaid diagrams.
package drawing
