// Package cursor knows where a reader of a run is, to the byte of each text, and writes it as the text that doors hand out.
// A reader who appends what [Cursor.Take] leaves of the events holds each text exactly.
package cursor
