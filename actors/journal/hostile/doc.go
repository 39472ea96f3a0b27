// Package hostile disturbs the appends of a journal, for tests and for fault points.
package hostile
