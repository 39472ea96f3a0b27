// Package lines reads and writes messages as lines, for protocols over standard input and output.
package lines
