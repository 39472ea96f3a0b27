// Package terminal shows runs, tables and texts to people. On a terminal it redraws in place, elsewhere it prints
// lines.
package terminal
