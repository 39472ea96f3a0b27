// Package cursor tracks how far a reader has read a run, to the byte of each text, and encodes that as the text cursor
// that doors hand out. A reader that appends the texts of all events that [Cursor.Take] returns holds each text
// exactly.
package cursor
