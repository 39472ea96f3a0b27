// Package lines reads what the files of a language declare, by patterns of its lines. It knows where lines stand, how
// far they are indented, and which of them are comments or the insides of long texts. It knows no grammar, so it never
// fails on a file that is broken, of a newer version, or cut short, and it reads each line once.
package lines
