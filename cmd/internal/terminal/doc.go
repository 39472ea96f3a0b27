// Package terminal shows runs, tables and texts to people: on a terminal in place, elsewhere line by line.
package terminal
