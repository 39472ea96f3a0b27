// Package lines reads and writes messages, one a line, as protocols over standard input and output have them.
package lines
