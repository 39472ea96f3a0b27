// Package hostile makes appends to a journal fail in every possible way, for tests and for fault points.
package hostile
