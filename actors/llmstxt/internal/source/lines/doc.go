// Package lines finds the declarations of a language by patterns of its lines. It considers the position and the
// indentation of lines, and which lines are comments or parts of long texts. It uses no grammar, so it never fails on
// a file that is broken, of a newer version, or cut off, and it reads each line once.
package lines
